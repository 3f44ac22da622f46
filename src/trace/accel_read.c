/* SPDX-License-Identifier: Apache-2.0 */
/* The text of one kernel of a foreign trace: header, blocks, warps and instructions, line by line. */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/file.h"
#include "trace/accel.h"

#define TEXT_BYTES_MAX (UINT64_C(4) << 30)
enum { BLOCK_THREADS_MAX = 1024, WARPS_OF_BLOCK = BLOCK_THREADS_MAX / LANES_MAX, VERSION_MAX = 5 };

enum accel_event accel_fail(const struct accel_reader *reader, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    report_add(reader->report, STATUS_INVALID, "%s:%u: error: %s", reader->path, (unsigned)reader->scan.line, text);
    return ACCEL_BAD;
}

/* ---- header ---- */

/* "(8,1,1)" */
static bool take_triple(struct scan_word value, uint32_t out[3]) {
    if (value.length < 2 || value.text[0] != '(' || value.text[value.length - 1] != ')')
        return false;
    value.text++, value.length -= 2;
    for (unsigned i = 0; i < 3; i++) {
        const char *comma = i < 2 ? memchr(value.text, ',', value.length) : NULL;
        const size_t length = comma ? (size_t)(comma - value.text) : value.length;
        uint64_t number;
        if ((i < 2 && !comma) || !scan_number((struct scan_word){value.text, length}, 10, INT32_MAX, &number) ||
            !number)
            return false;
        out[i] = (uint32_t)number;
        value.text += comma ? length + 1 : length, value.length -= comma ? length + 1 : length;
    }
    return true;
}

static bool take_small(struct scan_word value, uint64_t max, uint32_t *out) {
    uint64_t number;
    if (!scan_number(value, 10, max, &number))
        return false;
    *out = (uint32_t)number;
    return true;
}

/* What stands behind a key; keys that say nothing here are let pass. */
static bool take_value(struct accel_header *header, struct scan_word key, struct scan_word value, struct arena *arena) {
    uint32_t number = 0;
    if (scan_is(key, "kernel name")) {
        header->name = arena_strndup(arena, value.text, value.length);
        bool plain = value.length && value.length < 4096;
        for (size_t i = 0; i < value.length; i++)
            plain &= (unsigned char)value.text[i] >= ' ' && value.text[i] != '"' && value.text[i] != '\\' &&
                     (unsigned char)value.text[i] < 0x7f;
        return plain;
    }
    if (scan_is(key, "grid dim"))
        return take_triple(value, header->grid);
    if (scan_is(key, "block dim"))
        return take_triple(value, header->block);
    if (scan_is(key, "shmem"))
        return take_small(value, 1 << 24, &header->shared_bytes);
    if (scan_is(key, "nregs"))
        return take_small(value, 255, &header->registers);
    if (scan_is(key, "shmem base_addr"))
        return scan_number(value, 16, UINT64_MAX, &header->shared_base);
    if (scan_is(key, "local mem base_addr"))
        return scan_number(value, 16, UINT64_MAX, &header->local_base);
    if (scan_is(key, "enable lineinfo")) {
        const bool good = take_small(value, 1, &number);
        header->has_lines = number;
        return good;
    }
    if (scan_is(key, "binary version")) {
        const bool good = take_small(value, 1000, &number) && traced_runs(number);
        header->sm = number;
        return good;
    }
    if (scan_is(key, "accelsim tracer version")) {
        const bool good = take_small(value, VERSION_MAX, &number);
        header->version = number;
        return good;
    }
    return true;
}

/* "-key = value" */
static enum status take_line(struct accel_reader *reader, struct arena *arena) {
    struct scan_word line = scan_rest(&reader->scan), key, value;
    const char *equals = memchr(line.text, '=', line.length);
    if (!equals || line.text[0] != '-') {
        accel_fail(reader, "a header has lines '-key = value', up to the first that begins with '#'");
        return STATUS_INVALID;
    }
    key = (struct scan_word){line.text + 1, (size_t)(equals - line.text) - 1};
    value = (struct scan_word){equals + 1, (size_t)(line.text + line.length - equals) - 1};
    while (key.length && key.text[key.length - 1] == ' ')
        key.length--;
    while (value.length && value.text[0] == ' ')
        value.text++, value.length--;
    if (take_value(&reader->header, key, value, arena))
        return STATUS_OK;
    accel_fail(reader, "'%.*s' cannot be '%.*s'%s", (int)(key.length < 100 ? key.length : 100), key.text,
               (int)(value.length < 100 ? value.length : 100), value.text,
               scan_is(key, "binary version")            ? ": known are sm_35 to sm_62 and sm_70 to sm_90"
               : scan_is(key, "accelsim tracer version") ? ": versions up to 5 are read"
                                                         : "");
    return STATUS_INVALID;
}

static enum status check_header(const struct accel_reader *reader) {
    const struct accel_header *header = &reader->header;
    const uint64_t threads =
        (uint64_t)header->block[0] * header->block[1] * (header->block[2] <= 1024 ? header->block[2] : 0);
    const char *lacks = !header->name       ? "kernel name"
                        : !header->grid[0]  ? "grid dim"
                        : !header->block[0] ? "block dim"
                        : !header->sm       ? "binary version"
                                            : NULL;
    if (lacks)
        accel_fail(reader, "the header has no '%s'", lacks);
    else if (header->block[0] > 1024 || header->block[1] > 1024 || !threads || threads > BLOCK_THREADS_MAX)
        accel_fail(reader, "a block has at most %d threads", BLOCK_THREADS_MAX), lacks = "";
    return lacks ? STATUS_INVALID : STATUS_OK;
}

enum status accel_open_text(struct accel_reader *reader, const char *path, struct scan_word text, struct arena *arena,
                            struct report *report) {
    *reader = (struct accel_reader){.path = path,
                                    .report = report,
                                    .scan = {.next = text.text, .end = text.text + text.length}};
    while (scan_line(&reader->scan)) {
        struct scan line = reader->scan;
        const struct scan_word first = scan_word(&line);
        if (first.length && first.text[0] == '#') {
            /* "#BEGIN_TB" is read again, as what follows */
            reader->scan.next = reader->scan.at, reader->scan.line--;
            return check_header(reader);
        }
        if (first.length && take_line(reader, arena))
            return STATUS_INVALID;
    }
    return check_header(reader);
}

enum status accel_open(struct accel_reader *reader, const char *path, struct arena *arena, struct report *report) {
    char *data = NULL;
    size_t bytes = 0;
    const enum status status = file_read(path, TEXT_BYTES_MAX, arena, &data, &bytes, report);
    return status ? status : accel_open_text(reader, path, (struct scan_word){data, bytes}, arena, report);
}

/* ---- instructions ---- */

/* Addresses of the active lanes: all of them, one and a stride, or one and the way from each to the next. */
static bool take_addresses(struct scan *scan, struct accel_inst *out) {
    uint64_t mode, at = 0, stride = 0;
    if (!scan_take(scan, 10, 2, &mode))
        return false;
    if (mode && !scan_take(scan, 16, UINT64_MAX, &at))
        return false;
    bool first = true, good = true;
    const struct scan_word by = mode == 1 ? scan_word(scan) : (struct scan_word){0};
    const bool down = by.length && by.text[0] == '-';
    if (mode == 1 && !scan_number((struct scan_word){by.text + down, by.length - down}, 10, INT64_MAX, &stride))
        return false;
    for (BITS_EACH(lane, out->lanes)) {
        if (mode == 0)
            good &= scan_take(scan, 16, UINT64_MAX, &at);
        else if (mode == 1)
            at += first ? 0 : down ? 0 - stride : stride;
        else if (!first) {
            const struct scan_word word = scan_word(scan);
            const bool negative = word.length && word.text[0] == '-';
            good &=
                scan_number((struct scan_word){word.text + negative, word.length - negative}, 10, INT64_MAX, &stride);
            at += negative ? 0 - stride : stride;
        }
        out->address[lane] = at, first = false;
    }
    return good;
}

static enum accel_event take_registers(struct accel_reader *reader) {
    struct scan *scan = &reader->scan;
    struct traced_inst *inst = &reader->inst.inst;
    uint64_t count;
    unsigned reg = 0;
    inst->destination = TRACED_NO_REGISTER;
    if (!scan_take(scan, 10, 1, &count))
        return accel_fail(reader, "expected the number of destinations, 0 or 1, after the mask");
    if (count && !scan_register(scan_word(scan), &reg))
        return accel_fail(reader, "the destination is no register R0 to R255");
    if (count)
        inst->destination = (uint16_t)reg;
    const struct scan_word opcode = scan_word(scan);
    bool plain = opcode.length && opcode.length < TRACED_OPCODE_BYTES;
    for (size_t i = 0; i < opcode.length; i++)
        plain &= opcode.text[i] > ' ' && opcode.text[i] < 0x7f;
    if (!plain)
        return accel_fail(reader, "an opcode has 1 to 63 letters");
    memcpy(inst->mnemonic, opcode.text, opcode.length);
    inst->mnemonic[opcode.length] = '\0';
    if (!scan_take(scan, 10, TRACED_SOURCES, &count))
        return accel_fail(reader, "expected the number of sources, 0 to %d, after the opcode", TRACED_SOURCES);
    inst->source_count = (uint8_t)count;
    for (unsigned i = 0; i < count; i++) {
        if (!scan_register(scan_word(scan), &reg))
            return accel_fail(reader, "source %u is no register R0 to R255", i + 1);
        inst->sources[i] = (uint8_t)reg;
    }
    return ACCEL_INST;
}

static enum accel_event take_inst(struct accel_reader *reader) {
    struct scan *scan = &reader->scan;
    struct accel_inst *out = &reader->inst;
    uint64_t number;
    for (unsigned i = 0; i < (reader->header.version < 3 ? 4u : 0u); i++)
        if (!scan_take(scan, 10, UINT32_MAX, &number))
            return accel_fail(reader, "tracers before version 3 write block and warp before the instruction");
    if (reader->header.has_lines && !scan_take(scan, 10, UINT32_MAX, &number))
        return accel_fail(reader, "the line of the source is missing, which 'enable lineinfo' promises");
    if (!scan_take(scan, 16, UINT32_MAX, &number))
        return accel_fail(reader, "an instruction begins with its place, a hexadecimal number");
    out->inst.index = traced_index(reader->header.sm, number);
    if (out->inst.index >= TRACED_INDEX_MAX)
        return accel_fail(reader, "no instruction of sm_%u is at 0x%llx", reader->header.sm,
                          (unsigned long long)number);
    if (!scan_take(scan, 16, UINT32_MAX, &number))
        return accel_fail(reader, "expected the mask of lanes, after the place");
    out->lanes = (uint32_t)number;
    if (take_registers(reader) == ACCEL_BAD)
        return ACCEL_BAD;
    if (!scan_take(scan, 10, 16, &number))
        return accel_fail(reader, "expected the number of bytes that a lane accesses, 0 to 16, after the sources");
    out->bytes = (unsigned)number;
    if (out->bytes && !take_addresses(scan, out))
        return accel_fail(reader, "the addresses of the lanes are damaged");
    const struct scan_word immediate = scan_word(scan);
    if (scan_word(scan).length || (immediate.length && reader->header.version < 5))
        return accel_fail(reader, "more stands here than an instruction has");
    reader->remaining--;
    return ACCEL_INST;
}

/* "key = value" of the line, where value is a number. */
static bool take_count(struct scan *scan, const char *key, uint64_t max, uint64_t *out) {
    return scan_is(scan_word(scan), key) && scan_is(scan_word(scan), "=") && scan_take(scan, 10, max, out) &&
           !scan_word(scan).length;
}

/* A line that says something: not an empty one, nor a comment. */
static bool next_line(struct scan *scan) {
    while (scan_line(scan)) {
        struct scan line = *scan;
        const struct scan_word word = scan_word(&line);
        if (word.length && (word.text[0] != '#' || scan_is(word, "#BEGIN_TB") || scan_is(word, "#END_TB")))
            return true;
    }
    return false;
}

static enum accel_event take_warp(struct accel_reader *reader) {
    const unsigned threads = reader->header.block[0] * reader->header.block[1] * reader->header.block[2];
    const unsigned warps = (threads + LANES_MAX - 1) / LANES_MAX;
    uint64_t warp;
    if (!take_count(&reader->scan, "warp", warps - 1, &warp))
        return accel_fail(reader, "expected 'warp = ', and a number below %u", warps);
    if (!next_line(&reader->scan) || !take_count(&reader->scan, "insts", UINT32_MAX, &reader->remaining))
        return accel_fail(reader, "expected 'insts = ', and a number after 'warp'");
    reader->warp = (uint32_t)warp;
    return ACCEL_WARP;
}

enum accel_event accel_next(struct accel_reader *reader) {
    struct scan *scan = &reader->scan;
    if (!next_line(scan)) {
        if (reader->remaining)
            return accel_fail(reader, "the file ends within a warp");
        return reader->in_block ? accel_fail(reader, "the file ends within a block, before #END_TB") : ACCEL_END;
    }
    if (reader->remaining)
        return take_inst(reader);
    struct scan line = *scan;
    const struct scan_word word = scan_word(&line);
    if (scan_is(word, "#BEGIN_TB")) {
        if (reader->in_block || !next_line(scan) || !scan_is(scan_word(scan), "thread"))
            return accel_fail(reader, "a block has #BEGIN_TB, 'thread block = x,y,z', its warps, and #END_TB");
        reader->in_block = true;
        return ACCEL_BLOCK;
    }
    if (scan_is(word, "#END_TB")) {
        if (!reader->in_block)
            return accel_fail(reader, "#END_TB without #BEGIN_TB");
        reader->in_block = false;
        return ACCEL_BLOCK_END;
    }
    return reader->in_block ? take_warp(reader) : accel_fail(reader, "outside of blocks stand only lines with '#'");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dwarf.h"

#include <string.h>

enum { FILES_MAX = 65535, ROWS_MAX = 1 << 22, FORMATS_MAX = 8 };

/* Reading stops at the first thing that is wrong; whatever is read behind it is 0. */
struct dwarf_cursor {
    const uint8_t *bytes;
    size_t at, end;
    const char *wrong;
};

struct unit {
    unsigned version;
    unsigned offset_bytes; /* 4, or 8 of the long form */
    unsigned step;         /* bytes of the shortest instruction */
    int line_base;
    unsigned line_range, opcode_base;
    const uint8_t *lengths; /* of standard opcodes: how many numbers follow */
    const char **folders;
    unsigned folder_count;
    uint32_t first_file; /* what file 0 of the unit is in the table of all */
    uint32_t file_count;
};

struct dwarf_reader {
    struct dwarf_cursor c;
    const struct dwarf_input *input;
    struct arena *arena;
    struct {
        const char **items;
        unsigned count, capacity;
    } files;
    struct {
        struct dwarf_row *items;
        unsigned count, capacity;
    } rows;
    struct unit unit;
};

/* ---- numbers and texts ---- */

static void fail(struct dwarf_cursor *c, const char *why) {
    if (!c->wrong)
        c->wrong = why;
}

static uint64_t take(struct dwarf_cursor *c, unsigned bytes) {
    uint64_t value = 0;
    if (c->wrong || c->end - c->at < bytes) {
        fail(c, "it ends within a number");
        return 0;
    }
    for (unsigned i = 0; i < bytes && i < 8; i++)
        value |= (uint64_t)c->bytes[c->at + i] << (8 * i);
    c->at += bytes;
    return value;
}

/* Bits beyond the 64th are dropped. */
static uint64_t take_bits(struct dwarf_cursor *c, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while (byte & 0x80 && !c->wrong) {
        byte = (uint8_t)take(c, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += shift < 64 ? 7 : 0;
    }
    if (is_signed && byte & 0x40 && shift < 64)
        value |= UINT64_MAX << shift;
    return value;
}

static const char *take_text(struct dwarf_cursor *c) {
    const void *end = c->wrong ? NULL : memchr(c->bytes + c->at, '\0', c->end - c->at);
    if (!end) {
        fail(c, "a name does not end");
        return "";
    }
    const char *text = (const char *)c->bytes + c->at;
    c->at += strlen(text) + 1;
    return text;
}

static const char *text_at(struct dwarf_cursor *c, const struct dwarf_bytes *from, uint64_t offset) {
    if (offset < from->length && memchr(from->bytes + offset, '\0', from->length - (size_t)offset))
        return (const char *)from->bytes + offset;
    fail(c, "a name lies in no table of strings");
    return "";
}

/* ---- files ---- */

static void add_file(struct dwarf_reader *r, const char *folder, const char *name) {
    if (r->files.count == FILES_MAX) {
        fail(&r->c, "more than 65535 files");
        return;
    }
    const bool is_whole = *name == '/' || !*folder;
    *ARENA_PUSH(r->arena, &r->files) =
        is_whole ? arena_strdup(r->arena, name) : arena_printf(r->arena, "%s/%s", folder, name);
    r->unit.file_count++;
}

/* Versions 2 to 4: lists that end with an empty name; folder 0 is where the compiler ran, which nobody says here. */
static void read_old_files(struct dwarf_reader *r) {
    struct {
        const char **items;
        unsigned count, capacity;
    } folders = {0};
    *ARENA_PUSH(r->arena, &folders) = "";
    for (const char *name; *(name = take_text(&r->c));)
        *ARENA_PUSH(r->arena, &folders) = name;
    r->unit.first_file = r->files.count - 1; /* they count from 1 on */
    for (const char *name; *(name = take_text(&r->c)) && !r->c.wrong;) {
        const uint64_t folder = take_bits(&r->c, false);
        take_bits(&r->c, false); /* when it was changed */
        take_bits(&r->c, false); /* its bytes */
        add_file(r, folder < folders.count ? folders.items[folder] : "", name);
    }
}

enum { CONTENT_PATH = 1, CONTENT_FOLDER = 2 };

struct dwarf_format {
    uint64_t content, form;
};

/* One part of an entry: a name, or a number. */
static const char *take_form(struct dwarf_reader *r, uint64_t form, uint64_t *number) {
    enum { DATA2 = 5, DATA4, DATA8, STRING, BLOCK, DATA1 = 11, STRP = 14, UDATA, DATA16 = 0x1e, LINE_STRP };
    struct dwarf_cursor *c = &r->c;
    *number = 0;
    switch (form) {
    case DATA1: *number = take(c, 1); return "";
    case DATA2: *number = take(c, 2); return "";
    case DATA4: *number = take(c, 4); return "";
    case DATA8: *number = take(c, 8); return "";
    case DATA16: take(c, 16); return "";
    case UDATA: *number = take_bits(c, false); return "";
    case STRING: return take_text(c);
    case STRP: return text_at(c, &r->input->strings, take(c, r->unit.offset_bytes));
    case LINE_STRP: return text_at(c, &r->input->line_strings, take(c, r->unit.offset_bytes));
    case BLOCK: {
        const uint64_t bytes = take_bits(c, false);
        if (bytes > c->end - c->at)
            fail(c, "it ends within a block");
        else
            c->at += (size_t)bytes;
        return "";
    }
    default: fail(c, "a form that is not known"); return "";
    }
}

static void take_entry(struct dwarf_reader *r, const struct dwarf_format *formats, unsigned count, const char **name,
                       uint64_t *folder) {
    *name = "", *folder = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t number;
        const char *text = take_form(r, formats[i].form, &number);
        if (formats[i].content == CONTENT_PATH)
            *name = text;
        else if (formats[i].content == CONTENT_FOLDER)
            *folder = number;
    }
}

static unsigned take_formats(struct dwarf_reader *r, struct dwarf_format formats[FORMATS_MAX]) {
    const unsigned count = (unsigned)take(&r->c, 1);
    if (count > FORMATS_MAX) {
        fail(&r->c, "entries of more parts than are known");
        return 0;
    }
    for (unsigned i = 0; i < count; i++) {
        formats[i].content = take_bits(&r->c, false);
        formats[i].form = take_bits(&r->c, false);
    }
    return count;
}

/* Version 5: counted lists whose form they say themselves, from 0 on. */
static void read_new_files(struct dwarf_reader *r) {
    struct dwarf_format formats[FORMATS_MAX];
    unsigned parts = take_formats(r, formats);
    uint64_t count = take_bits(&r->c, false), folder;
    const char *name;
    struct {
        const char **items;
        unsigned count, capacity;
    } folders = {0};
    for (uint64_t i = 0; i < count && !r->c.wrong; i++) {
        if (!parts || i == FILES_MAX)
            fail(&r->c, "folders without names, or too many");
        take_entry(r, formats, parts, &name, &folder);
        *ARENA_PUSH(r->arena, &folders) = name;
    }
    parts = take_formats(r, formats);
    count = take_bits(&r->c, false);
    r->unit.first_file = r->files.count;
    for (uint64_t i = 0; i < count && !r->c.wrong; i++) {
        if (!parts)
            fail(&r->c, "files without names");
        take_entry(r, formats, parts, &name, &folder);
        add_file(r, folder && folder < folders.count ? folders.items[folder] : "", name);
    }
}

/* ---- the program ---- */

struct state {
    uint64_t address;
    size_t origin;
    uint64_t file;
    uint32_t line, column;
};

static const struct state start = {.file = 1, .line = 1};

static void add_row(struct dwarf_reader *r, const struct state *s, bool ends) {
    if (r->rows.count == ROWS_MAX) {
        fail(&r->c, "more than 4 Mi lines");
        return;
    }
    const struct unit *u = &r->unit;
    const uint64_t first = u->version < 5 ? 1 : 0;
    const bool is_there = s->file >= first && s->file - first < u->file_count;
    *ARENA_PUSH(r->arena, &r->rows) = (struct dwarf_row){.address = s->address,
                                                         .origin = s->origin,
                                                         .file = is_there ? u->first_file + (uint32_t)s->file : 0,
                                                         .line = s->line,
                                                         .column = s->column,
                                                         .ends = ends};
}

static void run_extended(struct dwarf_reader *r, struct state *s) {
    enum { END_SEQUENCE = 1, SET_ADDRESS, DEFINE_FILE };
    struct dwarf_cursor *c = &r->c;
    const uint64_t length = take_bits(c, false);
    if (!length || length > c->end - c->at) {
        fail(c, "an operation that does not end");
        return;
    }
    const size_t next = c->at + (size_t)length;
    const unsigned code = (unsigned)take(c, 1);
    if (code == END_SEQUENCE) {
        add_row(r, s, true);
        *s = start;
    } else if (code == SET_ADDRESS) {
        s->origin = c->at;
        s->address = take(c, length - 1 < 8 ? (unsigned)length - 1 : 8);
    } else if (code == DEFINE_FILE) {
        add_file(r, "", take_text(c));
    }
    c->at = next; /* what makers of compilers have of their own is passed over */
}

static void run_special(struct dwarf_reader *r, struct state *s, unsigned code) {
    const unsigned adjusted = code - r->unit.opcode_base;
    s->address += (uint64_t)(adjusted / r->unit.line_range) * r->unit.step;
    s->line += (uint32_t)(r->unit.line_base + (int)(adjusted % r->unit.line_range));
    add_row(r, s, false);
}

static void run_standard(struct dwarf_reader *r, struct state *s, unsigned code) {
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
    struct dwarf_cursor *c = &r->c;
    switch (code) {
    case COPY: add_row(r, s, false); break;
    case ADVANCE_PC: s->address += take_bits(c, false) * r->unit.step; break;
    case ADVANCE_LINE: s->line += (uint32_t)take_bits(c, true); break;
    case SET_FILE: s->file = take_bits(c, false); break;
    case SET_COLUMN: s->column = (uint32_t)take_bits(c, false); break;
    case CONST_ADD_PC: s->address += (uint64_t)((255 - r->unit.opcode_base) / r->unit.line_range) * r->unit.step; break;
    case FIXED_ADVANCE_PC: s->address += take(c, 2); break;
    default: /* statements, blocks, prologues; those that only the unit knows */
        for (unsigned i = 0; i < r->unit.lengths[code - 1]; i++)
            take_bits(c, false);
    }
}

static void run(struct dwarf_reader *r) {
    struct state s = start;
    while (r->c.at < r->c.end && !r->c.wrong) {
        const unsigned code = (unsigned)take(&r->c, 1);
        if (!code)
            run_extended(r, &s);
        else if (code < r->unit.opcode_base)
            run_standard(r, &s, code);
        else
            run_special(r, &s, code);
    }
}

/* ---- units ---- */

static void read_unit(struct dwarf_reader *r) {
    struct dwarf_cursor *c = &r->c;
    struct unit *u = &r->unit;
    if (u->version >= 5)
        take(c, 2); /* bytes of addresses and of segments */
    const uint64_t header = take(c, u->offset_bytes);
    if (header > c->end - c->at)
        fail(c, "a header that is longer than its unit");
    const size_t program = c->at + (c->wrong ? 0 : (size_t)header);
    u->step = (unsigned)take(c, 1);
    if (u->version >= 4)
        take(c, 1); /* operations of an instruction */
    take(c, 1);     /* whether rows are statements */
    u->line_base = (int8_t)take(c, 1);
    u->line_range = (unsigned)take(c, 1);
    u->opcode_base = (unsigned)take(c, 1);
    u->lengths = c->bytes + c->at;
    if (!c->wrong && (!u->line_range || !u->opcode_base || c->end - c->at < u->opcode_base - 1u))
        fail(c, "a range of 0 lines, or no table of operations");
    if (c->wrong)
        return;
    c->at += u->opcode_base - 1u;
    (u->version >= 5 ? read_new_files : read_old_files)(r);
    if (c->wrong)
        return;
    c->at = program;
    run(r);
}

const char *dwarf_read_lines(const struct dwarf_input *input, struct arena *arena, struct dwarf_lines *out,
                             size_t *at) {
    struct dwarf_reader r = {.c = {.bytes = input->lines.bytes}, .input = input, .arena = arena};
    *ARENA_PUSH(arena, &r.files) = "";
    for (size_t next = 0; next < input->lines.length && !r.c.wrong; next = r.c.end) {
        r.c.at = next, r.c.end = input->lines.length;
        r.unit = (struct unit){.offset_bytes = 4};
        uint64_t length = take(&r.c, 4);
        if (length == UINT32_MAX)
            r.unit.offset_bytes = 8, length = take(&r.c, 8);
        if (length > r.c.end - r.c.at)
            fail(&r.c, "a unit that is longer than the section");
        if (r.c.wrong)
            break;
        r.c.end = r.c.at + (size_t)length;
        r.unit.version = (unsigned)take(&r.c, 2);
        if (!r.c.wrong && (r.unit.version < 2 || r.unit.version > 5))
            fail(&r.c, "a version that is not 2 to 5");
        if (!r.c.wrong)
            read_unit(&r);
    }
    *at = r.c.at;
    *out = (struct dwarf_lines){r.files.items, r.files.count, r.rows.items, r.rows.count};
    return r.c.wrong;
}

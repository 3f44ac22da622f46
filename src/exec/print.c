/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/print.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "exec/softfloat.h"

enum {
    FLAGS_MAX = 8, /* of a conversion */
    VALUE_MAX =
        2048, /* characters of a number: PRINT_FIELD_MAX of width and precision, and the 309 digits of a double */
    FORMAT_MAX = 4096,
};

/* One thread's printf under way: the packed arguments and the text so far. */
struct printing {
    struct exec *exec;
    unsigned warp, lane;
    const struct step *step;
    uint64_t arguments; /* generic address of the packed arguments */
    char text[PRINT_TEXT_MAX + 1];
    unsigned length;
    bool is_cut;
    char why[96]; /* it cannot be printed */
};

/* Between '%' and the letter. */
struct print_conversion {
    char flags[FLAGS_MAX + 1];
    int width, precision; /* -1: not given */
    unsigned vector;      /* elements; 1: a scalar */
    char modifier[4];
};

/* A generic access that is not the instruction's own. */
static const uint8_t *peek(struct printing *p, uint64_t address, uint32_t bytes) {
    const uint64_t offset = address - LOCAL_WINDOW;
    const struct exec *exec = p->exec;
    if (offset < WINDOW_BYTES) {
        if (!range_within(offset, bytes, exec->local_bytes))
            return NULL;
        return exec->local + (size_t)exec->local_bytes * (32 * p->warp + p->lane) + offset;
    }
    if (address - SHARED_WINDOW < WINDOW_BYTES) {
        const uint64_t at = address - SHARED_WINDOW - exec->linked->kernel->shared_base;
        if (!range_within(at, bytes, exec->shared_bytes))
            return NULL;
        return exec->shared + at;
    }
    const struct allocation *found = memory_find(exec->memory, address);
    return found && range_within(address - found->start, bytes, found->end - found->start)
               ? memory_host(exec->memory, address)
               : NULL;
}

/* At most `most` characters of a string; text has one more. */
static bool peek_string(struct printing *p, uint64_t address, char *text, unsigned most, bool *is_cut) {
    for (unsigned i = 0; i < most; i++) {
        const uint8_t *byte = peek(p, address + i, 1);
        if (!byte)
            return false;
        text[i] = (char)*byte;
        if (!text[i])
            return true;
    }
    text[most] = 0;
    *is_cut = true;
    return true;
}

/* The next argument: packed at its natural alignment. */
static bool next_argument(struct printing *p, unsigned bytes, uint64_t *value) {
    p->arguments = bits_round_up(p->arguments, bytes);
    const uint8_t *memory = peek(p, p->arguments, bytes);
    if (!memory)
        return false;
    *value = 0;
    memcpy(value, memory, bytes);
    p->arguments += bytes;
    return true;
}

static void append(struct printing *p, const char *text, size_t length) {
    const size_t room = PRINT_TEXT_MAX - p->length;
    if (length > room)
        length = room, p->is_cut = true;
    memcpy(p->text + p->length, text, length);
    p->length += (unsigned)length;
}

/* The conversion as the host's printf reads it. */
static const char *host_format(const struct print_conversion *c, const char *modifier, char letter, char out[64]) {
    char width[16] = "", precision[16] = "";
    if (c->width >= 0)
        snprintf(width, sizeof width, "%d", c->width);
    if (c->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", c->precision);
    snprintf(out, 64, "%%%s%s%s%s%c", c->flags, width, precision, modifier, letter);
    return out;
}

/* One value in the wanted form. */
static void append_value(struct printing *p, const struct print_conversion *c, char letter, unsigned bytes,
                         uint64_t value) {
    char format[64], text[VALUE_MAX];
    int length;
    if (strchr("di", letter)) {
        const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
        const int64_t number = bytes == 8 ? (int64_t)value : (int64_t)((value ^ sign) - sign);
        length = snprintf(text, sizeof text, host_format(c, "ll", letter, format), (long long)number);
    } else if (strchr("ouxX", letter)) {
        length = snprintf(text, sizeof text, host_format(c, "ll", letter, format), (unsigned long long)value);
    } else if (letter == 'c') {
        length = snprintf(text, sizeof text, host_format(c, "", letter, format), (int)(unsigned char)value);
    } else if (letter == 'p') {
        length = snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    } else {
        double number;
        if (bytes == 2)
            value = soft_convert(FLOAT_F64, FLOAT_F16, value, ROUND_RN);
        if (bytes == 4) {
            const uint32_t low = (uint32_t)value;
            float narrow;
            memcpy(&narrow, &low, sizeof narrow);
            number = (double)narrow;
        } else
            memcpy(&number, &value, sizeof number);
        length = snprintf(text, sizeof text, host_format(c, "", letter, format), number);
    }
    if (length > 0)
        append(p, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

static unsigned argument_bytes(char conversion, const char *modifier, bool in_vector) {
    if (strchr("fFeEgGaA", conversion))
        return in_vector ? (strcmp(modifier, "l") == 0 ? 8 : strcmp(modifier, "h") == 0 ? 2 : 4) : 8;
    if (conversion == 'p')
        return 8;
    if (strcmp(modifier, "l") == 0 || strcmp(modifier, "ll") == 0 || strchr("jzt", modifier[0] ? modifier[0] : ' '))
        return 8;
    if (!in_vector)
        return 4;
    return strcmp(modifier, "hh") == 0 ? 1 : strcmp(modifier, "h") == 0 ? 2 : 4;
}

static bool refuse(struct printing *p, const char *why) {
    snprintf(p->why, sizeof p->why, "%s", why);
    return false;
}

/* A width or precision: digits, or '*' and an argument. A precision, like a width without its sign, is what PTX's
 * printf has: negative ones mean none, and '-'. */
static bool read_field(struct printing *p, const char **at, int *out, bool *is_negative) {
    int64_t value = -1;
    *is_negative = false;
    if (**at == '*') {
        uint64_t word;
        if (!next_argument(p, 4, &word))
            return refuse(p, "there are more conversions than arguments");
        value = (int32_t)(uint32_t)word;
        *is_negative = value < 0;
        value = value < 0 ? -value : value;
        ++*at;
    } else
        for (; **at >= '0' && **at <= '9'; ++*at)
            value = value > PRINT_FIELD_MAX ? value : 10 * (value < 0 ? 0 : value) + (**at - '0');
    if (value > PRINT_FIELD_MAX) {
        snprintf(p->why, sizeof p->why, "a width or precision is more than %d", PRINT_FIELD_MAX);
        return false;
    }
    *out = (int)value;
    return true;
}

/* Flags, width, precision, vector and modifier; *at is then at the letter. */
static bool read_conversion(struct printing *p, const char **at, struct print_conversion *c) {
    unsigned flags = 0;
    bool is_negative;
    for (; **at && strchr("-+ #0", **at); ++*at)
        if (!memchr(c->flags, **at, flags)) /* there are five */
            c->flags[flags++] = **at;
    if (!read_field(p, at, &c->width, &is_negative))
        return false;
    if (is_negative && !memchr(c->flags, '-', flags))
        c->flags[flags++] = '-';
    if (**at == '.') {
        ++*at;
        if (!read_field(p, at, &c->precision, &is_negative))
            return false;
        c->precision = is_negative ? -1 : c->precision < 0 ? 0 : c->precision;
    }
    if (**at == 'v') {
        for (c->vector = 0, ++*at; **at >= '0' && **at <= '9' && c->vector <= 16; ++*at)
            c->vector = 10 * c->vector + (unsigned)(**at - '0');
        if (c->vector < 2 || c->vector > 16)
            return refuse(p, "a vector has 2 to 16 elements");
    }
    for (unsigned n = 0; **at && strchr("hljzt", **at) && n < 3; ++*at)
        c->modifier[n++] = **at;
    return true;
}

static bool print_string(struct printing *p, const struct print_conversion *c) {
    uint64_t address;
    char text[PRINT_TEXT_MAX + 1], out[PRINT_TEXT_MAX + 1], format[64];
    bool is_cut = false;
    const bool limited = c->precision >= 0;
    if (!next_argument(p, 8, &address))
        return refuse(p, "there are more conversions than arguments");
    if (!peek_string(p, address, text, limited ? (unsigned)c->precision : PRINT_TEXT_MAX, &is_cut))
        return refuse(p, "a string does not end in memory");
    p->is_cut |= is_cut && !limited;
    const int length = snprintf(out, sizeof out, host_format(c, "", 's', format), text);
    if (length > 0)
        append(p, out, (size_t)length < sizeof out ? (size_t)length : sizeof out - 1);
    return true;
}

/* One conversion after '%'; returns where the format goes on, NULL: it cannot be printed. */
static const char *print_conversion(struct printing *p, const char *at) {
    struct print_conversion c = {.width = -1, .precision = -1, .vector = 1};
    if (!read_conversion(p, &at, &c))
        return NULL;
    const bool is_text = *at == 's' || *at == 'c';
    if (!*at || !strchr("diouxXcpsfFeEgGaA%", *at) || (is_text && (c.modifier[0] || c.vector > 1))) {
        refuse(p, "it has a conversion that is not known");
        return NULL;
    }
    if (*at == '%') {
        append(p, "%", 1);
        return at + 1;
    }
    if (*at == 's')
        return print_string(p, &c) ? at + 1 : NULL;
    const unsigned bytes = argument_bytes(*at, c.modifier, c.vector > 1);
    if (c.vector > 1)
        p->arguments = bits_round_up(p->arguments, (c.vector == 3 ? 4 : c.vector) * bytes);
    for (unsigned i = 0; i < c.vector; i++) {
        uint64_t value;
        if (!next_argument(p, bytes, &value)) {
            refuse(p, "there are more conversions than arguments");
            return NULL;
        }
        /* hh and h of scalars: the promoted argument is cut back */
        unsigned shown = bytes;
        if (c.vector == 1 && bytes == 4 && strcmp(c.modifier, "hh") == 0)
            value &= 0xff, shown = 1;
        else if (c.vector == 1 && bytes == 4 && strcmp(c.modifier, "h") == 0)
            value &= 0xffff, shown = 2;
        if (i)
            append(p, ",", 1);
        append_value(p, &c, *at, shown, value);
    }
    if (c.vector == 3)
        p->arguments += bytes;
    return at + 1;
}

/* Keeps the text where the launch's buffer has room for it. */
static void keep(struct exec *exec, unsigned thread, const struct printing *p) {
    struct exec_output *output = exec->output;
    const uint64_t bytes = (uint64_t)p->length + PRINT_CALL_BYTES;
    const uint32_t sequence = exec->print_counts[thread]++;
    if (bytes > output->limit_bytes - output->used_bytes) {
        output->cut++;
        return;
    }
    output->used_bytes += bytes;
    output->cut += p->is_cut;
    *ARENA_PUSH(output->arena, output) =
        (struct print_record){exec->block, thread, sequence, arena_copy(output->arena, p->text, p->length + 1),
                              p->length};
}

static bool print_thread(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                         uint64_t format_address, uint64_t arguments) {
    struct printing p;
    char format[FORMAT_MAX + 1];
    bool is_cut = false;
    p.exec = exec, p.warp = warp, p.lane = lane, p.step = step, p.arguments = arguments;
    p.length = 0, p.is_cut = false;
    if (!peek_string(&p, format_address, format, FORMAT_MAX, &is_cut))
        return exec_fail(exec, warp, lane, step, "printf format at 0x%llx is not in memory",
                         (unsigned long long)format_address);
    if (is_cut)
        return exec_fail(exec, warp, lane, step, "printf format has more than %d characters", FORMAT_MAX);
    for (const char *at = format; *at;) {
        const size_t plain = strcspn(at, "%");
        append(&p, at, plain);
        at += plain;
        if (!*at)
            break;
        at = print_conversion(&p, at + 1);
        if (!at)
            return exec_fail(exec, warp, lane, step, "printf format \"%.80s\" cannot be printed: %s", format, p.why);
    }
    p.text[p.length] = 0;
    keep(exec, LANES_MAX * warp + lane, &p);
    return true;
}

bool exec_print_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct call *call = step->inst->call;
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    bool fine = true;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = 32 * warp + lane;
        const uint64_t first = exec_argument(exec, thread, call, 0);
        if (step->intrinsic == INTRINSIC_ASSERT) {
            struct printing p = {.exec = exec, .warp = warp, .lane = lane, .step = step};
            char message[200] = "?";
            bool is_cut;
            if (!peek_string(&p, first, message, sizeof message - 1, &is_cut))
                message[0] = '?', message[1] = 0;
            fine = exec_fail(exec, warp, lane, step, "assertion failed: %s", message);
            break;
        }
        fine = print_thread(exec, warp, lane, step, first, exec_argument(exec, thread, call, 1));
        if (!fine)
            break;
        if (call->return_count) {
            uint8_t *memory = exec->local + (size_t)exec->local_bytes * thread + exec_frame_pointer(exec, thread);
            memset(memory + call->returns[0]->offset, 0, call->returns[0]->bytes);
        }
    }
    uselocale(before);
    if (plain)
        freelocale(plain);
    return fine;
}

static int compare_records(const void *a, const void *b) {
    const struct print_record *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

void output_add(struct exec_output *output, const struct exec_output *more) {
    output->cut += more->cut;
    for (unsigned i = 0; i < more->count; i++)
        *ARENA_PUSH(output->arena, output) = more->items[i];
}

void output_sort(struct exec_output *output) {
    if (output->count)
        qsort(output->items, output->count, sizeof *output->items, compare_records);
    /* several SMs may have kept more than the buffer holds */
    uint64_t used = 0;
    unsigned fit = 0;
    while (fit < output->count) {
        used += (uint64_t)output->items[fit].bytes + PRINT_CALL_BYTES;
        if (used > output->limit_bytes)
            break;
        fit++;
    }
    output->cut += output->count - fit;
    output->count = fit;
}

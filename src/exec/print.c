#include "exec/print.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

enum { TEXT_LIMIT = 8192, SPEC_LIMIT = 64 };

/* One thread's printf under way: the packed arguments and the text so far. */
struct printing {
    struct exec *exec;
    unsigned warp, lane;
    const struct step *step;
    uint64_t arguments; /* generic address of the packed arguments */
    char text[TEXT_LIMIT];
    unsigned length;
};

/* A generic access that is not the instruction's own. */
static const uint8_t *peek(struct printing *p, uint64_t address, uint32_t bytes) {
    const uint64_t offset = address - LOCAL_WINDOW;
    const struct exec *exec = p->exec;
    if (offset < WINDOW_BYTES) {
        if (offset + bytes > exec->local_bytes)
            return NULL;
        return exec->local + (size_t)exec->local_bytes * (32 * p->warp + p->lane) + offset;
    }
    if (address - SHARED_WINDOW < WINDOW_BYTES) {
        if (address - SHARED_WINDOW + bytes > exec->shared_bytes)
            return NULL;
        return exec->shared + (address - SHARED_WINDOW);
    }
    const struct allocation *found = memory_find(exec->memory, address);
    return found && bytes <= found->end - address ? memory_host(exec->memory, address) : NULL;
}

static bool peek_string(struct printing *p, uint64_t address, char *text, unsigned size) {
    for (unsigned i = 0; i < size; i++) {
        const uint8_t *byte = peek(p, address + i, 1);
        if (!byte)
            return false;
        text[i] = (char)*byte;
        if (!text[i])
            return true;
    }
    text[size - 1] = 0;
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
    const size_t room = TEXT_LIMIT - 1 - p->length;
    if (length > room)
        length = room;
    memcpy(p->text + p->length, text, length);
    p->length += (unsigned)length;
}

/* One value in the wanted form. spec: '%', flags, width, precision, no length modifier. */
static void append_value(struct printing *p, const char *spec, char conversion, unsigned bytes, uint64_t value) {
    char format[SPEC_LIMIT + 8], text[512];
    int length;
    if (strchr("di", conversion)) {
        const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
        const int64_t number = bytes == 8 ? (int64_t)value : (int64_t)((value ^ sign) - sign);
        snprintf(format, sizeof format, "%sll%c", spec, conversion);
        length = snprintf(text, sizeof text, format, (long long)number);
    } else if (strchr("ouxX", conversion)) {
        snprintf(format, sizeof format, "%sll%c", spec, conversion);
        length = snprintf(text, sizeof text, format, (unsigned long long)value);
    } else if (conversion == 'c') {
        snprintf(format, sizeof format, "%sc", spec);
        length = snprintf(text, sizeof text, format, (int)(unsigned char)value);
    } else if (conversion == 'p') {
        length = snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    } else {
        double number;
        if (bytes == 4) {
            const uint32_t low = (uint32_t)value;
            float narrow;
            memcpy(&narrow, &low, sizeof narrow);
            number = (double)narrow;
        } else
            memcpy(&number, &value, sizeof number);
        snprintf(format, sizeof format, "%s%c", spec, conversion);
        length = snprintf(text, sizeof text, format, number);
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

/* Reads one conversion after '%'; returns where the format goes on, NULL: it cannot be read. */
static const char *print_conversion(struct printing *p, const char *at) {
    char spec[SPEC_LIMIT] = "%", modifier[4] = "";
    unsigned used = 1, vector = 1;
    while (*at && strchr("-+ #0123456789.*", *at)) {
        if (*at == '*') {
            uint64_t width;
            if (!next_argument(p, 4, &width))
                return NULL;
            const int written = snprintf(spec + used, sizeof spec - used, "%d", (int)(int32_t)(uint32_t)width);
            used += (unsigned)written;
        } else
            spec[used++] = *at;
        if (used > SPEC_LIMIT - 16)
            return NULL;
        at++;
    }
    spec[used] = 0;
    if (*at == 'v') {
        char *end;
        vector = (unsigned)strtoul(at + 1, &end, 10);
        at = end;
        if (vector < 2 || vector > 16)
            return NULL;
    }
    for (unsigned n = 0; *at && strchr("hljzt", *at) && n < 3; at++)
        modifier[n++] = *at, modifier[n] = 0;
    if (!*at || !strchr("diouxXcpsfFeEgGaA%", *at))
        return NULL;
    if (*at == '%') {
        append(p, "%", 1);
        return at + 1;
    }
    if (*at == 's') {
        uint64_t address;
        char text[1024], format[SPEC_LIMIT + 2];
        char out[1200];
        if (!next_argument(p, 8, &address) || !peek_string(p, address, text, sizeof text))
            return NULL;
        snprintf(format, sizeof format, "%ss", spec);
        const int length = snprintf(out, sizeof out, format, text);
        if (length > 0)
            append(p, out, (size_t)length < sizeof out ? (size_t)length : sizeof out - 1);
        return at + 1;
    }
    const unsigned bytes = argument_bytes(*at, modifier, vector > 1);
    if (vector > 1)
        p->arguments = bits_round_up(p->arguments, (vector == 3 ? 4 : vector) * bytes);
    for (unsigned i = 0; i < vector; i++) {
        uint64_t value;
        if (!next_argument(p, bytes, &value))
            return NULL;
        /* hh and h of scalars: the promoted argument is cut back */
        unsigned shown = bytes;
        if (vector == 1 && bytes == 4 && strcmp(modifier, "hh") == 0)
            value &= 0xff, shown = 1;
        else if (vector == 1 && bytes == 4 && strcmp(modifier, "h") == 0)
            value &= 0xffff, shown = 2;
        if (i)
            append(p, ",", 1);
        append_value(p, spec, *at, shown, value);
    }
    if (vector == 3)
        p->arguments += bytes;
    return at + 1;
}

static bool print_thread(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                         uint64_t format_address, uint64_t arguments) {
    struct printing p = {.exec = exec, .warp = warp, .lane = lane, .step = step, .arguments = arguments};
    char format[4096];
    if (!peek_string(&p, format_address, format, sizeof format))
        return exec_fail(exec, warp, lane, step, "printf format at 0x%llx is not in memory",
                         (unsigned long long)format_address);
    for (const char *at = format; *at;) {
        const size_t plain = strcspn(at, "%");
        append(&p, at, plain);
        at += plain;
        if (!*at)
            break;
        at = print_conversion(&p, at + 1);
        if (!at)
            return exec_fail(exec, warp, lane, step, "printf format \"%.80s\" cannot be printed", format);
    }
    struct exec_output *output = exec->output;
    struct print_record *record = ARENA_PUSH(output->arena, output);
    const unsigned thread = 32 * warp + lane;
    *record = (struct print_record){exec->block, thread, exec->print_counts[thread]++,
                                    arena_copy(output->arena, p.text, p.length + 1), p.length};
    return true;
}

static uint64_t read_argument(const struct exec *exec, unsigned thread, const struct call *call, unsigned index) {
    uint64_t value = 0;
    const struct symbol *symbol = call->arguments[index];
    const uint8_t *memory = exec->local + (size_t)exec->local_bytes * thread + exec_frame_pointer(exec, thread);
    memcpy(&value, memory + symbol->offset, symbol->bytes < 8 ? symbol->bytes : 8);
    return value;
}

bool exec_intrinsic_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct call *call = step->inst->call;
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    bool fine = true;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = 32 * warp + lane;
        const uint64_t first = read_argument(exec, thread, call, 0);
        if (step->intrinsic == INTRINSIC_ASSERT) {
            struct printing p = {.exec = exec, .warp = warp, .lane = lane, .step = step};
            char message[200] = "?";
            peek_string(&p, first, message, sizeof message);
            fine = exec_fail(exec, warp, lane, step, "assertion failed: %s", message);
            break;
        }
        fine = print_thread(exec, warp, lane, step, first,
                            call->argument_count > 1 ? read_argument(exec, thread, call, 1) : 0);
        if (!fine)
            break;
        if (call->return_count) {
            uint8_t *memory = exec->local + (size_t)exec->local_bytes * thread + exec_frame_pointer(exec, thread);
            memset(memory + call->returns[0]->offset, 0, call->returns[0]->bytes);
        }
    }
    uselocale(before);
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
    for (unsigned i = 0; i < more->count; i++)
        *ARENA_PUSH(output->arena, output) = more->items[i];
}

void output_sort(struct exec_output *output) {
    if (output->count)
        qsort(output->items, output->count, sizeof *output->items, compare_records);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of a foreign trace as a module: what each has of opcode and registers, and nothing of what it computes. Its text, a
 * .traced file, has for each kernel a line and one for every instruction that was seen, by place:
 *   heddle traced 1
 *   kernel SM REGISTERS NAME
 *   BYTE FLAGS DESTINATION OPCODE SOURCE...
 * BYTE hexadecimal; FLAGS . or @ (some lanes were off) and > (the warp went elsewhere); registers R0 to R254, RZ, a destination - */
#ifndef HEDDLE_TRACE_LISTING_H
#define HEDDLE_TRACE_LISTING_H

#include "base/text.h"
#include "isa/module.h"
#include "trace/opcodes.h"
#include "trace/scan.h"

enum {
    TRACED_SOURCES = 4,
    TRACED_RZ = 255,
    TRACED_NO_REGISTER = 256,
    TRACED_INDEX_MAX = 1 << 20,
    TRACED_OPCODE_BYTES = 64
};
#define TRACED_MAGIC "heddle traced 1"

struct traced_inst {
    uint32_t index; /* traced_index */
    uint16_t destination;
    uint8_t source_count;
    uint8_t sources[TRACED_SOURCES];
    bool is_guarded, goes_elsewhere;
    char mnemonic[TRACED_OPCODE_BYTES];
};

/* The line, without its end. */
void traced_print(const struct traced_inst *inst, unsigned sm, struct text_line *line);

/* The instruction of a line of such a listing; false: it is none. */
bool traced_scan(struct scan *line, unsigned sm, struct traced_inst *out);

enum status traced_load(const char *name, const char *text, size_t length, struct module **out, struct report *report);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel while it is linked, for exec/link.c, exec/link_rows.c and exec/reach.c. */
#ifndef HEDDLE_EXEC_LINKER_H
#define HEDDLE_EXEC_LINKER_H

#include "base/arena.h"
#include "exec/step.h"

enum { ROW_ALIGNMENT = 64 };

struct linker {
    struct arena *arena;
    struct linked *linked;
    uint64_t image_address;
    uint32_t frame_used;
    struct {
        uint8_t *items;
        unsigned count, capacity;
    } uniform;
    struct {
        struct known_constant {
            uint64_t value;
            uint8_t bytes;
            bool is_pair;
            uint32_t offset;
        } * items;
        unsigned count, capacity;
    } constants;
    struct {
        struct param_row *items;
        unsigned count, capacity;
    } params;
    struct {
        struct zero_range *items;
        unsigned count, capacity;
    } zeros;
    struct row carry;
};

/* Finds what the kernel can call: fills the layouts but for their registers, has_calls, has_recursion, call_depth and what is
 * known of local memory. */
void link_functions(struct arena *arena, struct linked *linked);

/* A new row of the warp's frame; 0 bytes: a predicate. */
struct row link_frame_row(struct linker *linker, unsigned bytes);
/* The row may be read before it is written. */
void link_zero_at_start(struct linker *linker, const struct row *row);
/* Of a value of that type in its row; 0: a predicate. */
unsigned link_register_bytes(enum type type);
/* Rows for the registers of a function. */
void link_registers(struct linker *linker, const struct function *function);
/* The address a symbol stands for; frame symbols relative to the thread's frame. */
uint64_t link_symbol_value(const struct linker *linker, const struct symbol *symbol);
/* A variable in the thread's frame of local memory. */
bool link_is_in_frame(const struct symbol *symbol);
/* A value of the parameter block as a row that the launch fills. */
struct row link_param_row(struct linker *linker, uint64_t offset, unsigned param_bytes, unsigned bytes, bool is_signed);
/* `bytes`: what the instruction reads there, of an operand that has no width of its own; in_pairs: 8 bytes are pairs. */
struct row link_operand_row(struct linker *linker, const struct function_layout *layout, const struct operand *operand,
                            unsigned bytes, bool in_pairs);

#endif

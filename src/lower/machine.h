/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel as native instructions on virtual registers, between selection and layout: what the selectors make, what the
 * shaping of control flow, the register allocator and the layout work on. A virtual register ("unit") is a 32-bit word or a
 * predicate; instructions with 64- and 128-bit operands tie units to groups that lie side by side, aligned. */
#ifndef HEDDLE_LOWER_MACHINE_H
#define HEDDLE_LOWER_MACHINE_H

#include "lower/body.h"
#include "sass/native.h"
#include "sass/turing.h"

#define NO_UNIT UINT32_MAX

/* Banks of the numbers of a program, and of the addresses of variables. */
enum { TESLA_LITERALS = 1, FERMI_LITERALS = 16, TURING_ADDRESSES = 4, FERMI_ADDRESSES = 14 };
enum { MACHINE_OPERANDS_MAX = TURING_OPERANDS_MAX };
enum { TESLA_NEAR_REGISTERS = 64 }; /* that sums with numbers and halves reach */

struct machine_inst {
    struct native_inst
        native; /* registers of operands that have a unit are filled by allocate.c, targets by layout.c */
    struct turing_inst
        *turing; /* sm_75 on: the instruction, by places; of `native` only guard, row and operand_count count */
    uint32_t units[MACHINE_OPERANDS_MAX]; /* NO_UNIT: no register, or RZ, PT and the like */
    uint8_t widths[MACHINE_OPERANDS_MAX]; /* words of the operand; 0 counts as 1 */
    uint32_t guard;                       /* unit of the predicate, or NO_UNIT */
    bool whole;                           /* has a guard, but nobody needs what its destination held */
    bool early;                           /* writes a destination before all sources are read */
    const struct inst *at;
};

struct machine_block {
    struct {
        struct machine_inst *items;
        unsigned count, capacity;
    } code;
    uint8_t end; /* enum body_end */
    bool negated;
    bool unanimous;                   /* END_BRANCH: BRA.U, both sides are under guards */
    bool agrees;                      /* END_BRANCH: all lanes of a warp go one way */
    uint32_t predicate;               /* unit */
    uint8_t code_register, code_test; /* Tesla: the condition code that decides, and how */
    uint32_t next, taken;
    uint8_t next_way, taken_way; /* enum machine_way, by shape.c */
    bool back_first;             /* of a way back and an end: the branch is the way back */
    bool is_pad;                 /* NOP.S alone: where the lanes of a token meet */
    uint32_t home;               /* head of a loop that it belongs to though it does not lead back; NO_UNIT: none */
    uint32_t token;              /* SSY: pad; PBK: block behind the loop; NO_UNIT: none. Stands at the block's end */
    bool token_is_break;
    const struct inst *at;
};
/* How lanes leave a block. */
enum machine_way { WAY_ON, WAY_BREAK, WAY_EXIT, WAY_POPPED };

struct register_unit {
    bool is_predicate, is_temporary; /* temporary: made by spilling, must not be spilled again */
    uint8_t index, size;             /* place in its group and the group's size, 0: in none */
    uint32_t leader;                 /* first unit of the group */
};

/* A word that the program is given where it is loaded: a part of the address of a variable. */
struct machine_word {
    const struct symbol *symbol;
    int64_t addend;
};

struct machine_kernel {
    struct arena *arena;
    const struct body *body;
    enum native_isa isa;
    const char *isa_name;
    struct {
        struct register_unit *items;
        unsigned count, capacity;
    } units; /* the first are the registers of the body */
    struct {
        struct machine_block *items;
        unsigned count, capacity;
    } blocks;
    struct {
        struct machine_word *items;
        unsigned count, capacity;
    } words; /* 8 bytes each, in c[0xe] */
    struct {
        uint32_t *items;
        unsigned count, capacity;
    } literals;
    uint32_t local_bytes, shared_bytes;
    uint32_t register_limit;
    unsigned sm;         /* of NATIVE_TURING */
    bool has_descriptor; /* accesses of global memory name UR4, which the kernel loads first */
    struct report *report;
};

uint32_t machine_unit(struct machine_kernel *machine, bool is_predicate);
/* Ties units to a group, in order; false: one is in another group, or their numbers do not follow each other. */
bool machine_group(struct machine_kernel *machine, const uint32_t *units, unsigned count);
struct machine_inst *machine_inst_new(struct machine_kernel *machine, uint32_t block, unsigned row,
                                      const struct inst *at);
/* Sets the first slot of that kind that has no word yet. */
void machine_modify(const struct machine_kernel *machine, struct machine_inst *inst, enum native_slot slot,
                    enum native_modifier modifier);
void machine_operand(struct machine_inst *inst, struct native_operand operand, uint32_t unit);

/* The register of operand n, once it is known. */
void machine_set_register(struct machine_inst *inst, unsigned n, unsigned reg);
unsigned machine_register(const struct machine_inst *inst, unsigned n);
/* A move of one unit to another, and nothing else. */
bool machine_is_copy(const struct machine_kernel *machine, const struct machine_inst *inst);

/* What an operand does. */
bool machine_writes(const struct machine_kernel *machine, const struct machine_inst *inst, unsigned operand);

enum status select_fermi(const struct body *body, struct machine_kernel *machine);
enum status select_tesla(const struct body *body, struct machine_kernel *machine);
enum status select_turing(const struct body *body, struct machine_kernel *machine);
/* Takes away what nobody needs (sm_75 on). */
void sweep_turing(struct machine_kernel *machine);
/* Who reads a copy reads what it was made of, where that spares the copy (sm_75 on). */
void forward_turing(struct machine_kernel *machine);
/* Puts registers in the place of units; spills to local memory what does not fit. */
enum status allocate(struct machine_kernel *machine, uint32_t *register_count);
/* The same for sm_75 on, with the instructions of blocks in an order that waits less where that costs no occupancy. */
enum status allocate_scheduled(struct machine_kernel *machine, uint32_t *register_count);
/* Loads that are the same for all threads of a block become LDU and LD_LDU (Fermi). */
void uniform_loads(struct machine_kernel *machine);
/* Every instruction of Tesla gets a form that has an encoding, as far as there is one for its operation. */
void fit_tesla(struct machine_kernel *machine);
/* Short sides of branches become instructions under guards. */
void predicate_hammocks(struct machine_kernel *machine);
/* Finds the branches that all lanes of a warp take together (sm_75 on). */
void agree_turing(struct machine_kernel *machine);
/* Loops with one way back and one way out, tokens where lanes diverge and meet: after it every block has its tokens in its
 * code, and its end says which way each side goes (enum body_end, below). */
void shape(struct machine_kernel *machine);
/* Branches and addresses: the code of the kernel. */
void layout(struct machine_kernel *machine, struct native_kernel *out);
/* The same for sm_75 on, with barriers of warps in the place of tokens. */
enum status layout_turing(struct machine_kernel *machine, struct native_kernel *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What an opcode of a foreign trace is to the machine in time: its class, its space, how wide its registers are. The tables of src/sass
 * say it of sm_70 on, older_opcodes.def of what came before. */
#ifndef HEDDLE_TRACE_OPCODES_H
#define HEDDLE_TRACE_OPCODES_H

#include "isa/inst.h"

enum traced_shape {
    TRACED_PLAIN, /* computes */
    TRACED_LOAD,  /* these three have addresses */
    TRACED_STORE,
    TRACED_ATOMIC,
    TRACED_JUMP,    /* the warp may go on elsewhere */
    TRACED_END,     /* EXIT */
    TRACED_BARRIER, /* of the block */
    TRACED_FENCE,
    TRACED_NOTHING,
};

struct traced_opcode {
    enum traced_shape shape;
    uint8_t op, type, stype; /* enum op, enum type */
    uint8_t space;           /* of an access; SPACE_GENERIC: its address says */
    uint8_t registers;       /* of a value that is loaded or stored, 32 bits each */
    bool is_branch;          /* a jump that is an instruction of its own wherever it leads */
    bool wide_address;       /* the address is in two registers */
};

/* The full mnemonic, "LDG.E.128.SYS". NULL: it is known; else what is wrong with it. */
const char *traced_opcode(const char *mnemonic, unsigned sm, struct traced_opcode *out);

/* Architectures that traces may be of. */
bool traced_runs(unsigned sm);

/* Instructions from the begin of the kernel to a byte of its code, words of control left out; NO_PC: no instruction begins there. */
uint32_t traced_index(unsigned sm, uint64_t byte);
/* The byte of an instruction. */
uint64_t traced_byte(unsigned sm, uint32_t index);

#endif

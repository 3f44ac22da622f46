/* SPDX-License-Identifier: Apache-2.0 */
/* What a front end produces: code, functions, variables. Read-only once loaded. */
#ifndef HEDDLE_ISA_MODULE_H
#define HEDDLE_ISA_MODULE_H

#include "base/arena.h"
#include "base/status.h"
#include "isa/address.h"
#include "isa/inst.h"

/* A name in memory: a variable of the module, a function's local, parameter or shared variable, a function. */
enum symbol_kind { SYMBOL_VARIABLE, SYMBOL_FUNCTION };
enum linkage { LINKAGE_LOCAL, LINKAGE_VISIBLE, LINKAGE_EXTERN, LINKAGE_WEAK, LINKAGE_COMMON };

/* The address of `symbol` + addend goes to byte `offset` of an initialiser, `bytes` wide.
 * generic: as a generic address (PTX generic()). */
struct relocation {
    uint32_t offset, bytes;
    const struct symbol *symbol;
    int64_t addend;
    bool generic;
};

struct symbol {
    const char *name;
    enum symbol_kind kind;
    enum linkage linkage;
    uint8_t space; /* GLOBAL, CONST, SHARED, LOCAL, PARAM */
    uint8_t type;  /* element type */
    uint32_t align;
    uint64_t bytes;      /* 0: unsized (extern .shared x[]) */
    uint32_t vector;     /* elements of a .v2/.v4 type, else 1 */
    const uint8_t *init; /* NULL: zero */
    uint64_t init_bytes;
    const struct relocation *relocations;
    unsigned relocation_count;
    /* LOCAL, and PARAM with in_frame: byte offset in the owner's frame (local_bytes below).
     * PARAM without in_frame: byte offset in the kernel's parameter block.
     * SHARED: byte offset in the block's shared memory. Variables that no kernel reaches together may overlap.
     * Unsized ones (bytes 0) have offset 0 here: they lie at the launched kernel's shared_bytes, rounded up to 16.
     * GLOBAL and CONST: offset in the module's image, see module->image_bytes. */
    uint64_t offset;
    bool in_frame;                   /* PARAM: of a call or of a device function, not of a kernel's launch */
    const struct function *function; /* SYMBOL_FUNCTION: the function; else the owner, NULL for module scope */
    /* parameters of kernels only: .ptr .space .align */
    bool is_pointer;
    uint8_t pointer_space;
    uint32_t pointer_align;
    bool is_reference; /* holds the handle of an image, a sampler or a surface */
    uint32_t text_line;
};

struct function {
    const char *name;
    uint32_t index; /* in module->functions */
    bool is_entry, is_defined, is_noreturn;
    enum linkage linkage;
    uint32_t first_pc, end_pc; /* its instructions in module->code, [first, end) */
    uint64_t address;          /* of native code, part of a kernel: the byte of the section, by which it is called */
    const struct symbol **params, **returns;
    unsigned param_count, return_count;
    unsigned hidden_count; /* kernels: parameters behind these that no launch names, zero unless somebody fills them */
    uint32_t param_bytes;  /* kernels: size of the parameter block */
    const uint8_t *reg_types; /* enum type of each register */
    const struct function
        *registers_of; /* its registers are those of that function, of which it is a part; NULL: its own */
    const char **reg_names;
    uint32_t reg_count;
    uint32_t local_bytes; /* frame: .local variables, and for calls the .param variables */
    uint32_t local_align;
    uint32_t
        spills_from; /* native code made of PTX here: byte of local memory from which on it keeps what registers do not;
                             0: nobody has said */
    uint32_t shared_bytes; /* static shared memory its code, and all it can call, uses: [0, shared_bytes) */
    uint32_t shared_base;  /* kernels: where it begins in the window: native code has the system's before it */
    uint32_t required_ntid[3], max_ntid[3];           /* 0: not given */
    uint32_t required_cluster[3], max_cluster_blocks; /* 0: not given */
    bool needs_cluster;                               /* the launch has to say which (.explicitcluster) */
    uint32_t min_nctapersm, max_nreg;
    const char *refused;      /* native code: what of it is not executed, so that it is not launched; NULL: nothing */
    uint32_t given_registers; /* native code: what the file says that a thread has; 0: nobody has said */
    uint32_t text_line;
    const struct symbol *symbol; /* its address as a value */
    /* filled by isa/analysis */
    uint32_t live_registers; /* physical 32-bit registers: given_registers, else an estimate */
    const struct cfg *cfg;
};

/* What the kernel calls a byte of its shared memory: the byte's number, or where that lies in the window. */
static inline uint64_t function_shared_address(const struct function *kernel, uint64_t byte) {
    return byte + (kernel->shared_base ? SHARED_WINDOW + kernel->shared_base : 0);
}

/* Whether a variable lies in the module's image in device memory. */
static inline bool symbol_is_placed(const struct symbol *symbol) {
    return symbol->space == SPACE_GLOBAL || symbol->space == SPACE_CONST;
}

struct inst_timing; /* isa/timing.h */

struct module {
    struct arena arena; /* owns everything below */
    const char *name;   /* as the user knows the file */
    const char *text;   /* the source text, for messages and listings; NUL-terminated */
    unsigned version_major, version_minor, sm, address_bytes; /* 7.5, 75, 8 */
    bool debug;
    bool is_traced; /* of a foreign trace: its instructions can be replayed, and not executed */
    struct inst *code;
    uint32_t code_count;
    struct function **functions;
    unsigned function_count;
    const struct symbol **variables; /* module scope, and shared/const/global ones inside functions */
    unsigned variable_count;
    const char **mnemonics; /* of native code; NULL: op_name names all */
    unsigned mnemonic_count;
    const char *
        *texts; /* of native code, by PC: the instruction as the program says it; NULL, of parts too: inst_text's own */
    const char **controls;            /* of native code, by PC: what it says of its time; NULL: it says nothing */
    const struct inst_timing *timing; /* of native code that says of its time, by PC; NULL: it says nothing */
    const char **files;               /* files[0] = "" */
    unsigned file_count;
    /* one image for .global and .const variables, laid out by the front end; the device places it */
    uint64_t image_bytes;
    uint32_t image_align;
    uint32_t warp_size_line; /* of the text: WARP_SZ is in a constant expression there; 0: nowhere */
};

/* The defined kernel or function of that name, or NULL. */
const struct function *module_find(const struct module *module, const char *name);
/* The function whose code holds pc. */
const struct function *module_function_at(const struct module *module, uint32_t pc);
/* "file.cl:12" or "name.ptx:140" when the instruction has no source position; writes at most size bytes. */
const char *module_where(const struct module *module, uint32_t pc, char *buffer, unsigned size);
/* What the program calls the instruction. */
const char *inst_name(const struct module *module, const struct inst *inst);
/* One instruction as text, as a listing shows it. */
const char *inst_text(const struct module *module, const struct inst *inst, char *buffer, unsigned size);
/* A module made by a front end: `build` fills it, with `scratch` for what is not part of it; false: it has reported why that
 * cannot be. STATUS_SYSTEM where memory runs out meanwhile. */
typedef bool module_build(void *context, struct module *module, struct arena *scratch, struct report *report);
enum status module_make(const char *name, module_build *build, void *context, struct module **out,
                        struct report *report);
void module_free(struct module *module);

#endif

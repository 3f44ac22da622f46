/* SPDX-License-Identifier: Apache-2.0 */
/* What a program registers before it begins: a fat binary, the kernels and variables in it. PTX is loaded when it is first needed.
 * And what it loads itself by the driver's functions: a module, which is loaded at once. */
#ifndef HEDDLE_CUDA_IMAGE_H
#define HEDDLE_CUDA_IMAGE_H

#include "compile/fatbin.h"
#include "cuda/runtime.h"

enum { KERNEL_KIND = 0x68d20001 };

struct kernel {
    unsigned kind; /* KERNEL_KIND: programs hand these back as handles */
    const void *host;
    const char *name;
    struct image *image;
    const struct function *function; /* NULL: not looked for yet */
    uint32_t dynamic_shared_limit;   /* of cudaFuncSetAttribute; 0: not set */
    struct kernel *next;
};

struct variable {
    const void *host;
    const char *name;
    struct image *image;
    size_t bytes;
    void **managed;    /* the program's pointer to it; NULL: it is no managed variable */
    bool is_reference; /* a texture, which is read by read_mode, or a surface: holds a handle */
    int read_mode;
    struct variable *next;
};

struct image {
    struct arena arena;         /* holds all of it */
    const char *module;         /* what a module that the program loaded itself is called; NULL: it was registered */
    const void *const *fatbins; /* NULL at their end; several where files of device code are linked (nvcc -rdc=true) */
    const void *linked;         /* what nvlink made of those, native code; NULL: they were not linked */
    unsigned arch;              /* of its PTX; 0: it has none */
    bool is_tried;
    struct program *program; /* NULL: not loaded, or refused */
    struct session_entry *entry;
    struct kernel *kernels;
    struct variable *variables;
    struct image *next;
};

/* By the function's address in the program, or by handle; loaded. NULL, and *error says why. */
struct kernel *kernel_find(struct runtime *cuda, const void *function, enum cuda_error *error);
/* A variable by its address in the program; where it lies on the device goes to *address. */
const struct variable *variable_find(struct runtime *cuda, const void *symbol, uint64_t *address);
/* A variable of a loaded image by its name; NULL: it has none. */
const struct symbol *image_variable(const struct image *image, const char *name, uint64_t *address);

/* A variable that the program registers for its image, by handle; name and all are copied. */
void image_register(void **handle, const struct variable *like);
struct image *image_new(void);
/* From PTX, which is NULL where the report says why there is none; whatever is wrong is said to the user too. */
enum status image_load(struct runtime *cuda, struct image *image, const struct fatbin *ptx, struct report *report);
/* Out of the list. Its kernels stay, without their code, as graphs may have them. */
void image_drop(struct runtime *cuda, struct image **at);
/* Managed variables lie on the device; the program's pointers to them are set. */
void images_place_managed(struct runtime *cuda);
/* The device goes: what was registered is to be loaded again, and modules go with it. */
void images_unload(struct runtime *cuda);
/* What the machine's `isa` has the program's code be. */
struct fatbin_wish image_wish(const struct runtime *cuda);
/* The architecture of the machine's `isa`; without one the highest that the program's PTX is for, FATBIN_ARCH at least. */
unsigned images_arch(const struct runtime *cuda);

#endif

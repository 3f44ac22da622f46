/* SPDX-License-Identifier: Apache-2.0 */
/* heddle.h: Heddle as a library. Kernels run on a simulated GPU inside your program; results are JSON text.
 *
 *   cc mine.c $(pkg-config --cflags --libs heddle)
 *
 * docs/api.md shows how, examples/api is a program that does it, python/heddle is the same for Python. This is the
 * header for programs. Kernels have another heddle.h (share/heddle/include), with instructions that no GPU has; a
 * kernel never sees this one, and a program never that one.
 *
 * Stability: within a major version functions are added, and none is changed or removed. The library's name ends in
 * that number: libheddle.so.N.
 *
 * Handles are opaque. Modules, buffers and kernels belong to their device and live until it is closed. NULL where a
 * handle is needed is refused like any other bad input, unless a function says what NULL means.
 *
 * Functions that can fail return an enum heddle_status. Their last parameter, `errors`, gets the messages of a call
 * that fails, each ended by '\n', in place of what it held; a call that does not fail leaves it alone. NULL: nobody
 * wants to know. `out` parameters are set only where a function succeeds or says so. A host without memory for what is
 * small ends the process; a launch or a buffer for which there is none is refused.
 *
 * Threads: a handle, and all that belongs to it, is used by one thread at a time. Different machines, devices and
 * texts know nothing of each other and may be used at once; a device may run on several host threads itself (key
 * host.threads), but calls back only from the thread that called it. */
#ifndef HEDDLE_API_H
#define HEDDLE_API_H

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 1
#define HEDDLE_VERSION_PATCH 0
#define HEDDLE_VERSION_LABEL "" /* "-rc1" of what comes before a release */

#ifdef __cplusplus
extern "C" {
#endif
#define HEDDLE_API __attribute__((visibility("default")))

/* The exit status of the program `heddle` in the same case. */
enum heddle_status {
    HEDDLE_OK = 0,
    HEDDLE_WRONG = 1,   /* a launch file's expected results are not what came out, or a check found an error */
    HEDDLE_REFUSED = 2, /* bad input, or the host refused memory or files */
    HEDDLE_STOPPED = 3, /* a launch stopped: fault, deadlock, limit, or the watcher said so */
};

enum heddle_mode {
    HEDDLE_IN_TIME = 0,    /* cycle by cycle */
    HEDDLE_FUNCTIONAL = 1, /* without time, many times faster */
};

struct heddle_text;
struct heddle_machine;
struct heddle_device;
struct heddle_module;
struct heddle_buffer;
struct heddle_kernel;

/* Version of the library that is loaded, "0.1.0"; the macros above are that of the header. */
HEDDLE_API const char *heddle_version(void);

/* ---- texts: what the library has to say ---- */

/* An empty text, for results and for messages. */
HEDDLE_API struct heddle_text *heddle_text_create(void);
/* What the last call wrote into it, ended by a NUL; valid until the next one does. "" for NULL. */
HEDDLE_API const char *heddle_text_get(const struct heddle_text *text);
/* Its length, without the NUL. */
HEDDLE_API size_t heddle_text_bytes(const struct heddle_text *text);
/* NULL is allowed here, and in all that free or close. */
HEDDLE_API void heddle_text_free(struct heddle_text *text);

/* ---- plug-ins: parts of a GPU from outside ---- */

/* Loads divergence mechanisms, warp schedulers, branch predictors and replacement policies from a shared library
 * (docs/plugins.md). They stay for as long as the process lives, and machines opened later know them by name. A file that is
 * loaded already is not loaded again. Not while another thread is in this library. */
HEDDLE_API enum heddle_status heddle_plugin_load(const char *path, struct heddle_text *errors);

/* ---- machines: the parameters of a GPU ---- */

/* Names of the shipped machines, one a line. */
HEDDLE_API enum heddle_status heddle_machine_names(struct heddle_text *out, struct heddle_text *errors);
/* Names of the divergence mechanisms, values of the key divergence.mechanism, one a line. */
HEDDLE_API enum heddle_status heddle_mechanism_names(struct heddle_text *out, struct heddle_text *errors);

/* `gpu` is the name of a shipped machine or the path of a configuration file (it has a '/' or ends in .yaml); NULL:
 * the default machine. */
HEDDLE_API enum heddle_status heddle_machine_open(const char *gpu, struct heddle_machine **out,
                                                  struct heddle_text *errors);
/* One key, "KEY=VALUE". Limits are keys too: limits.max_cycles in time, functional.max_instructions without. */
HEDDLE_API enum heddle_status heddle_machine_set(struct heddle_machine *machine, const char *setting,
                                                 struct heddle_text *errors);
/* Whether the keys go together and launches of this mode can run. Opening a device asks only for the first. */
HEDDLE_API enum heddle_status heddle_machine_check(struct heddle_machine *machine, enum heddle_mode mode,
                                                   struct heddle_text *errors);
/* All keys as a JSON object: {"KEY": {"value", "unit", "origin", "accepts", "help"}, ...}. */
HEDDLE_API enum heddle_status heddle_machine_keys(struct heddle_machine *machine, struct heddle_text *out,
                                                  struct heddle_text *errors);
/* Devices opened on it stay as they are. */
HEDDLE_API void heddle_machine_close(struct heddle_machine *machine);

/* ---- launch files ---- */

/* Called now and then during a launch in time with its progress; a value other than 0 stops the launch. It must
 * return, and call nothing of this library for the same device. */
typedef int heddle_watch(void *user, uint64_t cycles, uint64_t blocks_done, uint64_t blocks,
                         uint64_t warp_instructions);

/* Runs a launch file (docs/launch-files.md) as `heddle run` does, on a device of its own. `out` gets the document that
 * -o writes (docs/result-files.md), also when the status is HEDDLE_WRONG or HEDDLE_STOPPED. `seed` is that of random
 * fills that give none; the program's is 1. `watch` may be NULL. */
HEDDLE_API enum heddle_status heddle_run_file(struct heddle_machine *machine, const char *path, enum heddle_mode mode,
                                              uint64_t seed, heddle_watch *watch, void *user, struct heddle_text *out,
                                              struct heddle_text *errors);

/* Runs a launch file without time and watches every access, barrier and fence, as `heddle check` does (docs/check.md).
 * `kinds` are what it checks for, "memory,race"; NULL: all. At most `limit` findings are kept. `out` gets the document
 * that -o writes; HEDDLE_WRONG: there is an error in it. A launch that stops is a finding. */
HEDDLE_API enum heddle_status heddle_check_file(struct heddle_machine *machine, const char *path, const char *kinds,
                                                unsigned limit, uint64_t seed, struct heddle_text *out,
                                                struct heddle_text *errors);

/* ---- devices ---- */

/* A GPU as the machine says now; what is set in the machine later does not change it. */
HEDDLE_API enum heddle_status heddle_device_open(struct heddle_machine *machine, struct heddle_device **out,
                                                 struct heddle_text *errors);
/* Who looks on while launches run in time; NULL: nobody. */
HEDDLE_API enum heddle_status heddle_device_watch(struct heddle_device *device, heddle_watch *watch, void *user,
                                                  struct heddle_text *errors);
/* The launches of this mode since the device was opened, or forgot, as the result file that `heddle exec` would
 * write. */
HEDDLE_API enum heddle_status heddle_device_result(struct heddle_device *device, enum heddle_mode mode,
                                                   struct heddle_text *out, struct heddle_text *errors);
/* Results begin anew; memory, caches and modules stay as they are. */
HEDDLE_API enum heddle_status heddle_device_forget(struct heddle_device *device, struct heddle_text *errors);
/* From now on launches without time are watched, as heddle_check_file does; those in time are not. Buffers count as
 * written. A launch that cannot be watched is refused. A second call begins anew, with nothing found. */
HEDDLE_API enum heddle_status heddle_device_check(struct heddle_device *device, const char *kinds, unsigned limit,
                                                  struct heddle_text *errors);
/* What was found since then, as the document of `heddle check -o`; HEDDLE_WRONG: there is an error in it. Refused
 * where nobody asked for a check. */
HEDDLE_API enum heddle_status heddle_device_findings(struct heddle_device *device, struct heddle_text *out,
                                                     struct heddle_text *errors);
/* Ends the device and all that belongs to it. */
HEDDLE_API void heddle_device_close(struct heddle_device *device);

/* ---- modules ---- */

/* Kernels from a file. Its ending says what it is: .cl (OpenCL C), .cu (CUDA), .ptx, .sass, .cubin, .fatbin. `options` are words for
 * the compiler, "-DN=4", "-cl-std=CL2.0", with NULL behind the last; NULL: none. They are those that clBuildProgram
 * takes, and for .cu -D, -I, -O, -std, -w, -Werror, -ffast-math, -ffp-contract and -funroll-loops; others are refused. */
HEDDLE_API enum heddle_status heddle_module_from_file(struct heddle_device *device, const char *path,
                                                      const char *const *options, struct heddle_module **out,
                                                      struct heddle_text *errors);
/* The same from text, ended by a NUL. `name` is what messages and results call it; its ending says what it is. */
HEDDLE_API enum heddle_status heddle_module_from_text(struct heddle_device *device, const char *name, const char *text,
                                                      const char *const *options, struct heddle_module **out,
                                                      struct heddle_text *errors);
/* Signatures of its kernels, one a line: "saxpy(global float* y, ...)". */
HEDDLE_API enum heddle_status heddle_module_kernels(struct heddle_module *module, struct heddle_text *out,
                                                    struct heddle_text *errors);

/* ---- buffers ---- */

/* Memory of the device, all zero. `name` is what messages call it; NULL: "buffer N". */
HEDDLE_API enum heddle_status heddle_buffer_create(struct heddle_device *device, const char *name, uint64_t bytes,
                                                   struct heddle_buffer **out, struct heddle_text *errors);
/* Puts bytes into it, from `offset` on; refused where they would not all fit. */
HEDDLE_API enum heddle_status heddle_buffer_write(struct heddle_buffer *buffer, uint64_t offset, const void *data,
                                                  uint64_t bytes, struct heddle_text *errors);
/* Gets bytes out of it. */
HEDDLE_API enum heddle_status heddle_buffer_read(struct heddle_buffer *buffer, uint64_t offset, void *data,
                                                 uint64_t bytes, struct heddle_text *errors);
/* Its size; 0 when it was freed. */
HEDDLE_API uint64_t heddle_buffer_bytes(const struct heddle_buffer *buffer);
/* Gives the memory back. Until the device is closed, calls with the handle are refused by name. */
HEDDLE_API void heddle_buffer_free(struct heddle_buffer *buffer);

/* ---- kernels ---- */

/* The kernel of that name, as it is in the source; asking again gives the same handle, with the arguments it has. */
HEDDLE_API enum heddle_status heddle_kernel_find(struct heddle_module *module, const char *name,
                                                 struct heddle_kernel **out, struct heddle_text *errors);
/* How many arguments it takes. */
HEDDLE_API unsigned heddle_kernel_arguments(const struct heddle_kernel *kernel);
/* Arguments are counted from 0, checked against the signature, and stay until they are set again. This one is a
 * buffer, from `offset` bytes on; NULL: a null pointer. */
HEDDLE_API enum heddle_status heddle_kernel_set_buffer(struct heddle_kernel *kernel, unsigned argument,
                                                       struct heddle_buffer *buffer, uint64_t offset,
                                                       struct heddle_text *errors);
/* A whole number, of the parameter's own type, which must be able to hold it: signed or unsigned, 1 to 8 bytes;
 * floating-point parameters take it too. */
HEDDLE_API enum heddle_status heddle_kernel_set_integer(struct heddle_kernel *kernel, unsigned argument, int64_t value,
                                                        struct heddle_text *errors);
/* A number for a floating-point parameter, rounded to its type. */
HEDDLE_API enum heddle_status heddle_kernel_set_real(struct heddle_kernel *kernel, unsigned argument, double value,
                                                     struct heddle_text *errors);
/* The parameter's bytes as they are: vectors, structs, any scalar. */
HEDDLE_API enum heddle_status heddle_kernel_set_bytes(struct heddle_kernel *kernel, unsigned argument, const void *data,
                                                      size_t bytes, struct heddle_text *errors);
/* Local memory of a block (OpenCL's __local pointers), so many bytes. */
HEDDLE_API enum heddle_status heddle_kernel_set_local(struct heddle_kernel *kernel, unsigned argument, uint32_t bytes,
                                                      struct heddle_text *errors);
/* Shared memory of a block that is no argument (CUDA's extern __shared__), so many bytes. */
HEDDLE_API enum heddle_status heddle_kernel_set_shared(struct heddle_kernel *kernel, uint32_t bytes,
                                                       struct heddle_text *errors);
/* Runs it and returns when it has ended. `grid` counts blocks and `block` threads, in 1 to 3 dimensions. `out`, unless
 * NULL, gets the launch's entry in the result as a JSON object: cycles, ipc, simd_efficiency, ... ; a launch that
 * stopped has one too. After HEDDLE_STOPPED the device refuses launches; its result and its buffers can still be read. */
HEDDLE_API enum heddle_status heddle_kernel_launch(struct heddle_kernel *kernel, unsigned dimensions,
                                                   const uint32_t *grid, const uint32_t *block, enum heddle_mode mode,
                                                   struct heddle_text *out, struct heddle_text *errors);

#undef HEDDLE_API
#ifdef __cplusplus
}
#endif
#endif

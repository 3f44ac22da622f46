/* SPDX-License-Identifier: Apache-2.0 */
/* libheddle.so: what stands behind the handles of include/heddle.h. */
#ifndef HEDDLE_API_API_H
#define HEDDLE_API_API_H

#include <heddle.h>

#include "check/check.h"
#include "machine/machine.h"
#include "result/parts.h"
#include "result/session.h"

/* Every handle that is freed on its own has an arena that it lies in itself. */
struct heddle_text {
    struct arena arena, content;
    const char *data;
    size_t bytes;
};

struct heddle_machine {
    struct arena arena;
    struct machine machine;
};

enum { API_MODES = HEDDLE_FUNCTIONAL + 1 };

struct heddle_device {
    struct arena arena;
    struct machine machine; /* its own: nobody sets it any more */
    struct device *device;
    struct heddle_module *modules;
    unsigned buffers; /* made so far */
    heddle_watch *watch;
    void *user;
    struct check *check; /* NULL: nobody asked for one */
    struct session sessions[API_MODES];
    double seconds[API_MODES]; /* of the host, that its launches took */
};

struct heddle_module {
    struct heddle_device *device;
    struct program *program;
    const struct module *module;
    struct compiled compiled; /* what the compiler knew; zero: there was none */
    const char *name, *source;
    const char *folder;                     /* where its file is; NULL: it was text */
    struct session_module *kept[API_MODES]; /* its launches; NULL: none since the device forgot */
    struct heddle_kernel *kernels;
    struct heddle_module *next;
};

struct heddle_buffer {
    struct heddle_device *device;
    const char *name;
    uint64_t address, bytes; /* bytes 0: it was freed */
};

enum api_argument_kind { API_ARGUMENT_NONE, API_ARGUMENT_VALUE, API_ARGUMENT_BUFFER, API_ARGUMENT_LOCAL };

struct api_argument {
    enum api_argument_kind kind;
    const struct heddle_buffer *buffer; /* NULL: a null pointer */
    uint64_t number;                    /* BUFFER: offset; LOCAL: bytes */
};

struct heddle_kernel {
    struct heddle_module *module;
    const struct function *function;
    const struct compile_kernel *source; /* NULL: not known */
    struct api_argument *arguments;
    unsigned char *params; /* of VALUE arguments at once, of the others for a launch */
    uint32_t shared_bytes;
    struct heddle_kernel *next;
};

/* The text becomes a copy of these bytes; NULL is left alone. */
void api_text_set(struct heddle_text *text, const char *data, size_t bytes);
/* The text becomes the document, which is given up; false: it could not be made. */
bool api_text_set_json(struct heddle_text *text, json_t *document);
/* The end of a call: its messages to who wants them. Frees the report. */
enum heddle_status api_end(enum status status, struct report *report, struct heddle_text *errors);
/* The end of a call that got bad input. */
enum heddle_status api_refuse(struct heddle_text *errors, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What a function that takes a handle says about NULL. */
enum heddle_status api_no_handle(struct heddle_text *errors, const char *function, const char *what);
bool api_is_mode(enum heddle_mode mode);

/* The same machine once more, every key with its origin. */
enum status api_machine_copy(const struct machine *from, struct machine *to, struct report *report);
/* Refuses what needs time where there is none. */
enum status api_mode_check(const struct machine *machine, enum heddle_mode mode, struct report *report);

/* Has the device's check watch the launch, if there is one and it can; its end. */
enum status api_check_begin(struct heddle_kernel *kernel, struct launch *launch, struct report *report);
void api_check_end(struct heddle_kernel *kernel, const struct launch *launch, enum status status, const char *text);

/* For struct launch: hands progress on to a heddle_watch. */
struct api_watcher {
    heddle_watch *watch;
    void *user;
};
bool api_watch(void *watcher, const struct launch_progress *progress);

#endif

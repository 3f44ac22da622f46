/* SPDX-License-Identifier: Apache-2.0 */
/* Short PTX texts for the tests of the front end. */
#ifndef HEDDLE_TESTS_PTX_TEXT_H
#define HEDDLE_TESTS_PTX_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"

#define HEADER ".version 8.5\n.target sm_90\n.address_size 64\n"
/* Registers of every type, before the instructions of a kernel. */
#define REGISTERS                                                                                                      \
    ".reg .pred %p<9>; .reg .b8 %b<5>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; "          \
    ".reg .f64 %d<9>; .reg .u32 %u<9>; .reg .s16 %s<9>; .reg .f16 %hf<3>;"
#define KERNEL(body) HEADER ".entry k(.param .u64 p)\n{" REGISTERS "\n" body "\n}\n"

static inline struct module *load_text(const char *text) {
    struct report report = {0};
    struct module *module = NULL;
    enum status status = ptx_load("t.ptx", text, strlen(text), &module, &report);
    if (status != STATUS_OK)
        print_error("%s\n%s", text, report_text(&report));
    assert_int_equal(status, STATUS_OK);
    assert_non_null(module);
    assert_int_equal(report.messages, 0);
    report_free(&report);
    return module;
}

/* The report of a text that must be refused; the caller frees it. */
static inline char *refuse_text(const char *text) {
    struct report report = {0};
    struct module *module = NULL;
    enum status status = ptx_load("t.ptx", text, strlen(text), &module, &report);
    if (status == STATUS_OK)
        print_error("accepted: %s\n", text);
    assert_int_equal(status, STATUS_INVALID);
    assert_null(module);
    assert_true(report.messages > 0);
    char *copy = strdup(report_text(&report));
    report_free(&report);
    return copy;
}

static inline void assert_refused(const char *text, const char *message) {
    char *report = refuse_text(text);
    if (!strstr(report, message))
        print_error("expected '%s' in:\n%s", message, report);
    assert_non_null(strstr(report, message));
    free(report);
}

/* The instruction at pc as a listing shows it. */
static inline void assert_listed(const struct module *module, uint32_t pc, const char *expected) {
    char text[256];
    assert_true(pc < module->code_count);
    assert_string_equal(inst_text(module, &module->code[pc], text, sizeof text), expected);
}

#endif

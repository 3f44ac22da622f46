/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused, and how the message reads. */
#include "unit/ptx_text.h"

static void messages_show_place_line_and_caret(void **state) {
    (void)state;
    char *report = refuse_text(HEADER ".entry k() {\n\t.reg .b32 %r<3>;\n\tadd.u32 \t%r1, %r2, %q7;\n\tret;\n}\n");
    assert_string_equal(report, "t.ptx:6:21: error: '%q7' is not declared\n"
                                "\tadd.u32 \t%r1, %r2, %q7;\n"
                                "\t        \t          ^\n");
    free(report);
}

static void unsupported_things_are_all_listed_once(void **state) {
    (void)state;
    char *report =
        refuse_text(KERNEL("tcgen05.wait::ld.sync.aligned;\n"
                           "mov.u32 %r1, %pm0;\ntex.2dms.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1, %r1, %r1, %r1}];\n"
                           "tex.2dms.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1, %r1, %r1, %r1}];\nret;"));
    const char *expected[] = {
        "t.ptx:6:1: error: unsupported: tcgen05.wait::ld.sync.aligned (tensor instructions)\n",
        "t.ptx:7:14: error: unsupported: %pm0 (performance counters)\n",
        "t.ptx:8:1: error: unsupported: tex.2dms.v4.f32.s32 (textures and surfaces), and 1 more\n"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_non_null(strstr(report, expected[i]));
    assert_null(strstr(report, ":9:"));
    free(report);
}

static void reading_goes_on_after_an_error(void **state) {
    (void)state;
    char *report = refuse_text(
        KERNEL("add.u32 %r1, %r2;\nfoo.u32 %r1;\nadd.u32 %r1, , %r2;\nret;") ".entry k2() { bar.sync 99; }\n"
                                                                             ".global .u8 x = 256;\n");
    assert_non_null(strstr(report, "t.ptx:6:1: error: 'add.u32' takes 3 operands, not 2\n"));
    assert_non_null(strstr(report, "t.ptx:7:1: error: unknown instruction 'foo.u32'\n"));
    assert_non_null(strstr(report, "t.ptx:8:14: error: expected an operand, not ','\n"));
    assert_non_null(strstr(report, "t.ptx:11:24: error: a barrier's number is from 0 to 15\n"));
    assert_non_null(strstr(report, "t.ptx:12:17: error: constant 256 does not fit in type .u8\n"));
    free(report);
}

static void errors_stop_at_a_limit(void **state) {
    (void)state;
    char *text = malloc(100000);
    strcpy(text, HEADER ".entry k() {\n");
    for (int i = 0; i < 500; i++)
        sprintf(text + strlen(text), "wrong%d;\n", i);
    strcat(text, "}\n");
    char *report = refuse_text(text);
    assert_non_null(strstr(report, "too many errors; reading stopped after 50"));
    assert_non_null(strstr(report, "wrong49"));
    assert_null(strstr(report, "wrong50"));
    free(report);
    free(text);
}

static void wrong_instructions(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"add.u32 %r1, %f1, %r2;", "register '%f1' of type .f32 does not fit .u32 in 'add.u32'"},
        {"add.u64 %rd1, %r1, %rd2;", "register '%r1' of type .b32 does not fit .u64"},
        {"add.f32 %f1, %f2, 1;", "integer constant where type .f32 needs a floating-point one"},
        {"add.u32 %r1, %r2, 1.5;", "floating-point constant where type .u32 needs an integer"},
        {"add.u16 %h1, %h2, 65536;", "constant 65536 does not fit in type .u16"},
        {"add.u32 %r1, %tid.x, 1;", "special register '%tid.x' is not allowed in 'add.u32'"},
        {"mov.u64 %rd1, %tid.x;", "special register '%tid.x' does not fit .u64"},
        {"mov.u32 %r1, %tid;", "'%tid' needs one of .x, .y, .z"},
        {"add.u64 %rd1, %rd2, p;", "variable 'p' is not allowed in 'add.u64'; mov its address"},
        {"add.u32 5, %r1, %r2;", "the destination of 'add.u32' must be a register"},
        {"add.foo.u32 %r1, %r2, %r3;", "unknown modifier '.foo' of 'add.foo.u32'"},
        {"add.wide.u32 %r1, %r2, %r3;", "'.wide' is not allowed in 'add.wide.u32'"},
        {"add.rn.rz.f32 %f1, %f2, %f3;", "'.rz' of 'add.rn.rz.f32' contradicts or repeats"},
        {"add.ftz.f64 %d1, %d2, %d3;", "type '.f64' is not allowed in 'add.ftz.f64'"},
        {"add %r1, %r2, %r3;", "'add' lacks a type"},
        {"mul.u32 %r1, %r2, %r3;", "'mul.u32' lacks its mode"},
        {"setp.u32 %p1, %r1, %r2;", "'setp.u32' lacks its comparison"},
        {"shf.l.b32 %r1, %r2, %r3, 1;", "'shf.l.b32' lacks its .wrap or .clamp"},
        {"fma.f32 %f1, %f2, %f3, %f4;", "'fma.f32' lacks its rounding"},
        {"cvt.s32.f32 %r1, %f1;", "'cvt.s32.f32' needs a rounding to integer"},
        {"cvt.f32.f64 %f1, %d1;", "'cvt.f32.f64' needs a rounding such as .rn"},
        {"cvt.rn.f64.f32 %d1, %f1;", "'cvt.rn.f64.f32' is exact and takes no rounding"},
        {"cvt.sat.u32.u16 %r1, %h1;", "'cvt.sat.u32.u16' takes no .sat"},
        {"ld.global.v2.u32 %r1, [%rd1];", "'ld.global.v2.u32' moves 2 values, but 1 are given"},
        {"ld.global.v4.u64 {%rd1,%rd2,%rd3,%rd4}, [%rd5];", "would move 32 bytes at once"},
        {"ld.global.u32 %r1, [%r2];", "register '%r2' of type .b32 cannot hold a 64-bit address"},
        {"ld.shared.u32 %r1, [p];", "'p' is a .param variable, but 'ld.shared.u32' accesses .shared"},
        {"ld.acquire.u32 %r1, [%rd1];", "'ld.acquire.u32' lacks its scope"},
        {"ld.global.u32 %r1, %rd1;", "expected an address [...]"},
        {"st.param.u64 [p], %rd1;", "kernel parameter 'p' cannot be written"},
        {"atom.global.and.u32 %r1, [%rd1], 1;", "type .u32 is not allowed in 'atom.global.and.u32'"},
        {"atom.global.add.v2.f32 %f1, [%rd1], %f2;", "'.v2' is not allowed"},
        {"ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;",
         "unsupported: ld.global.L2::cache_hint.u32 (cache policies)"},
        {"lop3.and.b32 %r1|%p1, %r2, %r3, %r4, 3, %p2;", "'.and' is not allowed in 'lop3.and.b32'"},
        {"add.f32x2 %rd1, %rd2, %rd3;", "unsupported: add.f32x2 (packed types)"},
        {"bra nowhere;", "label 'nowhere' is not defined in this scope"},
        {"bra L; { L: ret; }", "label 'L' is not defined in this scope"},
        {"L: L: ret;", "label 'L' is already declared in this scope"},
        {".reg .b32 %r1;", "name '%r1' is already declared in this scope, at line 5"},
        {".reg .b32 %tid;", "'%tid' is a special register"},
        {".reg .b32 %z<4000000000>;", "number of registers is 4000000000; the limit is 262144"},
        {".local .b8 big[99999999];", "local variables and parameters need more than the limit"},
        {".reg .bf16 x;", "declare .b16"},
        {"@%r1 ret;", "'%r1' is not a predicate, its type is .b32"},
        {"mov.b64 {%r1, %r2, %r3}, %rd1;", "'mov.b64' cannot have 3 parts"},
        {"mov.u32 %r1, 1/0;", "division by zero"},
        {"mov.u32 %r1, ((((1);", "expected ')' in a constant expression"},
        {"call nobody;", "'nobody' is not declared"},
        {"call k;", "'k' is a kernel and cannot be called"},
        {"brx.idx %r1, %r2;", "'%r2' is not a list of .branchtargets"},
        {"mov.u32 %r1, 0x1G;", "malformed number"},
        {"mov.f32 %f1, 0f123;", "0f needs exactly 8 hexadecimal digits"},
        {"mov.u64 %rd1, 99999999999999999999;", "integer does not fit in 64 bits"},
        {"add.u32 %r1, %r2, #3;", "character that has no place in PTX"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096];
        snprintf(text, sizeof text, "%s.entry k(.param .u64 p)\n{%s\n%s ret;\n}\n", HEADER, REGISTERS, cases[i].text);
        assert_refused(text, cases[i].message);
    }
}

static void wrong_modules(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "PTX starts with .version"},
        {"int main() {}", "PTX starts with .version; is this PTX text?"},
        {".version 8.5\n", "the module has no .target"},
        {".version 8.5\n.target sm_7x\n", "unknown target 'sm_7x'"},
        {HEADER ".address_size 16", "address size must be 32 or 64"},
        {HEADER ".entry k(.param .u64 a, .param .u32 a) { ret; }", "name 'a' is already declared"},
        {HEADER ".entry k() { ret; }\n.entry k() { ret; }", "'k' is already defined, at line 4"},
        {HEADER ".func f (.param .b32 a);\n.func f (.param .b64 a) { ret; }",
         "'f' differs from its declaration at line 4"},
        {HEADER ".func f (.param .b32 a);\n.entry k() { .param .b64 x; call f, (x); }",
         "'x' has 8 bytes, but parameter 1 of 'f' has 4"},
        {HEADER ".func f (.param .b32 a);\n.entry k() { call f; }", "'f' has 1 parameter, not 0"},
        {HEADER ".func f (.param .b32 a);\n.entry k() { .reg .b32 r; call f, (r); }",
         "unsupported: call argument that is not a .param variable"},
        {HEADER ".func f (.param .b32 a) { .reg .b32 r; ld.param.b32 r, [a+4]; ret; }",
         "'ld.param.b32' of 4 bytes at 4 is outside 'a', which has 4"},
        {HEADER ".func f (.param .b8 a[8]) { .reg .b32 r<2>; ld.param.v2.b32 {r0, r1}, [a+4]; ret; }",
         "of 8 bytes at 4 is outside 'a', which has 8"},
        {HEADER ".entry k() { .param .b32 a; st.param.b32 [a-4], 1; ret; }", "of 4 bytes at -4 is outside 'a'"},
        {HEADER ".entry k() { .param .b32 a; st.param.b64 [a], 1; ret; }", "of 8 bytes at 0 is outside 'a'"},
        {HEADER ".func f (.reg .b32 a) { ret; }", "unsupported: .reg parameters of functions"},
        {HEADER ".local .b32 x;", "unsupported: .local at module scope"},
        {HEADER ".const .texref t;", "unsupported: .texref (textures and surfaces)"},
        {HEADER ".global .b128 t;", "unsupported: .b128 (128-bit values)"},
        {HEADER ".global .u32 x[2] = {1, 2, 3};", "more initial values than the 2 elements"},
        {HEADER ".global .u8 x[] = {0xFF(y)};", "unsupported: mask operator in an initialiser"},
        {HEADER ".global .u64 x = y;", "'y' is not a variable or function declared before"},
        {HEADER ".shared .u32 x = 1;", "a .shared variable cannot have an initial value"},
        {HEADER ".extern .global .u32 x;\n.entry k() { ret; }", "variable 'x' is .extern and defined nowhere"},
        {HEADER ".global .b8 x[99999999999999];", "limit"},
        {HEADER ".global .b64 x[4294967296][4294967296];", "larger than the limit"},
        {HEADER ".shared .b8 x[999999999];", "shared variables need more than the limit"},
        {HEADER ".global .u32 x", "but the text ends"},
        {HEADER ".entry k() { ret;", "function 'k' has no end: '}' is missing"},
        {HEADER ".entry k() .wrong 3 { ret; }", "unknown directive '.wrong' of a function"},
        {HEADER ".entry k() .blocksareclusters { ret; }", "unsupported: .blocksareclusters (clusters)"},
        {HEADER ".entry k() { .loc 70000 1 1 ret; }", "file number is 70000; the limit is 65535"},
        {HEADER ".global .align 3 .b8 x;", "alignment must be a power of two"},
        {HEADER "/* never closed", "comment without an end"},
        {HEADER ".file 1 \"open\n", "string without an end"},
        {HEADER ".section .debug_info { .b8 1", "section '.debug_info' has no end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].text, cases[i].message);
}

static void nul_bytes_are_errors_not_ends(void **state) {
    (void)state;
    static const char text[] = HEADER ".entry k() { ret; }\0.wrong";
    struct report report = {0};
    struct module *module;
    assert_int_equal(ptx_load("t.ptx", text, sizeof text - 1, &module, &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "character that has no place in PTX"));
    report_free(&report);
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    char *text = malloc(200000);
    strcpy(text, HEADER ".entry k() { .reg .b32 r; mov.b32 r, ");
    memset(text + strlen(text), '(', 50000);
    text[strlen(HEADER) + 37 + 50000] = '\0';
    assert_refused(text, "expression nested deeper than 64");
    strcpy(text, HEADER ".entry k() ");
    size_t start = strlen(text);
    memset(text + start, '{', 100000);
    text[start + 100000] = '\0';
    assert_refused(text, "blocks are nested deeper than 64");
    free(text);
}

static void a_report_is_not_required(void **state) {
    (void)state;
    struct module *module;
    assert_int_equal(ptx_load("t.ptx", "x", 1, &module, NULL), STATUS_INVALID);
    assert_null(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_show_place_line_and_caret),
        cmocka_unit_test(unsupported_things_are_all_listed_once),
        cmocka_unit_test(reading_goes_on_after_an_error),
        cmocka_unit_test(errors_stop_at_a_limit),
        cmocka_unit_test(wrong_instructions),
        cmocka_unit_test(wrong_modules),
        cmocka_unit_test(nul_bytes_are_errors_not_ends),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(a_report_is_not_required),
    };
    return cmocka_run_group_tests_name("ptx_errors", tests, NULL, NULL);
}

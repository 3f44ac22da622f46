/* SPDX-License-Identifier: Apache-2.0 */
/* What an access to local memory is: a value that found no register, the program's own, or nobody can tell. The programs are
 * written so that the answer is known from how they are made. */
#include "native_fixture.h"

#include "study/why.h"

/* As compilers for Fermi begin: the stack pointer is what c[1][0x100] has. */
#define BEGIN "\tcode for sm_20\n\t\tFunction : k\n\t.params 4\n\t.local 64\n\tMOV R1, c [0x1] [0x100];\n"
#define FIXED "\tSTL [R1+0x8], R2;\n\tLDL R3, [R1+0x8];\n"
#define END "\tEXIT;\n"

/* Kinds of the accesses to local memory, in the order of the code, as letters. */
static const char *kinds_of(const struct module *module, char *out, unsigned size) {
    static const char letters[WHY_LOCAL_KINDS] = {
        [WHY_LOCAL_PROGRAM] = 'p', [WHY_LOCAL_SPILL] = 's', [WHY_LOCAL_UNCLEAR] = 'u'};
    struct arena arena = {0};
    const uint8_t *kinds = why_tell_local(module, &arena);
    unsigned used = 0;
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        if (kinds[pc] && used + 1 < size)
            out[used++] = letters[kinds[pc]];
    out[used] = 0;
    arena_free(&arena);
    return out;
}

static void assert_kinds(const char *settings, const char *name, const char *text, size_t length,
                         const char *expected) {
    struct fixture f;
    char letters[64];
    fixture_open(&f, settings, 64);
    if (device_load(f.device, name, text, length, &f.program, &f.report) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    assert_string_equal(kinds_of(program_module(f.program), letters, sizeof letters), expected);
    finish(&f);
}

static void assert_fermi(const char *text, const char *expected) {
    assert_kinds("base: gtx480\nsm.count: 1\n", "k.sass", text, strlen(text), expected);
}

static void places_beside_the_stack_pointer_are_spills_where_no_address_is_computed(void **state) {
    (void)state;
    assert_fermi(BEGIN FIXED END, "ss");
    assert_fermi(BEGIN "\tIADD R1, R1, -0x10;\n" FIXED END, "ss"); /* a frame of its own */
}

static void beside_an_indexed_array_nobody_can_tell(void **state) {
    (void)state;
    assert_fermi(BEGIN FIXED "\tLDL R5, [R4];\n" END, "uup");
    assert_fermi(BEGIN "\tIADD R4, R1, 0x10;\n" FIXED END, "uu"); /* its address may go anywhere */
}

static void a_register_that_is_no_stack_pointer_may_go_anywhere(void **state) {
    (void)state;
    assert_fermi(BEGIN "\tSTL [0x8], R2;\n\tLDL R1, [0x8];\n\tIADD R4, R1, 0x10;\n\tST [R4], R1;\n" END, "ss");
}

/* tests/native/turing/calls.ptx hands an array with the arguments of printf to a call: NVIDIA's compiler stores one, there. */
static void arguments_that_a_call_is_given_the_address_of_are_not_clear(void **state) {
    struct arena arena = {0};
    struct report report = {0};
    char *bytes;
    size_t length;
    (void)state;
    if (file_read(HEDDLE_SOURCE_DIR "/tests/native/turing/calls_86.cubin", 1 << 20, &arena, &bytes, &length, &report))
        fail_msg("%s", report_text(&report));
    assert_kinds("base: gtx480\nsm.count: 1\n", "calls.cubin", bytes, length, "u");
    arena_free(&arena);
}

/* Eight values that are all alive, and two words of local memory that the program names. */
static const char ptx[] = ".version 7.8\n.target sm_70\n.address_size 64\n"
                          ".visible .entry k(.param .u64 p)\n{\n.local .align 4 .b8 own[8];\n.reg .b32 %r<24>;\n"
                          ".reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\n"
                          "ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1+4];\nld.global.u32 %r3, [%rd1+8];\n"
                          "ld.global.u32 %r4, [%rd1+12];\nld.global.u32 %r5, [%rd1+16];\nld.global.u32 %r6, "
                          "[%rd1+20];\nld.global.u32 %r7, [%rd1+24];\nld.global.u32 %r8, [%rd1+28];\n"
                          "st.local.u32 [own+4], %r1;\nld.local.u32 %r9, [own+4];\n"
                          "st.global.u32 [%rd1], %r8;\nst.global.u32 [%rd1+4], %r7;\nst.global.u32 [%rd1+8], %r6;\n"
                          "st.global.u32 [%rd1+12], %r5;\nst.global.u32 [%rd1+16], %r4;\nst.global.u32 [%rd1+20], "
                          "%r3;\nst.global.u32 [%rd1+24], %r2;\nst.global.u32 [%rd1+28], %r9;\nret;\n}\n";

static unsigned count(const char *letters, char letter) {
    unsigned sum = 0;
    for (; *letters; letters++)
        sum += *letters == letter;
    return sum;
}

static void code_made_of_ptx_tells_spills_from_the_programs_variables(void **state) {
    struct fixture f;
    char letters[64];
    (void)state;
    assert_kinds("base: gtx480\nsm.count: 1\n", "k.ptx", ptx, strlen(ptx), "pp");
    assert_kinds("base: gtx480\nsm.count: 1\nisa: fermi\n", "k.ptx", ptx, strlen(ptx), "pp");
    fixture_open(&f, "base: gtx480\nsm.count: 1\nisa: fermi\nsm.max_registers_per_thread: 7\n", 64);
    assert_int_equal(device_load(f.device, "k.ptx", ptx, strlen(ptx), &f.program, &f.report), STATUS_OK);
    kinds_of(program_module(f.program), letters, sizeof letters);
    assert_int_equal(count(letters, 'p'), 2);
    assert_int_equal(count(letters, 'u'), 0);
    assert_in_range(count(letters, 's'), 2, 62); /* at least one value goes there, and comes back */
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_beside_the_stack_pointer_are_spills_where_no_address_is_computed),
        cmocka_unit_test(beside_an_indexed_array_nobody_can_tell),
        cmocka_unit_test(a_register_that_is_no_stack_pointer_may_go_anywhere),
        cmocka_unit_test(arguments_that_a_call_is_given_the_address_of_are_not_clear),
        cmocka_unit_test(code_made_of_ptx_tells_spills_from_the_programs_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

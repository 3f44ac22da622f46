/* SPDX-License-Identifier: Apache-2.0 */
/* PTX in native code leaves the memory that PTX leaves: what the way there has to keep in mind, program by program. */
#include "timed_programs.h"

#include "isa/analysis.h"
#include "ptx/ptx.h"
#include "lower/lower.h"
#include "sass/native.h"

enum { RESULTS = 8192 };

/* 64-bit words at the end of the buffer, which programs read and leave alone. */
static const uint64_t numbers[] = {0,
                                   1,
                                   UINT64_C(0xffffffffffffffff),
                                   UINT64_C(0x8000000000000000),
                                   UINT64_C(0x7fffffffffffffff),
                                   UINT64_C(0x0000008000000001), /* above a tie by its last bit */
                                   UINT64_C(0x8000008000000001),
                                   UINT64_C(0x8000008000000000), /* a tie */
                                   UINT64_C(0x8000018000000000),
                                   UINT64_C(0x0100000180000001),
                                   UINT64_C(0x00000000ffffffff),
                                   UINT64_C(0xfffffffffffffff3),
                                   7,
                                   UINT64_C(0xfffffffffffffff9),
                                   UINT64_C(0x123456789abcdef1),
                                   100};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static void prepare(struct fixture *f) {
    for (uint32_t i = 0; i < WORDS; i++)
        f->memory[i] = i < RESULTS ? 0 : i * 2654435761u;
    memcpy(f->memory + WORDS - 2 * NUMBERS, numbers, sizeof numbers);
}

struct text {
    const char *name, *text;
    bool narrow; /* a whole module with addresses of 32 bits, whose kernel takes two of them */
};

static void run(struct fixture *f, const char *settings, const struct text *text) {
    fixture_open(f, settings, WORDS);
    if (!text->narrow)
        load(f, text->text);
    else if (device_load(f->device, "test.ptx", text->text, strlen(text->text), &f->program, &f->report))
        fail_msg("%s", report_text(&f->report));
    prepare(f);
    const uint32_t low = (uint32_t)f->buffer, pair[] = {low, low};
    const struct launch launch = {.program = f->program,
                                  .kernel = module_find(program_module(f->program), "k"),
                                  .grid = {2, 1, 1},
                                  .block = {64, 1, 1},
                                  .params = text->narrow ? (const void *)pair : &f->buffer,
                                  .work_dim = 1};
    if (device_launch(f->device, &launch, &f->result, &f->report) != STATUS_OK)
        fail_msg("%s: %s", settings, report_text(&f->report));
}

/* Reads through one pointer, %r10, and writes its word of another, %r11: what is read is known to stay. %r1: thread, %r2:
 * block, %r12: an address for each thread. */
#define READS(code)                                                                                                    \
    ".version 7.8\n.target sm_70\n.address_size 32\n.visible .entry k(.param .u32 .ptr .global .align 4 p, .param "    \
    ".u32 "                                                                                                            \
    ".ptr .global .align 4 q)\n{\n.reg .b32 %r<16>;\nld.param.u32 %r10, [p];\nld.param.u32 %r11, [q];\nmov.u32 %r1, "  \
    "%tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 64, %r1;\nshl.b32 %r15, %r3, 2;\nadd.u32 %r11, %r11, "      \
    "%r15;\nadd.u32 %r10, %r10, 32768;\nadd.u32 %r12, %r10, %r15;\n" code "\nst.global.u32 [%r11], %r4;\nret;\n}\n"

/* %rd5: the first of the numbers; %r4: one for the thread, %r5 another */
#define PICK                                                                                                           \
    "add.s64 %rd5, %rd1, 65408;\nand.b32 %r4, %r1, 15;\nmul.wide.u32 %rd6, %r4, 8;\nadd.s64 %rd6, %rd5, %rd6;\n"       \
    "shr.u32 %r5, %r3, 2;\nand.b32 %r5, %r5, 15;\nmul.wide.u32 %rd7, %r5, 8;\nadd.s64 %rd7, %rd5, %rd7;\n"

static const struct text all[] = {
    {"a load beside one that is the same for all threads",
     READS("shl.b32 %r6, %r2, 2;\nadd.u32 %r6, %r10, %r6;\nld.global.u32 %r4, [%r12];\nld.global.u32 %r5, [%r6+8];\n"
           "mad.lo.u32 %r4, %r4, 3, %r5;"),
     true},
    {"two pairs of such loads, addresses that end there",
     READS("add.u32 %r6, %r2, 5;\nshl.b32 %r6, %r6, 2;\nadd.u32 %r6, %r10, %r6;\nld.global.u32 %r4, [%r12];\n"
           "ld.global.u32 %r5, [%r6+400];\nadd.u32 %r7, %r2, 9;\nshl.b32 %r7, %r7, 2;\nadd.u32 %r7, %r10, %r7;\n"
           "add.u32 %r13, %r12, 64;\nld.global.u32 %r8, [%r13+8];\nld.global.u32 %r9, [%r7];\nmad.lo.u32 %r4, %r4, 3, "
           "%r5;\nmad.lo.u32 %r4, %r8, %r9, %r4;"),
     true},
    {"64-bit integers to f32",
     KERNEL("",
            PICK "ld.global.u64 %rd8, [%rd6];\ncvt.rn.f32.u64 %f1, %rd8;\ncvt.rn.f32.s64 %f2, %rd8;\ncvt.rz.f32.u64 "
                 "%f3, %rd8;\nmul.lo.u32 %r6, %r3, 12;\ncvt.u64.u32 %rd9, %r6;\nadd.s64 %rd9, %rd1, %rd9;\n"
                 "st.global.f32 [%rd9], %f1;\nst.global.f32 [%rd9+4], %f2;\nst.global.f32 [%rd9+8], %f3;\nret;"),
     false},
    {"quotients and remainders with signs",
     KERNEL("",
            PICK "ld.global.u32 %r6, [%rd6];\nld.global.u32 %r7, [%rd7];\nrem.s32 %r8, %r6, %r7;\ndiv.s32 %r9, %r6, "
                 "%r7;\nrem.u32 %r10, %r6, %r7;\nshl.b32 %r11, %r3, 4;\ncvt.u64.u32 %rd9, %r11;\nadd.s64 %rd9, %rd1, "
                 "%rd9;\nst.global.u32 [%rd9], %r8;\nst.global.u32 [%rd9+4], %r9;\nst.global.u32 [%rd9+8], %r10;\n"
                 "rem.s32 %r12, %r6, -7;\nst.global.u32 [%rd9+12], %r12;\nret;"),
     false},
    {"64-bit quotients and remainders",
     KERNEL("", PICK "ld.global.u64 %rd8, [%rd6];\nld.global.u64 %rd9, [%rd7];\nrem.s64 %rd10, %rd8, %rd9;\ndiv.s64 "
                     "%rd11, %rd8, %rd9;\nmul.wide.u32 %rd12, %r3, 16;\nadd.s64 %rd12, %rd1, %rd12;\nst.global.u64 "
                     "[%rd12], %rd10;\nst.global.u64 [%rd12+8], %rd11;\nret;"),
     false},
    {"a number below zero that is added to nothing",
     KERNEL("", "and.b32 %r4, %r1, 0;\nadd.s32 %r5, %r4, -127;\nst.global.u32 [%rd3], %r5;\nret;"), false},
    {"a register that some lanes write under a guard",
     KERNEL("",
            "mov.u32 %r4, 5;\nmov.u32 %r6, 0;\nand.b32 %r5, %r1, 3;\nsetp.eq.u32 %p1, %r5, 1;\n"
            "L: @%p1 add.u32 %r4, %r4, 10;\nsetp.eq.u32 %p2, %r5, 2;\n@%p2 mov.u32 %r4, %r6;\nadd.u32 %r6, %r6, 1;\n"
            "setp.lt.u32 %p3, %r6, %r5;\n@%p3 bra L;\nadd.u32 %r7, %r4, %r6;\nst.global.u32 [%rd3], %r7;\nret;"),
     false},
    {"a value that a write under a guard may leave, and much work before it",
     KERNEL("",
            "mad.lo.u32 %r4, %r3, 3, 11;\nmul.lo.u32 %r7, %r1, %r1;\nxor.b32 %r8, %r7, %r3;\nadd.u32 %r9, %r8, %r7;\n"
            "mul.lo.u32 %r10, %r9, %r8;\nand.b32 %r11, %r10, 12;\nsetp.eq.u32 %p2, %r11, 4;\n@%p2 mov.u32 %r4, %r1;\n"
            "mul.lo.u32 %r12, %r1, %r3;\nxor.b32 %r13, %r12, %r3;\nand.b32 %r14, %r13, 2;\nsetp.eq.u32 %p3, %r14, 0;\n"
            "@!%p3 add.u32 %r4, %r1, 77;\nst.global.u32 [%rd3], %r4;\nret;"),
     false},
    {"short sides of a branch that keep the register of the other",
     KERNEL("", "mov.u32 %r4, %r3;\nmov.u32 %r9, 3;\nand.b32 %r5, %r1, 1;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra A;\n"
                "add.u32 %r4, %r4, 100;\nadd.u32 %r9, %r9, %r4;\nA: mad.lo.u32 %r6, %r4, 7, %r9;\n"
                "setp.gt.u32 %p2, %r1, 40;\n@%p2 bra B;\nadd.u32 %r6, %r6, 1;\nB: st.global.u32 [%rd3], %r6;\nret;"),
     false},
    {"guarded work at the end of a side that others wait for",
     KERNEL("", "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\nL: and.b32 %r6, %r1, 7;\nsetp.gt.u32 %p1, %r6, %r5;\n@!%p1 bra S;\n"
                "setp.eq.u32 %p2, %r6, 5;\nadd.u32 %r7, %r5, 1;\nmul.lo.u32 %r8, %r7, %r7;\nxor.b32 %r8, %r8, %r3;\n"
                "add.u32 %r8, %r8, 3;\nadd.u32 %r4, %r4, %r8;\nshl.b32 %r8, %r8, 1;\nxor.b32 %r4, %r4, %r8;\n"
                "shl.b32 %r8, %r8, 1;\nxor.b32 %r4, %r4, %r8;\nshl.b32 %r8, %r8, 1;\nxor.b32 %r4, %r4, %r8;\n"
                "shl.b32 %r8, %r8, 1;\nxor.b32 %r4, %r4, %r8;\n@%p2 add.u32 %r4, %r4, 1000;\nS: add.u32 %r4, %r4, "
                "1;\nadd.u32 %r5, %r5, 1;\n"
                "setp.lt.u32 %p3, %r5, 9;\n@%p3 bra L;\nst.global.u32 [%rd3], %r4;\nret;"),
     false},
    {"a choice in a loop of a number and of what was made of the choice before, in two steps",
     KERNEL("",
            "mov.u32 %r4, %r3;\nmov.u32 %r5, 0;\nmad.lo.u32 %r9, %r1, 6, 5;\nL: shl.b32 %r6, %r5, 4;\nsetp.gt.u32 %p1, "
            "%r1, %r6;\nmul.lo.u32 %r7, %r9, %r4;\nadd.u32 %r8, %r7, 2;\nselp.b32 %r4, 1, %r8, %p1;\nadd.u32 %r5, "
            "%r5, 1;\nsetp.lt.u32 %p2, %r5, 5;\n@%p2 bra L;\nst.global.u32 [%rd3], %r4;\nret;"),
     false},
    {"the same with logic, and the number on the other side",
     KERNEL("",
            "mov.u32 %r4, %r3;\nmov.u32 %r5, 0;\nmad.lo.u32 %r9, %r1, 6, 5;\nL: shl.b32 %r6, %r5, 4;\nsetp.gt.u32 %p1, "
            "%r1, %r6;\nxor.b32 %r7, %r9, %r4;\nor.b32 %r8, %r7, %r5;\nadd.u32 %r10, %r8, %r9;\nselp.b32 %r4, %r10, "
            "%r9, %p1;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 5;\n@%p2 bra L;\nst.global.u32 [%rd3], "
            "%r4;\nret;"),
     false},
};

static void compare(unsigned i, const char *settings) {
    struct fixture ptx, native;
    run(&ptx, "base: gtx480\nsm.count: 1\n", &all[i]);
    run(&native, settings, &all[i]);
    for (uint32_t k = 0; k < WORDS; k++)
        if (ptx.memory[k] != native.memory[k])
            fail_msg("%s: word %u is %08x, not %08x", all[i].name, k, native.memory[k], ptx.memory[k]);
    finish(&ptx);
    finish(&native);
}

static void fermi_code_leaves_the_memory_of_ptx(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        compare(i, "base: gtx480\nsm.count: 1\nisa: fermi\n");
}

static void tesla_code_leaves_the_memory_of_ptx(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!all[i].narrow)
            compare(i, "base: gtx480\nsm.count: 1\nisa: tesla\n");
}

static void code_of_sm_86_leaves_the_memory_of_ptx(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!all[i].narrow)
            compare(i, "base: rtx3070\nsm.count: 1\nisa: native\n");
}

/* What is said of an instruction of native code is said of the line of PTX that it was made of. */
static void native_code_is_in_the_lines_of_its_ptx(void **state) {
    (void)state;
    static const char *const settings[] = {"base: gtx480\nsm.count: 1\nisa: fermi\n",
                                           "base: gtx480\nsm.count: 1\nisa: tesla\n"};
    for (unsigned i = 0; i < 2; i++) {
        struct fixture f;
        unsigned stores = 0;
        fixture_open(&f, settings[i], 64);
        load(&f, ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"
                 "st.global.u32 [%rd1], 5;\nret;\n}\n");
        const struct module *module = program_module(f.program);
        for (uint32_t pc = 0; pc < module->code_count; pc++)
            if (module->code[pc].op == OP_ST) {
                assert_int_equal(module->code[pc].text_line, 8); /* three lines are in front of the kernel */
                stores++;
            }
        assert_true(stores > 0);
        finish(&f);
    }
}

/* The kernel in native code. */
static struct native_program lower(const struct text *text) {
    struct native_program program = {.arena = {0}};
    const struct lowering lowering = {.isa = NATIVE_FERMI, .registers = 63};
    struct module *module = NULL;
    struct report report = {0};
    struct arena arena = {0};
    const char *whole = text->narrow
                            ? text->text
                            : arena_printf(&arena, ".version 7.8\n.target sm_70\n.address_size 64\n%s", text->text);
    enum status status = ptx_load("test.ptx", whole, strlen(whole), &module, &report);
    if (!status)
        status = analyse(module, &report);
    if (!status)
        status = native_lower(module, "k", &lowering, &program, &report);
    if (status)
        fail_msg("%s: %s", text->name, report_text(&report));
    module_free(module);
    arena_free(&arena);
    return program;
}

/* What the hardware would do with it, and the way back does not show: two loads in one instruction write the first register
 * before the second address is read, and a token is popped by all lanes or none. */
static void fermi_code_keeps_its_rules(void **state) {
    (void)state;
    unsigned pairs = 0, pops = 0;
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct native_program program = lower(&all[i]);
        for (unsigned k = 0; k < program.kernels[0].code_count; k++) {
            const struct native_inst *inst = &program.kernels[0].code[k];
            if (inst->row == FERMI_LD_LDU) {
                assert_int_not_equal(inst->operands[0].reg, inst->operands[3].reg);
                pairs++;
            }
            if (inst->pops) {
                assert_int_equal(inst->guard, GUARD_NONE);
                pops++;
            }
        }
        native_free(&program);
    }
    assert_true(pairs >= 3 && pops);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fermi_code_keeps_its_rules),
        cmocka_unit_test(fermi_code_leaves_the_memory_of_ptx),
        cmocka_unit_test(tesla_code_leaves_the_memory_of_ptx),
        cmocka_unit_test(code_of_sm_86_leaves_the_memory_of_ptx),
        cmocka_unit_test(native_code_is_in_the_lines_of_its_ptx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

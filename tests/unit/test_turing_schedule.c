/* SPDX-License-Identifier: Apache-2.0 */
/* Our own code for sm_86: what scheduling, wide accesses and control bits must not change, and what they must do. */
#include "timed_programs.h"

#include "isa/analysis.h"
#include "lower/lower.h"
#include "ptx/ptx.h"
#include "sass/native.h"
#include "sass/turing.h"

/* A kernel, and how many accesses of 128 and 64 bits its code has. */
struct wide_text {
    const char *name, *text;
    unsigned quads, pairs;
};

#define SHARED(align) ".shared .align " align " .b8 s[2048];\n"
/* %r4: 16 bytes for each thread; %r5: those of another thread */
#define PLACES "mov.u32 %r6, s;\nmad.lo.u32 %r4, %r1, 16, %r6;\nxor.b32 %r15, %r1, 1;\nmad.lo.u32 %r5, %r15, 16, %r6;\n"
#define FOUR_STORES(by)                                                                                                \
    "mul.lo.u32 %r7, %r3, 7;\nmul.lo.u32 %r8, %r3, 11;\nmul.lo.u32 %r9, %r3, 13;\nmul.lo.u32 %r10, %r3, 17;\n"         \
    "st.shared.u32 [%r4+" by "], %r7;\nst.shared.u32 [%r4+" by "+4], %r8;\nst.shared.u32 [%r4+" by                     \
    "+8], %r9;\nst.shared.u32 [%r4+" by "+12], %r10;\n"
#define SUM_OF_FOUR                                                                                                    \
    "add.u32 %r15, %r11, %r12;\nxor.b32 %r2, %r13, %r14;\nadd.u32 %r15, %r15, %r2;\nst.global.u32 [%rd3], %r15;\n"     \
    "ret;"
#define FOUR_LOADS(kind, a)                                                                                            \
    "ld." kind ".u32 %r11, [" a "];\nld." kind ".u32 %r12, [" a "+4];\nld." kind ".u32 %r13, [" a "+8];\nld." kind     \
    ".u32 %r14, [" a "+12];\n"

static const struct wide_text wides[] = {
    {"aligned to 16 bytes",
     KERNEL(SHARED("16"), PLACES FOUR_STORES("0") "bar.sync 0;\n" FOUR_LOADS("shared", "%r5") SUM_OF_FOUR), 2, 0},
    {"volatile",
     KERNEL(SHARED("16"), PLACES FOUR_STORES("0") "bar.sync 0;\n" FOUR_LOADS("volatile.shared", "%r5") SUM_OF_FOUR), 1,
     0},
    {"aligned to 8 bytes behind a word",
     KERNEL(".shared .align 4 .b8 w[4];\n" SHARED("4"),
            PLACES FOUR_STORES("0") "st.shared.u32 [w], %r7;\nbar.sync 0;\n" FOUR_LOADS("shared", "%r5") SUM_OF_FOUR),
     0, 2},
    {"a pointer of which nothing is known", KERNEL("", FOUR_LOADS("global", "%rd3+512") SUM_OF_FOUR), 0, 0},
    {"a stride of 8 bytes",
     KERNEL(SHARED("16"),
            "mov.u32 %r6, s;\nmad.lo.u32 %r4, %r1, 24, %r6;\nmad.lo.u32 %r5, %r1, 8, %r6;\nmov.u32 %r7, 5;\n"
            "mul.lo.u32 %r8, %r3, 11;\nmul.lo.u32 %r9, %r3, 3;\nst.shared.u32 [%r4], %r8;\nst.shared.u32 "
            "[%r4+4], %r9;\nbar.sync 0;\n" FOUR_LOADS("shared", "%r5") SUM_OF_FOUR),
     0, 3},
    {"a store between them that may be the same",
     KERNEL(SHARED("16"),
            PLACES FOUR_STORES("0") "bar.sync 0;\nld.shared.u32 %r11, [%r5];\nst.shared.u32 [%r4+4], %r3;\n"
                                    "ld.shared.u32 %r12, [%r5+4];\nld.shared.u32 %r13, [%r5+8];\nld.shared.u32 %r14, "
                                    "[%r5+12];\n" SUM_OF_FOUR),
     1, 1},
    {"a store between them to another word of theirs",
     KERNEL(SHARED("16"),
            PLACES FOUR_STORES(
                "0") "ld.shared.u32 %r11, [%r4];\nst.shared.u32 [%r4+16], %r3;\n"
                     "ld.shared.u32 %r12, [%r4+4];\nld.shared.u32 %r13, [%r4+8];\nst.shared.u32 [%r4+12], %r3;\n"
                     "ld.shared.u32 %r14, [%r4+12];\n" SUM_OF_FOUR),
     1, 1},
    {"a loop that moves by 16 bytes",
     KERNEL(
         SHARED("16"),
         PLACES FOUR_STORES("0") "bar.sync 0;\nmov.u32 %r2, 0;\nL: " FOUR_LOADS(
             "shared",
             "%r6") "add.u32 %r2, %r2, %r11;\n"
                    "add.u32 %r2, %r2, %r12;\nadd.u32 %r2, %r2, %r13;\nxor.b32 %r2, %r2, %r14;\nadd.u32 %r6, %r6, 16;\n"
                    "setp.lt.u32 %p1, %r6, 1024;\n@%p1 bra L;\nst.global.u32 [%rd3], %r2;\nret;"),
     2, 0},
    {"a loop that moves by 8 bytes",
     KERNEL(
         SHARED("16"),
         PLACES FOUR_STORES("0") "bar.sync 0;\nmov.u32 %r2, 0;\nL: " FOUR_LOADS(
             "shared",
             "%r6") "add.u32 %r2, %r2, %r11;\n"
                    "add.u32 %r2, %r2, %r12;\nadd.u32 %r2, %r2, %r13;\nxor.b32 %r2, %r2, %r14;\nadd.u32 %r6, %r6, 8;\n"
                    "setp.lt.u32 %p1, %r6, 1000;\n@%p1 bra L;\nst.global.u32 [%rd3], %r2;\nret;"),
     0, 4},
    {"guards that differ",
     KERNEL(SHARED("16"),
            PLACES FOUR_STORES(
                "0") "bar.sync 0;\nsetp.gt.u32 %p1, %r1, 9;\nmov.u32 %r11, 1;\nmov.u32 %r12, 2;\n"
                     "mov.u32 %r13, 3;\nmov.u32 %r14, 4;\n@%p1 ld.shared.u32 %r11, [%r5];\n@!%p1 ld.shared.u32 %r12, "
                     "[%r5+4];\n" SUM_OF_FOUR),
     1, 0},
    {"local memory",
     KERNEL(
         ".local .align 8 .b8 d[32];\n",
         "mov.u64 %rd4, d;\nmul.lo.u32 %r7, %r3, 7;\nmul.lo.u32 %r8, %r3, 11;\nst.local.u32 [%rd4+8], "
         "%r7;\nst.local.u32 "
         "[%rd4+12], %r8;\nand.b32 %r6, %r1, 1;\nmul.wide.u32 %rd5, %r6, 8;\nadd.s64 %rd5, %rd4, %rd5;\nld.local.u32 "
         "%r11, [%rd5];\nld.local.u32 %r12, [%rd5+4];\nld.local.u32 %r13, [%rd4+8];\nld.local.u32 %r14, "
         "[%rd4+12];\n" SUM_OF_FOUR),
     0, 3},
    {"loads past stores of the same and of other words",
     KERNEL("",
            "ld.global.u32 %r4, [%rd3];\nadd.u32 %r4, %r4, 5;\nst.global.u32 [%rd3], %r4;\nld.global.u32 %r5, [%rd3];\n"
            "mul.lo.u32 %r5, %r5, 3;\nst.global.u32 [%rd3], %r5;\nld.global.u32 %r6, [%rd3+4096];\nadd.u32 %r6, %r6, "
            "%r5;\n"
            "st.global.u32 [%rd3+8192], %r6;\nret;"),
     0, 0},
    {"stores through one pointer, loads through another",
     KERNEL("",
            "and.b32 %r4, %r1, 1;\nmul.wide.u32 %rd4, %r4, 0;\nadd.s64 %rd5, %rd3, %rd4;\nst.global.u32 [%rd3], %r3;\n"
            "ld.global.u32 %r5, [%rd5];\nadd.u32 %r5, %r5, 9;\nst.global.u32 [%rd5], %r5;\nld.global.u32 %r6, [%rd3];\n"
            "st.global.u32 [%rd3+4096], %r6;\nret;"),
     0, 0},
    {"shuffles, votes and barriers between accesses",
     KERNEL(
         SHARED("16"), PLACES
         "st.shared.u32 [%r4], %r3;\nbar.sync 0;\nld.shared.u32 %r7, [%r5];\nshfl.sync.bfly.b32 %r8, %r7, 1, 31, -1;\n"
         "setp.gt.u32 %p1, %r8, %r7;\nvote.sync.ballot.b32 %r9, %p1, -1;\nbar.sync 0;\nst.shared.u32 [%r5], %r9;\n"
         "bar.sync 0;\nld.shared.u32 %r10, [%r4];\nadd.u32 %r10, %r10, %r8;\nst.global.u32 [%rd3], %r10;\nret;"),
     0, 0},
};
enum { WIDES = sizeof wides / sizeof wides[0] };

static void run(struct fixture *f, const char *settings, const char *text) {
    fixture_open(f, settings, WORDS);
    load(f, text);
    for (uint32_t i = 0; i < WORDS; i++)
        f->memory[i] = i * 2654435761u;
    const struct launch launch = {.program = f->program,
                                  .kernel = module_find(program_module(f->program), "k"),
                                  .grid = {2, 1, 1},
                                  .block = {64, 1, 1},
                                  .params = &f->buffer,
                                  .work_dim = 1};
    if (device_launch(f->device, &launch, &f->result, &f->report) != STATUS_OK)
        fail_msg("%s: %s", settings, report_text(&f->report));
}

static void run_both(const char *name, const char *text) {
    struct fixture ptx, native;
    run(&ptx, "base: rtx3070\nsm.count: 1\n", text);
    run(&native, "base: rtx3070\nsm.count: 1\nisa: native\n", text);
    for (uint32_t k = 0; k < WORDS; k++)
        if (ptx.memory[k] != native.memory[k])
            fail_msg("%s: word %u is %08x, not %08x", name, k, native.memory[k], ptx.memory[k]);
    finish(&ptx);
    finish(&native);
}

static void scheduled_code_leaves_the_memory_of_ptx(void **state) {
    (void)state;
    for (unsigned i = 0; i < WIDES; i++)
        run_both(wides[i].name, wides[i].text);
}

/* False: it has what our own code has not. */
static bool lower(const char *name, const char *text, struct native_program *program) {
    const struct lowering lowering = {.isa = NATIVE_TURING, .sm = 86, .registers = 255, .wide_addresses = true};
    struct module *module = NULL;
    struct report report = {0};
    struct arena arena = {0};
    const char *whole = arena_printf(&arena, ".version 7.8\n.target sm_70\n.address_size 64\n%s", text);
    enum status status = ptx_load("test.ptx", whole, strlen(whole), &module, &report);
    if (!status)
        status = analyse(module, &report);
    if (!status)
        status = native_lower(module, "k", &lowering, program, &report);
    const bool is_refused = status && strstr(report_text(&report), "unsupported");
    if (status && !is_refused)
        fail_msg("%s: %s", name, report_text(&report));
    report_free(&report);
    module_free(module);
    arena_free(&arena);
    return !is_refused;
}

static struct turing_inst inst_at(const struct native_program *program, unsigned i) {
    struct turing_inst inst;
    assert_true(turing_decode(program->kernels[0].words[i], 86, i * TURING_INST_BYTES, &inst, NULL));
    return inst;
}

static void accesses_are_wide_where_that_is_known_to_be_aligned(void **state) {
    (void)state;
    for (unsigned i = 0; i < WIDES; i++) {
        struct native_program program = {.arena = {0}};
        assert_true(lower(wides[i].name, wides[i].text, &program));
        unsigned quads = 0, pairs = 0;
        for (unsigned k = 0; k < program.kernels[0].code_count; k++) {
            const struct turing_inst inst = inst_at(&program, k);
            const int size = turing_modifier(&inst, TURING_WORDS_SIZE);
            quads += size == 6, pairs += size == 5;
        }
        if (quads != wides[i].quads || pairs != wides[i].pairs)
            fail_msg("%s: %u accesses of 128 bits, not %u, %u of 64, not %u", wides[i].name, quads, wides[i].quads,
                     pairs, wides[i].pairs);
        native_free(&program);
    }
}

/* ---- control bits, by rules of their own ---- */

/* Registers an operand takes. */
static unsigned registers_of(const struct turing_inst *inst, unsigned n) {
    const struct turing_row *row = turing_row(inst->row);
    if (inst->operands[n].kind == TURING_MEMORY)
        return inst->operands[n].wide || turing_modifier(inst, TURING_WORDS_E) > 0 ? 2 : 1;
    const int size = turing_modifier(inst, TURING_WORDS_SIZE);
    if (row->unit == TURING_UNIT_MEM)
        return size == 5 ? 2 : size == 6 ? 4 : 1;
    if (row->unit == TURING_UNIT_FP64)
        return 2;
    return inst->row == TURING_IMAD_WIDE && (n == 0 || n == 4) ? 2 : 1;
}

enum touch { READS = 1, WRITES = 2 };

/* Whether an instruction reads or writes a register; of predicates reg is 256 and more. */
static unsigned touches(const struct turing_inst *inst, unsigned reg) {
    unsigned found = reg >= 256 && inst->guard == reg - 256 && reg != 256 + TURING_PT ? READS : 0;
    const struct turing_row *row = turing_row(inst->row);
    for (unsigned n = 0; row->operands[n].shape; n++) {
        const struct turing_operand *operand = &inst->operands[n];
        const bool is_predicate = operand->kind == TURING_PREDICATE && operand->reg != TURING_PT;
        const bool is_word =
            (operand->kind == TURING_REGISTER || operand->kind == TURING_MEMORY) && operand->reg != TURING_RZ;
        const bool is_it = is_predicate ? reg == 256u + operand->reg
                                        : is_word && reg >= operand->reg && reg < operand->reg + registers_of(inst, n);
        const bool is_written = row->operands[n].shape == TURING_SHAPE_OUT ||
                                (row->operands[n].shape == TURING_SHAPE_REGISTER && row->operands[n].at == 16);
        found |= !is_it ? 0u : is_written ? (unsigned)WRITES : (unsigned)READS;
    }
    return found;
}

static bool is_coupled(const struct turing_inst *inst) {
    const unsigned unit = turing_row(inst->row)->unit;
    return unit == TURING_UNIT_ALU || unit == TURING_UNIT_FMA;
}

/* The least that ptxas leaves between a writer and a reader. */
static unsigned least(const struct turing_inst *from, const struct turing_inst *to, unsigned reg) {
    const unsigned a = turing_row(from->row)->unit, b = turing_row(to->row)->unit;
    if (reg >= 256)
        return to->guard == reg - 256 || !is_coupled(to) ? 13 : b == TURING_UNIT_ALU ? 4 : 5;
    if (from->row == TURING_IMAD_WIDE && to->row == TURING_IMAD_WIDE)
        return 6;
    if (from->row == TURING_IMAD_WIDE)
        return 2;
    return !is_coupled(to) ? 4 : a == b ? 4 : 5;
}

struct law {
    const char *name;
    const struct turing_inst *code;
    const unsigned *path; /* instructions one after the other */
    unsigned count;
};

static void check_register(const struct law *law, unsigned at, unsigned reg) {
    const struct turing_inst *from = &law->code[law->path[at]];
    const unsigned did = touches(from, reg);
    unsigned cycles = 0, waited = 0;
    for (unsigned i = at + 1; i < law->count && did; i++) {
        const struct turing_inst *to = &law->code[law->path[i]];
        cycles += law->code[law->path[i - 1]].control.stall;
        waited |= to->control.wait_mask;
        const unsigned does = touches(to, reg);
        const bool after_write = did & WRITES && does, after_read = !(did & WRITES) && does & WRITES;
        if (!after_write && !after_read)
            continue;
        if (is_coupled(from)) {
            if (did & WRITES && does & READS && cycles < least(from, to, reg))
                fail_msg("%s: instruction %u reads %u after %u cycles of %u", law->name, law->path[i], reg, cycles,
                         law->path[at]);
            return;
        }
        const struct turing_control *control = &from->control;
        const unsigned barrier =
            after_read && control->read_barrier != TURING_NO_BARRIER ? control->read_barrier : control->write_barrier;
        if (barrier == TURING_NO_BARRIER || !(waited >> barrier & 1))
            fail_msg("%s: instruction %u does not wait for %u, which has %u", law->name, law->path[i], law->path[at],
                     reg);
        return;
    }
}

static void check_path(const struct law *law) {
    for (unsigned i = 0; i < law->count; i++) {
        const unsigned unit = turing_row(law->code[law->path[i]].row)->unit;
        for (unsigned reg = 0; reg < 263 && unit != TURING_UNIT_BRANCH && unit != TURING_UNIT_BAR; reg++)
            check_register(law, i, reg);
    }
}

/* All code in its order, and every loop twice. */
static bool check_kernel(const char *name, const char *text) {
    struct native_program program = {.arena = {0}};
    const bool is_there = lower(name, text, &program);
    const unsigned count = is_there ? program.kernels[0].code_count : 0;
    struct arena arena = {0};
    struct turing_inst *code = ARENA_ARRAY(&arena, struct turing_inst, count + 1);
    unsigned *path = ARENA_ARRAY(&arena, unsigned, 2 * count + 1);
    struct law law = {.name = name, .code = code, .path = path};
    for (unsigned i = 0; i < count; i++) {
        code[i] = inst_at(&program, i);
        if (code[i].control.stall == 1 && !code[i].control.stays)
            fail_msg("%s, %u: a warp that yields does not issue in the next cycle, and a stall of 1 says that it does",
                     name, i);
    }
    for (unsigned i = 0; i < count; i++) {
        path[law.count++] = i;
        const bool leaves = (code[i].row == TURING_BRA || code[i].row == TURING_EXIT) && code[i].guard == TURING_PT;
        if (leaves || i + 1 == count) {
            check_path(&law);
            law.count = 0;
        }
    }
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; code[i].row == TURING_BRA && turing_row(TURING_BRA)->operands[k].shape; k++) {
            if (turing_row(TURING_BRA)->operands[k].shape != TURING_SHAPE_TARGET ||
                code[i].operands[k].value > code[i].address)
                continue;
            law.count = 0;
            for (unsigned turn = 0; turn < 2; turn++)
                for (unsigned n = (unsigned)(code[i].operands[k].value / TURING_INST_BYTES); n <= i; n++)
                    path[law.count++] = n;
            check_path(&law);
        }
    arena_free(&arena);
    native_free(&program);
    return is_there;
}

static void results_are_waited_for(void **state) {
    (void)state;
    unsigned checked = 0;
    for (unsigned i = 0; i < WIDES; i++)
        checked += check_kernel(wides[i].name, wides[i].text);
    for (unsigned i = 0; i < sizeof programs / sizeof programs[0]; i++)
        checked += check_kernel(programs[i].name, programs[i].text);
    assert_true(checked > WIDES);
}

/* Two loads are under way before the first result is read, and a register that two instructions read is kept between them. */
static void loads_come_first_and_operands_are_kept(void **state) {
    (void)state;
    struct native_program program = {.arena = {0}};
    const char *text =
        KERNEL("", "ld.global.f32 %f1, [%rd3];\nmul.f32 %f3, %f1, %f1;\nld.global.f32 %f2, [%rd3+4096];\nfma.rn.f32 "
                   "%f4, %f2, %f3, %f2;\nfma.rn.f32 %f5, %f2, %f4, %f3;\nst.global.f32 [%rd3], %f5;\nret;");
    assert_true(lower("order", text, &program));
    unsigned loads = 0, before = 0, reused = 0;
    for (unsigned i = 0; i < program.kernels[0].code_count; i++) {
        const struct turing_inst inst = inst_at(&program, i);
        loads += inst.row == TURING_LDG;
        before = inst.row == TURING_FMUL ? loads : before;
        reused += inst.control.reuse != 0;
    }
    assert_int_equal(before, 2);
    assert_true(reused > 0);
    native_free(&program);
}

/* ---- barriers of the warp ---- */

struct loop_text {
    const char *name, *text;
    unsigned barriers; /* BSSY */
};

#define LOOP(limit)                                                                                                    \
    "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\nL: mad.lo.u32 %r5, %r5, 3, %r3;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, "       \
    "%r4, " limit ";\n@%p1 bra L;\n"
#define KEEP "st.global.u32 [%rd3], %r5;\nret;"
/* A side that is too long for guards. */
#define LONG_SIDE                                                                                                      \
    "mul.lo.u32 %r5, %r5, %r3;\nxor.b32 %r5, %r5, %r1;\nmul.lo.u32 %r5, %r5, %r3;\nxor.b32 %r5, %r5, 5;\n"             \
    "mul.lo.u32 %r5, %r5, %r1;\nxor.b32 %r5, %r5, %r3;\nmul.lo.u32 %r5, %r5, %r5;\nxor.b32 %r5, %r5, 77;\n"            \
    "mul.lo.u32 %r5, %r5, %r3;\nxor.b32 %r5, %r5, 3;\n"

static const struct loop_text loops[] = {
    {"a loop whose count is a number", KERNEL("", LOOP("9") KEEP), 0},
    {"a loop whose count is that of the block", KERNEL("", "add.u32 %r6, %r2, 3;\n" LOOP("%r6") KEEP), 0},
    {"a loop whose count is that of the thread", KERNEL("", "and.b32 %r6, %r1, 7;\n" LOOP("%r6") KEEP), 1},
    {"a loop whose count is loaded",
     KERNEL("", "ld.global.u32 %r6, [%rd1+32768];\nand.b32 %r6, %r6, 7;\n" LOOP("%r6") KEEP), 1},
    {"a branch by the block",
     KERNEL("", "mov.u32 %r5, %r3;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra S;\n" LONG_SIDE "S: " KEEP), 0},
    {"a branch by the thread",
     KERNEL("", "mov.u32 %r5, %r3;\nsetp.lt.u32 %p2, %r1, 9;\n@%p2 bra S;\n" LONG_SIDE "S: " KEEP), 1},
    {"a loop that one side of such a branch goes through",
     KERNEL("", "mov.u32 %r5, %r3;\nsetp.lt.u32 %p2, %r1, 9;\n@%p2 bra S;\n" LOOP("5") LONG_SIDE "S: " KEEP), 1},
    {"a loop whose count some lanes wrote before it",
     KERNEL("", "mov.u32 %r5, %r3;\nmov.u32 %r6, 4;\nsetp.lt.u32 %p2, %r1, 9;\n@%p2 bra S;\n" LONG_SIDE
                "mov.u32 %r6, 7;\nS: " LOOP("%r6") KEEP),
     2},
    {"a loop that goes on from where lanes left another",
     KERNEL("",
            "and.b32 %r6, %r1, 7;\nmov.u32 %r7, 0;\nmov.u32 %r5, 0;\nK: add.u32 %r7, %r7, 1;\nadd.u32 %r5, %r5, %r1;\n"
            "setp.lt.u32 %p2, %r7, %r6;\n@%p2 bra K;\nmov.u32 %r4, %r7;\nM: mad.lo.u32 %r5, %r5, 3, %r3;\n"
            "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 12;\n@%p1 bra M;\n" KEEP),
     2},
};

static void lanes_that_agree_need_no_barrier(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        struct native_program program = {.arena = {0}};
        unsigned barriers = 0, ends = 0;
        assert_true(lower(loops[i].name, loops[i].text, &program));
        for (unsigned k = 0; k < program.kernels[0].code_count; k++) {
            const struct turing_inst inst = inst_at(&program, k);
            barriers += inst.row == TURING_BSSY, ends += inst.row == TURING_BSYNC;
        }
        if (barriers != loops[i].barriers || ends != barriers)
            fail_msg("%s: %u BSSY, not %u, and %u BSYNC", loops[i].name, barriers, loops[i].barriers, ends);
        native_free(&program);
        run_both(loops[i].name, loops[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scheduled_code_leaves_the_memory_of_ptx),
        cmocka_unit_test(accesses_are_wide_where_that_is_known_to_be_aligned),
        cmocka_unit_test(results_are_waited_for),
        cmocka_unit_test(loads_come_first_and_operands_are_kept),
        cmocka_unit_test(lanes_that_agree_need_no_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

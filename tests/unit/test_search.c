/* SPDX-License-Identifier: Apache-2.0 */
/* cond_acc and tree_traverse [002 §7.1, §7.2.1] against the same in plain code, over predicates, sizes, spaces and member
 * masks; what is refused of them. */
#include "timed_programs.h"

#include "base/bits.h"

enum { WARPS = 64, THREADS = 64, ALL_PATTERNS = 1 << 17, FEW_PATTERNS = 1 << 13 };

/* Lanes of pattern i: every value of one half of the warp beside mixed ones of the other; bit 16 says which half. */
static uint32_t pattern(uint32_t i) {
    const uint32_t half = i & 0xffff, other = i * UINT32_C(2654435761) >> 16;
    return i & 0x10000 ? half << 16 | other : other << 16 | half;
}

/* Every third pattern is of some lanes only. */
static uint32_t members(uint32_t i) { return i % 3 ? UINT32_MAX : i * UINT32_C(0x85ebca6b) | 1; }

/* Warps take patterns in turn. %r4: the pattern's number; %r2: the lane; %p2: its predicate; %r11: the members, others skip
 * by a branch; %p7: false where the two ways differ. Words of the buffer: wrong lanes; sum of %r28; patterns. */
static const char before[] =
    ".visible .entry k(.param .u64 p)\n{\n.shared .align 8 .b8 s[2048];\n.reg .pred %p<8>;\n.reg .b16 %h<8>;\n"
    ".reg .b32 %r<32>, %w<8>;\n.reg .b64 %rd<16>, %d<8>;\nld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1+8];\n"
    "mov.u32 %r30, %tid.x;\nmov.u32 %r31, %ctaid.x;\nmov.u32 %r29, %ntid.x;\nmad.lo.u32 %r31, %r31, %r29, %r30;\n"
    "shr.u32 %r4, %r31, 5;\nmov.u32 %r2, %laneid;\nmov.u32 %r3, 0;\nmov.u32 %r28, 0;\n"
    /* regions of 512 bytes for each warp: in shared memory by its number in the block, or in the buffer */
    "shr.u32 %r12, %r30, 5;\nmul.wide.u32 %rd2, %r12, 512;\nmov.u64 %rd6, s;\n$generic_base"
    "add.u64 %rd2, %rd2, %rd6;\n$global_base"
    "add.u64 %rd3, %rd2, 256;\nmul.wide.u32 %rd6, %r2, $bytes;\nadd.u64 %rd4, %rd2, %rd6;\nadd.u64 %rd5, %rd3, %rd6;\n"
    "L: setp.ge.u32 %p0, %r4, %r1;\n@%p0 bra END;\n"
    "mul.lo.u32 %r6, %r4, 2654435761;\nshr.u32 %r6, %r6, 16;\nand.b32 %r7, %r4, 65535;\nshl.b32 %r8, %r6, 16;\n"
    "or.b32 %r8, %r8, %r7;\nshl.b32 %r9, %r7, 16;\nor.b32 %r9, %r9, %r6;\nand.b32 %r10, %r4, 65536;\n"
    "setp.ne.u32 %p1, %r10, 0;\nselp.b32 %r5, %r9, %r8, %p1;\nshr.u32 %r12, %r5, %r2;\nand.b32 %r12, %r12, 1;\n"
    "setp.ne.u32 %p2, %r12, 0;\nrem.u32 %r12, %r4, 3;\nsetp.eq.u32 %p3, %r12, 0;\nmul.lo.u32 %r11, %r4, 0x85ebca6b;\n"
    "or.b32 %r11, %r11, 1;\nselp.b32 %r11, %r11, -1, %p3;\nshr.u32 %r12, %r11, %r2;\nand.b32 %r12, %r12, 1;\n"
    "setp.eq.u32 %p4, %r12, 0;\nsetp.eq.u32 %p7, %r2, %r2;\nsetp.eq.u32 %p5, %r2, 0;\n";
static const char after[] = "selp.u32 %r12, 0, 1, %p7;\nadd.u32 %r3, %r3, %r12;\nadd.u32 %r4, %r4, 64;\nbra L;\n"
                            "END: red.global.add.u32 [%rd1], %r3;\n@%p5 red.global.add.u32 [%rd1+4], %r28;\nret;\n}\n";

/* Lanes put their number, complemented, into both regions; accumulate in both ways; and compare their places. */
static const char accumulates[] =
    "not.b32 %w1, %r2;\nmad.lo.u32 %w2, %r4, 0x9e3779b1, %r2;\ncvt.u16.u32 %h1, %w1;\ncvt.u16.u32 %h2, %w2;\n"
    "mov.b64 %d1, {%w1, %r2};\nmov.b64 %d2, {%w2, %r4};\nst.$space.$type [%rd4], %$v1;\nst.$space.$type [%rd5], %$v1;\n"
    "bar.warp.sync -1;\n@%p4 bra SKIP;\ncond_acc.sync$as.$type %r20, [%rd2], %p2, %$v2, %r11;\n"
    "vote.sync.ballot.b32 %r21, %p2, %r11;\npopc.b32 %r22, %r21;\n@!%p2 bra NOT;\nmov.u32 %r23, %lanemask_lt;\n"
    "and.b32 %r23, %r23, %r21;\npopc.b32 %r23, %r23;\nmul.wide.u32 %rd6, %r23, $bytes;\nadd.u64 %rd6, %rd3, %rd6;\n"
    "st.$space.$type [%rd6], %$v2;\nNOT: setp.eq.u32 %p7, %r20, %r22;\n@%p5 add.u32 %r28, %r28, %r20;\nSKIP: "
    "bar.warp.sync -1;\nld.$space.$type %$v3, [%rd4];\nld.$space.$type %$v4, [%rd5];\nsetp.eq.and.b$bits %p7, %$v3, "
    "%$v4, %p7;\nbar.warp.sync -1;\n";

/* Shifts go through all of 0 to 70. */
static const char traverses[] =
    "rem.u32 %r24, %r4, 71;\nmad.lo.u32 %w2, %r4, 0x9e3779b1, %r2;\nmov.b64 %d2, {%w2, %r4};\n@%p4 bra SKIP;\n"
    "tree_traverse.sync.$type %$v1, %$v2, %p2, %r24, %r11;\nvote.sync.ballot.b32 %r21, %p2, %r11;\npopc.b32 %r22, "
    "%r21;\ncvt.u64.u32 %d3, %r22;\nmov.b32 %w3, %r22;\nshl.b$bits %$v4, %$v3, %r24;\nadd.$type %$v4, %$v4, %$v2;\n"
    "setp.eq.$type %p7, %$v4, %$v1;\n@%p5 add.u32 %r28, %r28, %r22;\nSKIP: bar.warp.sync -1;\n";

struct word {
    const char *name, *text;
};

/* Words after a dollar sign are replaced, the longest that fits first in the list. */
static void expand(char *out, size_t size, const char *text, const struct word *words) {
    size_t length = 0;
    for (const char *c = text; *c;) {
        const struct word *word = words;
        while (*c == '$' && word->name && strncmp(c + 1, word->name, strlen(word->name)) != 0)
            word++;
        const bool replaced = *c == '$' && word->name;
        const char *put = replaced ? word->text : c;
        const size_t count = replaced ? strlen(put) : 1;
        assert_true(length + count < size);
        memcpy(out + length, put, count);
        length += count;
        c += replaced ? 1 + strlen(word->name) : 1;
    }
    out[length] = '\0';
}

static void run_patterns(const char *body, const struct word *words, uint32_t patterns, bool in_time) {
    char whole[8192], text[8192];
    struct fixture f;
    snprintf(whole, sizeof whole, "%s%s%s", before, body, after);
    expand(text, sizeof text, whole, words);
    fixture_open(&f, "base: gtx480\nsm.count: 2\n" LIMIT, WORDS);
    load(&f, text);
    f.memory[2] = patterns;
    if (launch(&f, WARPS * 32 / THREADS, THREADS, in_time) != STATUS_OK)
        fail_msg("%s\n%s", report_text(&f.report), text);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < patterns; i++)
        sum += bits_count(pattern(i) & members(i));
    if (f.memory[0] || f.memory[1] != sum)
        fail_msg("%u wrong lanes, sum %u instead of %u:\n%s", f.memory[0], f.memory[1], sum, text);
    finish(&f);
}

static void accumulate(unsigned size, const char *space, bool generic, uint32_t patterns, bool in_time) {
    static const struct {
        const char *type, *v, *bytes, *bits;
    } sizes[] = {{"b8", "h", "1", "16"}, {"b16", "h", "2", "16"}, {"b32", "w", "4", "32"}, {"b64", "d", "8", "64"}};
    const bool shared = strcmp(space, "shared") == 0;
    const struct word words[] = {
        {"generic_base", generic ? "cvta.shared.u64 %rd6, %rd6;\n" : ""},
        {"global_base",
         shared ? "" : "mul.wide.u32 %rd2, %r4, 512;\nadd.u64 %rd2, %rd2, %rd1;\nadd.u64 %rd2, %rd2, 512;\n"},
        {"space", generic ? "volatile" : space},
        {"type", sizes[size].type},
        {"bytes", sizes[size].bytes},
        {"bits", sizes[size].bits},
        {"as", generic  ? ""
               : shared ? ".shared"
                        : ".global"},
        {"v", sizes[size].v},
        {NULL, NULL}};
    run_patterns(accumulates, words, patterns, in_time);
}

static void accumulated_as_in_plain_code(void **state) {
    (void)state;
    accumulate(2, "shared", false, ALL_PATTERNS, false);
    for (unsigned size = 0; size < 4; size++) {
        accumulate(size, "shared", false, FEW_PATTERNS, false);
        accumulate(size, "shared", true, FEW_PATTERNS, false);
        accumulate(size, "global", false, FEW_PATTERNS, false);
    }
}

static void accumulated_as_in_plain_code_in_time(void **state) {
    (void)state;
    for (unsigned size = 0; size < 4; size++) {
        accumulate(size, "shared", false, 640, true);
        accumulate(size, "shared", true, 640, true);
        accumulate(size, "global", false, 640, true);
    }
}

static void traversed_as_in_plain_code(void **state) {
    (void)state;
    static const char *const types[][3] = {
        {"u32", "w", "32"}, {"s32", "w", "32"}, {"u64", "d", "64"}, {"s64", "d", "64"}};
    for (unsigned i = 0; i < 4; i++) {
        const struct word words[] = {{"generic_base", ""}, {"global_base", ""},   {"type", types[i][0]},
                                     {"v", types[i][1]},   {"bits", types[i][2]}, {"bytes", "4"},
                                     {NULL, NULL}};
        run_patterns(traverses, words, i ? FEW_PATTERNS : ALL_PATTERNS, false);
        run_patterns(traverses, words, 640, true);
    }
}

/* A guard takes lanes out; their predicates count for nobody. */
static void guards_take_lanes_out(void **state) {
    (void)state;
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        open_machine(&f, "base: gtx480\nsm.count: 1\n" LIMIT);
        load(&f, KERNEL("", "setp.ge.u32 %p1, %r1, 8;\nand.b32 %r5, %r1, 1;\nsetp.eq.u32 %p2, %r5, 0;\nmov.u32 %r6, "
                            "77;\n@%p1 cond_acc.sync.global.b32 %r6, [%rd1+256], !%p2, %r1, 0xffffff00;\nst.global.u32 "
                            "[%rd3], %r6;\nret;"));
        assert_int_equal(launch(&f, 1, 32, in_time), STATUS_OK);
        for (uint32_t t = 0; t < 32; t++)
            assert_int_equal(f.memory[t], t < 8 ? 77 : 12);
        for (uint32_t i = 0; i < 12; i++)
            assert_int_equal(f.memory[64 + i], 9 + 2 * i);
        assert_int_equal(f.memory[64 + 12], 64 + 12);
        finish(&f);
    }
}

/* Two launches that differ in the prefix sum's cycles alone. */
static void the_prefix_sum_takes_its_cycles(void **state) {
    (void)state;
    static const char *const code[] = {"tree_traverse.sync.u32 %r4, %r4, %p1, 1, -1;\n",
                                       "cond_acc.sync.shared.b32 %r4, [%r4], %p1, %r1, -1;\nand.b32 %r4, %r4, 0;\n"};
    for (unsigned which = 0; which < 2; which++) {
        uint64_t cycles[2];
        for (unsigned slow = 0; slow < 2; slow++) {
            char text[4096] = "", body[2048] = "";
            struct fixture f;
            for (unsigned i = 0; i < 10; i++)
                strcat(body, code[which]);
            open_machine(
                &f, slow ? "base: narasiman-core\ninstruction_cache.perfect: true\nsm.latency.prefix_sum: 21\n" LIMIT
                         : "base: narasiman-core\ninstruction_cache.perfect: true\n" LIMIT);
            snprintf(text, sizeof text, "%s%s%s",
                     ".visible .entry k(.param .u64 p)\n{\n.shared .align 4 .b8 s[1024];\n.reg .pred %p<8>;\n.reg .b32 "
                     "%r<8>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r4, "
                     "s;\nsetp.lt.u32 %p1, %r1, 5;\n",
                     body, "st.global.u32 [%rd1], %r4;\nret;\n}\n");
            load(&f, text);
            if (launch(&f, 1, 32, true) != STATUS_OK)
                fail_msg("%s", report_text(&f.report));
            cycles[slow] = f.result.timed->cycles;
            finish(&f);
        }
        assert_int_equal(cycles[1], cycles[0] + 10 * 20);
    }
}

static void refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *settings, *text, *part;
    } cases[] = {
        {"base: gtx480\nsm.warp_size: 8\n", "cond_acc.sync.global.b32 %r4, [%rd1], %p1, %r1, -1;", "sees warps"},
        {"base: gtx480\n", "cond_acc.global.b32 %r4, [%rd1], %p1, %r1, -1;", "cond_acc.global.b32"},
        {"base: gtx480\n", "cond_acc.sync.local.b32 %r4, [%rd1], %p1, %r1, -1;", "cond_acc.sync.local.b32"},
        {"base: gtx480\n", "cond_acc.sync.global.b32 %r4, [%rd1], %p1, %r1;", "operands"},
        {"base: gtx480\n", "tree_traverse.sync.u16 %r4, %r1, %p1, 3, -1;", "tree_traverse.sync.u16"},
        {"base: gtx480\n", "ld.shared.row_hint.u32 %r4, [%rd1];", "ld.shared.row_hint.u32"},
        {"base: gtx480\n", "st.global.row_hint.u32 [%rd1], %r4;", "st.global.row_hint.u32"},
        {"base: gtx480\nisa: fermi\n", "cond_acc.sync.global.b32 %r4, [%rd1], %p1, %r1, -1;", "cond_acc"},
        {"base: gtx480\nisa: fermi\n", "tree_traverse.sync.u32 %r4, %r1, %p1, 3, -1;", "tree_traverse"},
        {"base: quadro-fx5800\nisa: tesla\n", "cond_acc.sync.global.b32 %r4, [%rd1], %p1, %r1, -1;", "cond_acc"},
        {"base: quadro-fx5800\nisa: tesla\n", "tree_traverse.sync.u32 %r4, %r1, %p1, 3, -1;", "tree_traverse"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2048];
        struct fixture f;
        open_machine(&f, cases[i].settings);
        const int length =
            snprintf(text, sizeof text, ".version 7.8\n.target sm_70\n.address_size 64\n%s%s%s",
                     ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<8>;\n.reg .b64 "
                     "%rd<4>;\nld.param.u64 %rd1, [p];\n",
                     cases[i].text, "\nret;\n}\n");
        enum status status = device_load(f.device, "test.ptx", text, (size_t)length, &f.program, &f.report);
        if (status == STATUS_OK)
            status = launch(&f, 1, 32, true);
        assert_int_not_equal(status, STATUS_OK);
        expect_text(&f, cases[i].part);
        finish(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accumulated_as_in_plain_code),    cmocka_unit_test(accumulated_as_in_plain_code_in_time),
        cmocka_unit_test(traversed_as_in_plain_code),      cmocka_unit_test(guards_take_lanes_out),
        cmocka_unit_test(the_prefix_sum_takes_its_cycles), cmocka_unit_test(refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

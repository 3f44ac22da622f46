/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic warp formation in time: its policies, register files and limits change when threads run, never what they do. */
#include "timed_programs.h"

#include "base/bits.h"
#include "base/file.h"

static void open_with(struct fixture *f, const char *machine, const char *settings) {
    char text[1024];
    snprintf(text, sizeof text, "%s%s", machine, settings);
    open_machine(f, text);
}

#define DWF "divergence.mechanism: dwf\n"
/* [000 tables 5.2 and 7.1], and a machine that is always short of room. */
#define PUBLISHED                                                                                                      \
    "dwf.lut_entries: 64\ndwf.lut_ways: 4\ndwf.pool_entries: 128\ndwf.heap_entries: 64\n"                              \
    "dwf.mheap_lut_entries: 128\ndwf.mheap_lut_ways: 8\ndwf.ports: 2\n"
#define NARROW                                                                                                         \
    "dwf.lut_entries: 2\ndwf.lut_ways: 1\ndwf.pool_entries: 3\ndwf.heap_entries: 1\ndwf.mheap_lut_entries: 2\n"        \
    "dwf.mheap_lut_ways: 1\ndwf.ports: 1\n"

static const char *const variants[] = {
    DWF "dwf.policy: pc\ndwf.swizzle: true\n",
    DWF "dwf.policy: majority\n",
    DWF "dwf.policy: minority\ndwf.register_file: crossbar\n",
    DWF "dwf.policy: pdom-priority\ndwf.register_file: ideal\n",
    DWF "dwf.policy: majority\ndwf.swizzle: true\n" PUBLISHED,
    DWF "dwf.policy: majority\n" NARROW,
    DWF "dwf.policy: time\n" NARROW,
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static void every_variant_leaves_the_same_memory(void **state) {
    (void)state;
    static const char *const machine[] = {"base: fung-8800\nsm.count: 3\n" LIMIT, "base: gtx480\nsm.count: 4\n" LIMIT};
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct fixture plain;
        open_machine(&plain, machine[0]);
        load(&plain, programs[i].text);
        expect_ok(&plain, &programs[i], false);
        for (unsigned v = 0; v < VARIANTS; v++) {
            struct fixture timed;
            open_with(&timed, machine[v % 2], variants[v]);
            load(&timed, programs[i].text);
            expect_ok(&timed, &programs[i], true);
            if (memcmp(timed.memory, plain.memory, WORDS * sizeof(uint32_t)) != 0)
                fail_msg("%s, %s: memory differs", programs[i].name, variants[v]);
            assert_int_equal(timed.result.stats.thread_instructions, plain.result.stats.thread_instructions);
            check_books(&timed, programs[i].name);
            finish(&timed);
        }
        finish(&plain);
    }
}

/* ---- starvation ---- */

struct times {
    uint32_t back;                    /* when the last of the eight was back */
    uint32_t few_ended, others_ended; /* when the last of the eight, and of the others, had ended */
    uint64_t cycles;
};

static struct times run_starving(const char *policy) {
    struct fixture f;
    struct times out = {0};
    open_with(&f, "base: fung-8800\nsm.count: 1\nl1.perfect: true\n" LIMIT DWF, policy);
    struct arena arena = {0};
    size_t length;
    char *text;
    if (file_read(HEDDLE_SOURCE_DIR "/tests/validation/dwf/starving.ptx", 1 << 16, &arena, &text, &length, &f.report) !=
            STATUS_OK ||
        device_load(f.device, "starving.ptx", text, length, &f.program, &f.report) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    arena_free(&arena);
    if (launch(&f, 1, 256, true) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    for (unsigned thread = 0; thread < 256; thread++) {
        const uint32_t back = f.memory[2 * thread], ended = f.memory[2 * thread + 1];
        const bool few = thread % 32 == thread / 32 * 3 + 1;
        assert_int_equal(back != 0, few);
        out.back = back > out.back ? back : out.back;
        if (few && ended > out.few_ended)
            out.few_ended = ended;
        if (!few && ended > out.others_ended)
            out.others_ended = ended;
    }
    out.cycles = f.result.timed->cycles;
    finish(&f);
    return out;
}

static void majority_starves_the_few_and_pdom_priority_does_not(void **state) {
    (void)state;
    const struct times majority = run_starving("dwf.policy: majority\n");
    const struct times priority = run_starving("dwf.policy: pdom-priority\n");
    /* none of the eight has its four instructions done before all others have ended; then they run alone */
    assert_true(majority.back > majority.others_ended);
    assert_true(majority.few_ended > majority.others_ended * 6 / 5);
    /* they are let through at once, and all end together */
    assert_true(priority.back < priority.others_ended / 5);
    assert_in_range(priority.few_ended, priority.others_ended - 200, priority.others_ended + 200);
    assert_true(majority.cycles > priority.cycles * 6 / 5);
}

/* ---- without divergence ---- */

/* Memory answers as fast as arithmetic, and all warps of a block are fetched for at once. */
#define PERFECT                                                                                                        \
    "base: fung-8800\nsm.count: 1\nl1.perfect: true\nsm.l1_latency: 9\nsm.shared_latency: 9\nsm.const_latency: 9\n"    \
    "sm.fetches_per_cycle: 8\n" LIMIT

/* No stores: how long they take depends on their addresses, and then round-robin is not the order of arrival. */
#define BEGIN                                                                                                          \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<8>;\n"                   \
    ".shared .align 4 .b8 s[1024];\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 32;\n"      \
    "add.s64 %rd3, %rd1, %rd2;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
#define WORK(n) "mad.lo.u32 %r2" #n ", %r2, 3, %r1;\n"
#define END "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 20;\n@%p1 bra L;\n" WORK(5) WORK(6) WORK(7) "ret;\n}\n"

static const struct {
    const char *name, *text;
} undivided[] = {
    {"arithmetic", BEGIN "L: add.u32 %r2, %r2, 3;\nxor.b32 %r2, %r2, %r1;\n" WORK(1) WORK(2) WORK(3) WORK(4) END},
    {"loads",
     BEGIN "L: ld.global.u32 %r5, [%rd3+12];\n" WORK(1) "add.u32 %r2, %r2, %r5;\n" WORK(2) WORK(3) WORK(4) END},
    {"barriers", BEGIN "shl.b32 %r6, %r1, 2;\nmov.u32 %r7, s;\nadd.u32 %r7, %r7, %r6;\n"
                       "L: st.shared.u32 [%r7], %r1;\nbar.sync 0;\n" WORK(1) "ld.shared.u32 %r5, [%r7];\n" WORK(2)
                           WORK(3) "bar.sync 0;\n" WORK(4) END},
    {"warps that go different ways",
     BEGIN "shr.u32 %r6, %r1, 5;\nL: add.u32 %r6, %r6, %r3;\nand.b32 %r7, %r6, 1;\nsetp.eq.u32 %p2, %r7, 0;\n"
           "@%p2 bra A;\n" WORK(1) WORK(2) "bra.uni J;\nA: " WORK(3) "add.u32 %r2, %r2, 7;\n" WORK(4) "J: " END},
};

/* Every issue of a launch, in order. */
enum { ISSUES_MAX = 20000 };
struct issue_log {
    unsigned count;
    struct {
        uint64_t cycle, block;
        uint32_t pc, lanes;
        uint16_t threads[LANES_MAX];
    } items[ISSUES_MAX];
};

static void keep_issue(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct issue_log *log = self;
    const struct group *group = &issue->group;
    assert_true(log->count < ISSUES_MAX);
    const unsigned n = log->count++;
    log->items[n].cycle = issue->cycle, log->items[n].pc = group->pc, log->items[n].lanes = group->lanes;
    for (unsigned lane = 0; lane < LANES_MAX; lane++) {
        const unsigned thread = group->threads ? group->threads[lane] : issue->slot * LANES_MAX + lane;
        log->items[n].threads[lane] = (uint16_t)(group->lanes >> lane & 1 ? thread : 0);
    }
    log->items[n].block = sm_block_of(sm, log->items[n].threads[bits_first(group->lanes)] / LANES_MAX);
}

static void run_undivided(unsigned program, unsigned threads, const char *settings, struct issue_log *log) {
    struct fixture f;
    const struct sm_observer watcher = {.self = log, .issued = keep_issue};
    memset(log, 0, sizeof *log);
    open_with(&f, PERFECT, settings);
    load(&f, undivided[program].text);
    f.issues = &watcher;
    if (launch(&f, threads > 32 ? 2 : 1, threads, true) != STATUS_OK)
        fail_msg("%s: %s", undivided[program].name, report_text(&f.report));
    assert_int_equal(f.result.stats.divergent_branches, 0);
    assert_int_equal(f.result.stats.warp_instructions, log->count);
    for (unsigned n = log->count; n-- > 0;)
        log->items[n].cycle -= log->items[0].cycle;
    finish(&f);
}

/* Full warps that never diverge: formation by policy `time`, groups that never join and a stack per warp issue the same threads
 * at the same PCs in the same cycles after the first one, for which only a stack's warps are fetched for; the latter two
 * under round-robin, which with a full pipeline and equal latencies takes the warp that came back first. A single warp has
 * nobody to hide behind: without barriers its latencies are the same too. */
static void without_divergence_all_is_pdom_cycle_for_cycle(void **state) {
    (void)state;
    static const char *const others[] = {DWF "dwf.policy: time\n", "divergence.mechanism: nrec\nsm.scheduler: rr\n",
                                         DWF "sm.pipeline: scoreboard\n",
                                         "divergence.mechanism: nrec\nsm.pipeline: scoreboard\n"};
    static struct issue_log pdom, other;
    const unsigned all = sizeof undivided / sizeof undivided[0];
    for (unsigned i = 0; i < all + 4; i++) {
        const bool barrel = i < all + 2;
        const unsigned program = i < all + 2 ? i % all : i - all - 2, threads = i < all ? 256 : 32;
        run_undivided(program, threads, barrel ? "sm.scheduler: rr\n" : "sm.pipeline: scoreboard\n", &pdom);
        for (unsigned n = barrel ? 0 : 2; n < (barrel ? 2 : 4); n++) {
            run_undivided(program, threads, others[n], &other);
            assert_int_equal(pdom.count, other.count);
            for (unsigned k = 0; k < pdom.count; k++)
                if (memcmp(&pdom.items[k], &other.items[k], sizeof pdom.items[k]) != 0)
                    fail_msg("%s, %s, issue %u: cycle %llu, PC %u, threads from %u with pdom; %llu, %u, %u with it",
                             others[n], undivided[program].name, k, (unsigned long long)pdom.items[k].cycle,
                             (unsigned)pdom.items[k].pc, pdom.items[k].threads[0],
                             (unsigned long long)other.items[k].cycle, (unsigned)other.items[k].pc,
                             other.items[k].threads[0]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(majority_starves_the_few_and_pdom_priority_does_not),
        cmocka_unit_test(without_divergence_all_is_pdom_cycle_for_cycle),
        cmocka_unit_test(every_variant_leaves_the_same_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

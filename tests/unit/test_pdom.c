/* The reconvergence stack, driven by scripted outcomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "divergence/divergence.h"

enum { CODE = 64 };

struct fixture {
    struct arena arena;
    struct inst code[CODE];
    const struct divergence_ops *ops;
    void *self;
};

static void setup(struct fixture *f, uint32_t lanes) {
    memset(f, 0, sizeof *f);
    f->ops = divergence_find("pdom");
    assert_non_null(f->ops);
    const struct divergence_shape shape = {
        .code = f->code, .code_count = CODE, .warps = 1, .warp_size = 32, .warps_per_block = 1, .schedulers = 1};
    f->self = f->ops->create(&f->arena, &shape);
    f->ops->start(f->self, 0, 0, lanes);
}

static void expect(struct fixture *f, uint32_t pc, uint32_t lanes) {
    struct group group;
    assert_true(f->ops->offer(f->self, 0, &group));
    assert_int_equal(group.pc, pc);
    assert_int_equal(group.lanes, lanes);
}

static void expect_nothing(struct fixture *f) {
    struct group group;
    assert_false(f->ops->offer(f->self, 0, &group));
    assert_int_equal(f->ops->alive(f->self, 0), 0);
    arena_free(&f->arena);
}

static void issue(struct fixture *f, enum flow flow, uint32_t taken, uint32_t target) {
    struct group group;
    assert_true(f->ops->offer(f->self, 0, &group));
    struct executed executed = {
        .flow = flow, .pc = group.pc, .issues = 1, .lanes = group.lanes, .taken = taken, .target = target};
    for (unsigned i = 0; i < LANES_MAX; i++)
        executed.next[i] = taken >> i & 1 ? target : group.pc + 1;
    f->ops->issued(f->self, 0, &group, &executed);
}

/* [000 fig. 3.1] A 1111, B 1110, F 0001, C 1000, D 0110, E 1110, G 1111; thread 1 is bit 3. */
static void pdom_follows_the_published_example(void **state) {
    (void)state;
    struct fixture f;
    setup(&f, 0xf);
    enum { A = 0, B = 1, C = 2, D = 3, E = 4, F = 6, G = 7 };
    f.code[A].reconverge = G;
    f.code[B].reconverge = E;
    expect(&f, A, 0xf);
    issue(&f, FLOW_BRANCH, 0x1, F); /* taken to F: runs first */
    expect(&f, F, 0x1);
    issue(&f, FLOW_NEXT, 0, 0); /* F falls into G */
    expect(&f, B, 0xe);
    issue(&f, FLOW_BRANCH, 0x6, D);
    expect(&f, D, 0x6);
    issue(&f, FLOW_NEXT, 0, 0);
    expect(&f, C, 0x8);
    issue(&f, FLOW_BRANCH, 0x8, E);
    expect(&f, E, 0xe);
    issue(&f, FLOW_BRANCH, 0xe, G);
    expect(&f, G, 0xf);
    issue(&f, FLOW_EXIT, 0xf, 0);
    expect_nothing(&f);
}

/* [002 fig. 2.2] A 1111, B 1011, C 0100, D 1111. */
static void pdom_joins_both_sides_of_a_hammock(void **state) {
    (void)state;
    struct fixture f;
    setup(&f, 0xf);
    f.code[0].reconverge = 5;
    issue(&f, FLOW_BRANCH, 0xb, 3);
    expect(&f, 3, 0xb);
    issue(&f, FLOW_BRANCH, 0xb, 5);
    expect(&f, 1, 0x4);
    issue(&f, FLOW_BRANCH, 0x4, 5);
    expect(&f, 5, 0xf);
    issue(&f, FLOW_EXIT, 0xf, 0);
    expect_nothing(&f);
}

static void pdom_loop_adds_no_entry(void **state) {
    (void)state;
    struct fixture f;
    setup(&f, 0xff);
    f.code[1].reconverge = 2;
    issue(&f, FLOW_NEXT, 0, 0);
    uint32_t lanes = 0xff;
    while (lanes) { /* one lane leaves in each turn; more turns than the stack would hold */
        expect(&f, 1, lanes);
        const uint32_t stay = lanes & (lanes - 1);
        issue(&f, FLOW_BRANCH, stay, 1);
        lanes = stay;
    }
    expect(&f, 2, 0xff);
    issue(&f, FLOW_EXIT, 0xff, 0);
    expect_nothing(&f);
}

static void pdom_exit_clears_lanes_from_every_entry(void **state) {
    (void)state;
    struct fixture f;
    setup(&f, 0xf);
    f.code[0].reconverge = NO_PC;
    issue(&f, FLOW_BRANCH, 0x3, 8);
    expect(&f, 8, 0x3);
    issue(&f, FLOW_EXIT, 0x1, 0);
    expect(&f, 9, 0x2);
    issue(&f, FLOW_EXIT, 0x2, 0);
    expect(&f, 1, 0xc);
    issue(&f, FLOW_EXIT, 0xc, 0);
    expect_nothing(&f);
}

static void pdom_meets_at_the_return_when_lanes_part_in_a_function(void **state) {
    (void)state;
    struct fixture f;
    setup(&f, 0xf);
    f.code[20].reconverge = NO_PC;
    issue(&f, FLOW_CALL, 0xf, 20);
    expect(&f, 20, 0xf);
    issue(&f, FLOW_BRANCH, 0x3, 30);
    expect(&f, 30, 0x3);
    issue(&f, FLOW_RETURN, 0x3, 1);
    expect(&f, 21, 0xc);
    issue(&f, FLOW_RETURN, 0xc, 1);
    expect(&f, 1, 0xf);
    issue(&f, FLOW_EXIT, 0xf, 0);
    expect_nothing(&f);
}

/* Lanes that return early under a guard wait for the others; if those end instead, they go on alone. */
static void pdom_guarded_return_waits_for_the_rest(void **state) {
    (void)state;
    for (unsigned others_exit = 0; others_exit < 2; others_exit++) {
        struct fixture f;
        setup(&f, 0xf);
        issue(&f, FLOW_CALL, 0xf, 20);
        issue(&f, FLOW_RETURN, 0x5, 1);
        expect(&f, 21, 0xa);
        if (others_exit) {
            issue(&f, FLOW_EXIT, 0xa, 0);
            expect(&f, 1, 0x5);
            issue(&f, FLOW_EXIT, 0x5, 0);
        } else {
            issue(&f, FLOW_RETURN, 0xa, 1);
            expect(&f, 1, 0xf);
            issue(&f, FLOW_EXIT, 0xf, 0);
        }
        expect_nothing(&f);
    }
}

/* The same PC at another call depth is not the meeting point. */
static void pdom_compares_call_depth(void **state) {
    (void)state;
    struct fixture f;
    setup(&f, 0x3);
    f.code[20].reconverge = 22;
    issue(&f, FLOW_CALL, 0x3, 20);
    issue(&f, FLOW_BRANCH, 0x1, 21); /* lane 0 at 21, lane 1 waits at 21 too: not-taken side is pc + 1 = 21 */
    expect(&f, 21, 0x1);
    issue(&f, FLOW_CALL, 0x1, 20); /* recursion: one deeper */
    expect(&f, 20, 0x1);
    issue(&f, FLOW_NEXT, 0, 0);
    issue(&f, FLOW_NEXT, 0, 0);
    expect(&f, 22, 0x1); /* passes 22 at depth 2 without joining */
    issue(&f, FLOW_RETURN, 0x1, 22);
    expect(&f, 21, 0x2); /* now at 22, depth 1: waits for lane 1 */
    issue(&f, FLOW_NEXT, 0, 0);
    expect(&f, 22, 0x3);
    issue(&f, FLOW_RETURN, 0x3, 1);
    expect(&f, 1, 0x3);
    issue(&f, FLOW_EXIT, 0x3, 0);
    expect_nothing(&f);
}

static void pdom_many_targets_run_lowest_first(void **state) {
    (void)state;
    struct fixture f;
    setup(&f, 0x7);
    f.code[0].reconverge = 40;
    struct executed executed = {
        .flow = FLOW_MULTI, .pc = 0, .issues = 1, .lanes = 0x7, .taken = 0x7, .next = {30, 10, 20}};
    const struct group group = {.pc = 0, .lanes = 0x7, .stop_pc = NO_PC};
    f.ops->issued(f.self, 0, &group, &executed);
    expect(&f, 10, 0x2);
    issue(&f, FLOW_BRANCH, 0x2, 40);
    expect(&f, 20, 0x4);
    issue(&f, FLOW_BRANCH, 0x4, 40);
    expect(&f, 30, 0x1);
    issue(&f, FLOW_BRANCH, 0x1, 40);
    expect(&f, 40, 0x7);
    issue(&f, FLOW_EXIT, 0x7, 0);
    expect_nothing(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pdom_follows_the_published_example),
        cmocka_unit_test(pdom_joins_both_sides_of_a_hammock),
        cmocka_unit_test(pdom_loop_adds_no_entry),
        cmocka_unit_test(pdom_exit_clears_lanes_from_every_entry),
        cmocka_unit_test(pdom_meets_at_the_return_when_lanes_part_in_a_function),
        cmocka_unit_test(pdom_guarded_return_waits_for_the_rest),
        cmocka_unit_test(pdom_compares_call_depth),
        cmocka_unit_test(pdom_many_targets_run_lowest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

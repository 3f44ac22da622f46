/* SPDX-License-Identifier: Apache-2.0 */
/* Words of memory at pairs of registers and at addresses of 32 bits (exec/lanes_near.h): patterns of addresses, some lanes idle, against
 * a model of the memory, lane by lane. */
#include "native_fixture.h"

#include "exec/exec.h"

enum { WORDS = 4096, LANES = 32, ACTIVE = 32, LOADED = 64, BEHIND = 96, FROM_SHARED = 128, DATA = 1024, STORED = 2048 };

/* Thread t reads where it goes (word t, in bytes) and whether it does (word 32 + t). Data begin 4 bytes before the address of the
 * load, what is stored 8192 bytes behind the buffer's start; shared memory is written and read at the same distance + 8, modulo 2^32. */
static const char words_of_lanes[] = "\tcode for sm_86\n"
                                     "\t\tFunction : words\n"
                                     "\t.registers 24\n\t.params 8\n\t.param 0 8\n\t.shared 4096\n"
                                     "S2R R0, SR_TID.X;\n"
                                     "MOV R1, 0x4;\n"
                                     "IMAD.WIDE.U32 R2, R0, R1, c[0x0][0x160];\n"
                                     "LDG.E R4, desc[UR4][R2.64];\n"
                                     "LDG.E R5, desc[UR4][R2.64+0x80];\n"
                                     "ISETP.NE.U32.AND P0, PT, R5, RZ, PT;\n"
                                     "IADD3 R6, P1, R4, c[0x0][0x160], RZ;\n"
                                     "IADD3.X R7, RZ, c[0x0][0x164], RZ, P1, !PT;\n"
                                     "MOV R8, 0x7;\n"
                                     "MOV R9, 0x8;\n"
                                     "MOV R10, 0x9;\n"
                                     "@P0 LDG.E R8, desc[UR4][R6.64+0x1000];\n"
                                     "@P0 LDG.E R9, desc[UR4][R6.64+0x1004];\n"
                                     "@P0 STG.E desc[UR4][R6.64+0x2000], R0;\n"
                                     "@P0 STS [R4+-0x8], R8;\n"
                                     "@P0 LDS R10, [R4+-0x8];\n"
                                     "STG.E desc[UR4][R2.64+0x100], R8;\n"
                                     "STG.E desc[UR4][R2.64+0x180], R9;\n"
                                     "STG.E desc[UR4][R2.64+0x200], R10;\n"
                                     "EXIT;\n";
/* The same with vectors of two and four words, of which the sums are stored. */
static const char vectors_of_lanes[] = "\tcode for sm_86\n"
                                       "\t\tFunction : vectors\n"
                                       "\t.registers 24\n\t.params 8\n\t.param 0 8\n\t.shared 4096\n"
                                       "S2R R0, SR_TID.X;\n"
                                       "MOV R1, 0x4;\n"
                                       "IMAD.WIDE.U32 R2, R0, R1, c[0x0][0x160];\n"
                                       "LDG.E R4, desc[UR4][R2.64];\n"
                                       "LDG.E R5, desc[UR4][R2.64+0x80];\n"
                                       "ISETP.NE.U32.AND P0, PT, R5, RZ, PT;\n"
                                       "IADD3 R6, P1, R4, c[0x0][0x160], RZ;\n"
                                       "IADD3.X R7, RZ, c[0x0][0x164], RZ, P1, !PT;\n"
                                       "MOV R8, 0x7;\n"
                                       "MOV R9, RZ;\n"
                                       "MOV R10, RZ;\n"
                                       "MOV R11, RZ;\n"
                                       "@P0 LDG.E.128 R8, desc[UR4][R6.64+0x1000];\n"
                                       "@P0 LDG.E.64 R6, desc[UR4][R6.64+0x1008];\n"
                                       "@P0 STS.128 [R4], R8;\n"
                                       "IADD3 R8, R8, R9, R10;\n"
                                       "IADD3 R8, R8, R11, RZ;\n"
                                       "STG.E desc[UR4][R2.64+0x100], R8;\n"
                                       "@!P0 MOV R6, 0x8;\n"
                                       "@!P0 MOV R7, RZ;\n"
                                       "IADD3 R6, R6, R7, RZ;\n"
                                       "STG.E desc[UR4][R2.64+0x180], R6;\n"
                                       "MOV R12, 0x9;\n"
                                       "MOV R13, RZ;\n"
                                       "@P0 LDS.64 R12, [R4+0x8];\n"
                                       "IADD3 R12, R12, R13, RZ;\n"
                                       "STG.E desc[UR4][R2.64+0x200], R12;\n"
                                       "EXIT;\n";

static uint32_t datum(uint32_t word) { return word * UINT32_C(2654435761) ^ word >> 3; }

/* What lanes do: one pattern of distances, which are multiples of `step`. */
static uint32_t distance(unsigned pattern, unsigned lane, uint32_t step) {
    switch (pattern) {
    case 0: return step * lane;
    case 1: return step * (LANES - 1 - lane);
    case 2: return step * (lane * 7 % 19);
    case 3: return step * 5;
    default: return step * (lane ^ 1);
    }
}

static const uint32_t masks[] = {UINT32_MAX, 0x1, 0x80000000, 0xffff0000, 0x0ff00ff0, 0x55555555, 0xfffffffe, 0};

static void fill(struct fixture *f, unsigned pattern, uint32_t mask, uint32_t step, uint32_t first) {
    for (unsigned i = 0; i < WORDS; i++)
        f->memory[i] = i >= DATA && i < STORED ? datum(i) : 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        const bool is_active = mask >> lane & 1;
        f->memory[lane] = is_active ? first + distance(pattern, lane, step) : UINT32_C(0xfffffff3) - lane;
        f->memory[ACTIVE + lane] = is_active;
    }
}

static void start(struct fixture *f, const char *level, const char *text) {
    char settings[128];
    snprintf(settings, sizeof settings, "base: gtx480\nsm.count: 1\nhost.lanes: %s\n", level);
    fixture_open(f, settings, WORDS);
    if (device_load(f->device, "test.sass", text, strlen(text), &f->program, &f->report) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
}

static enum status run(struct fixture *f, bool in_time) {
    const uint32_t params[2] = {(uint32_t)f->buffer, (uint32_t)(f->buffer >> 32)};
    const struct launch launch = {.program = f->program,
                                  .kernel = program_module(f->program)->functions[0],
                                  .grid = {1, 1, 1},
                                  .block = {LANES, 1, 1},
                                  .params = params,
                                  .work_dim = 1,
                                  .in_time = in_time};
    launch_result_free(&f->result);
    return device_launch(f->device, &launch, &f->result, &f->report);
}

static void check_words(struct fixture *f, unsigned pattern, uint32_t mask, bool in_time) {
    const uint32_t first = 8;
    fill(f, pattern, mask, 4, first);
    if (run(f, in_time) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
    uint32_t stored[WORDS - STORED] = {0}, shared[1024] = {0};
    for (unsigned lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1) {
            const uint32_t word = (first + distance(pattern, lane, 4)) / 4;
            stored[word] = lane;
            shared[word - 2] = datum(DATA + word);
        }
    for (unsigned lane = 0; lane < LANES; lane++) {
        const bool is_active = mask >> lane & 1;
        const uint32_t word = (first + distance(pattern, lane, 4)) / 4;
        assert_int_equal(f->memory[LOADED + lane], is_active ? datum(DATA + word) : 7);
        assert_int_equal(f->memory[BEHIND + lane], is_active ? datum(DATA + word + 1) : 8);
        assert_int_equal(f->memory[FROM_SHARED + lane], is_active ? shared[word - 2] : 9);
    }
    assert_memory_equal(f->memory + STORED, stored, sizeof stored);
}

static void check_vectors(struct fixture *f, unsigned pattern, uint32_t mask, bool in_time) {
    fill(f, pattern, mask, 16, 16);
    if (run(f, in_time) != STATUS_OK)
        fail_msg("%s", report_text(&f->report));
    for (unsigned lane = 0; lane < LANES; lane++) {
        const bool is_active = mask >> lane & 1;
        const uint32_t at = DATA + (16 + distance(pattern, lane, 16)) / 4;
        const uint32_t behind = datum(at + 2) + datum(at + 3), all = datum(at) + datum(at + 1) + behind;
        assert_int_equal(f->memory[LOADED + lane], is_active ? all : 7);
        assert_int_equal(f->memory[BEHIND + lane], is_active ? behind : 8);
        assert_int_equal(f->memory[FROM_SHARED + lane], is_active ? behind : 9);
    }
}

/* The levels that this host has; the machine refuses others. */
static void under_all(const char *text, void (*check)(struct fixture *, unsigned, uint32_t, bool)) {
    static const char *const levels[] = {"auto", "v1", "v3", "v4"};
    for (unsigned i = 0; i < 4; i++) {
        if (i && !lanes_find(levels[i]))
            continue;
        struct fixture f;
        start(&f, levels[i], text);
        for (unsigned pattern = 0; pattern < 5; pattern++)
            for (unsigned m = 0; m < sizeof masks / sizeof masks[0]; m++)
                check(&f, pattern, masks[m], false), check(&f, pattern, masks[m], true);
        finish(&f);
    }
}

static void words_are_those_of_their_lanes(void **state) {
    (void)state;
    under_all(words_of_lanes, check_words);
}

static void vectors_are_those_of_their_lanes(void **state) {
    (void)state;
    under_all(vectors_of_lanes, check_vectors);
}

/* The first launch makes the allocation known to each instruction; then one lane of the second is wrong. */
static void refused(uint32_t distance_of_one, const char *words) {
    struct fixture f;
    start(&f, "auto", words_of_lanes);
    fill(&f, 0, UINT32_MAX, 4, 8);
    assert_int_equal(run(&f, false), STATUS_OK);
    fill(&f, 0, UINT32_MAX, 4, 8);
    f.memory[17] = distance_of_one;
    assert_int_not_equal(run(&f, false), STATUS_OK);
    expect_text(&f, words);
    finish(&f);
}

static void lanes_outside_are_refused(void **state) {
    (void)state;
    refused(4 * WORDS - 0x1000, "outside");
    refused(0x7ffffff0, "outside");
    refused(0xfffff000, "outside");
    refused(6, "align");
}

/* Shared memory is addressed by 32 bits: the sum wraps. */
static void a_shared_address_wraps(void **state) {
    (void)state;
    static const char text[] =
        "\tcode for sm_86\n\t\tFunction : wraps\n\t.registers 24\n\t.params 8\n\t.param 0 8\n\t.shared 128\n"
        "S2R R0, SR_TID.X;\nMOV R1, 0x4;\nIMAD.WIDE.U32 R2, R0, R1, c[0x0][0x160];\n"
        "LDG.E R4, desc[UR4][R2.64];\nSTS [R4+0x40], R0;\nLDS R5, [R4+0x40];\n"
        "STG.E desc[UR4][R2.64+0x100], R5;\nEXIT;\n";
    struct fixture f;
    start(&f, "auto", text);
    for (unsigned lane = 0; lane < LANES; lane++)
        f.memory[lane] = 4 * lane - 0x40;
    if (run(&f, false) != STATUS_OK)
        fail_msg("%s", report_text(&f.report));
    for (unsigned lane = 0; lane < LANES; lane++)
        assert_int_equal(f.memory[LOADED + lane], lane);
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_their_lanes),
        cmocka_unit_test(vectors_are_those_of_their_lanes),
        cmocka_unit_test(lanes_outside_are_refused),
        cmocka_unit_test(a_shared_address_wraps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

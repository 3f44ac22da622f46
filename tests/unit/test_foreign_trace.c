/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign traces: every opcode has a class or is refused, places count as the architecture does, and a text that somebody damaged is
 * read to its end or refused with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "random_bits.h"
#include "sass/turing.h"
#include "trace/accel.h"

static void test_every_opcode_is_classed_or_refused(void **state) {
    (void)state;
    unsigned classed = 0, refused = 0;
    for (unsigned i = 0; i < TURING_ROWS; i++) {
        struct traced_opcode opcode = {.op = OP_COUNT - 1};
        const char *why = traced_opcode(turing_row(i)->mnemonic, 86, &opcode);
        if (why)
            assert_null(strstr(why, "no table"));
        else if (opcode.shape == TRACED_PLAIN)
            assert_true(op_class((enum op)opcode.op) < CLASS_TENSOR && opcode.type != TYPE_NONE);
        else
            assert_true(opcode.op != OP_COUNT - 1);
        classed += !why, refused += why != NULL;
    }
    assert_true(classed > 150 && refused > 20);
    struct traced_opcode opcode;
    assert_non_null(traced_opcode("XMAD", 86, &opcode)); /* of other architectures */
    assert_null(traced_opcode("XMAD.MRG", 61, &opcode));
    assert_non_null(traced_opcode("IADD33", 86, &opcode));
}

static void test_opcodes_say_space_and_width(void **state) {
    (void)state;
    static const struct {
        const char *mnemonic;
        enum traced_shape shape;
        enum space space;
        unsigned registers;
        bool wide;
    } expected[] = {
        {"LDG.E.128.CONSTANT.SYS", TRACED_LOAD, SPACE_GLOBAL, 4, true},
        {"STS.64", TRACED_STORE, SPACE_SHARED, 2, false},
        {"LD.E", TRACED_LOAD, SPACE_GENERIC, 1, true},
        {"STL.128", TRACED_STORE, SPACE_LOCAL, 4, false},
        {"ATOMS.ADD", TRACED_ATOMIC, SPACE_SHARED, 1, false},
        {"RED.E.ADD.F32", TRACED_ATOMIC, SPACE_GLOBAL, 1, true},
        {"LDSM.16.M88.4", TRACED_LOAD, SPACE_SHARED, 4, false},
        {"LDG.E.U8", TRACED_LOAD, SPACE_GLOBAL, 1, true},
    };
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct traced_opcode opcode;
        assert_null(traced_opcode(expected[i].mnemonic, 80, &opcode));
        assert_int_equal(opcode.shape, expected[i].shape);
        assert_int_equal(opcode.space, expected[i].space);
        assert_int_equal(opcode.registers, expected[i].registers);
        assert_int_equal(opcode.wide_address, expected[i].wide);
    }
}

/* From sm_50 to sm_62 every fourth word of eight bytes is one of control, the first of them; of sm_35 every eighth. */
static void test_places_leave_words_of_control_out(void **state) {
    (void)state;
    static const unsigned archs[] = {35, 52, 61, 70, 86, 90};
    for (unsigned a = 0; a < sizeof archs / sizeof *archs; a++) {
        const unsigned step = archs[a] >= 70 ? 16 : 8, control = archs[a] >= 70 ? 0 : archs[a] >= 50 ? 32 : 64;
        uint32_t expected = 0;
        for (uint64_t byte = 0; byte < 4096; byte += 4) {
            const bool is_inst = byte % step == 0 && (!control || byte % control != 0);
            assert_int_equal(traced_index(archs[a], byte), is_inst ? expected : NO_PC);
            if (is_inst)
                assert_int_equal(traced_byte(archs[a], expected), byte);
            expected += is_inst;
        }
    }
    assert_int_equal(traced_index(86, UINT64_C(1) << 40), NO_PC);
}

static const char header[] = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (64,1,1)\n-shmem = 64\n-nregs = 8\n"
                             "-binary version = 80\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n";
static const char warp[] = "0000 ffffffff 1 R1 LDG.E.64 1 R2 8 1 0x7f1000000000 8 0\n"
                           "0010 0000ffff 0 BRA 0 0 0\n"
                           "0020 0000ffff 1 R4 IADD3 2 R1 R255 0 5\n"
                           "0030 0000ffff 0 STL 2 R1 R4 4 1 0xfffc00 0 0\n"
                           "0050 ffff0000 0 RED.E.ADD 2 R2 R4 4 2 0x7f1000000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                           "0060 ffffffff 0 BAR.SYNC 0 0 0\n"
                           "0070 00000001 1 R5 LDS 1 R2 4 0 0x10 1\n"
                           "0080 ffffffff 0 EXIT 0 0 0\n";

static enum status import_text(const char *text, size_t length, struct report *report, uint64_t *instructions) {
    struct arena arena = {0};
    struct accel_import import = {.from = "t.traceg", .name = "t", .arena = &arena};
    const enum status status = accel_import_text(&import, (struct scan_word){text, length}, report);
    *instructions = import.instructions;
    arena_free(&arena);
    return status;
}

static size_t whole_text(char *text, size_t size) {
    return (size_t)snprintf(
        text, size,
        "%s#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = 8\n%s\nwarp = 1\ninsts = 8\n%s\n#END_TB\n", header,
        warp, warp);
}

/* The next entry of the track, which is of this place. */
static void take(const struct track *track, struct track_place *place, uint32_t pc, uint32_t guard,
                 struct access *access) {
    struct track_issue issue;
    struct executed executed;
    assert_true(track_take(track, place, &issue, &executed, access));
    assert_int_equal(executed.pc, pc);
    assert_int_equal(executed.lanes, UINT32_MAX); /* a warp goes as one */
    assert_int_equal(issue.guard, guard);
}

static void test_masks_and_addresses_come_through(void **state) {
    (void)state;
    char whole[4096];
    struct arena arena = {0};
    struct report report = {0};
    struct accel_import import = {.from = "t.traceg", .name = "t", .arena = &arena};
    const size_t length = whole_text(whole, sizeof whole);
    assert_int_equal(accel_import_text(&import, (struct scan_word){whole, length}, &report), STATUS_OK);
    struct trace_reader reader = {.name = "t", .data = import.trace.items, .bytes = import.trace.count};
    struct trace_launch found;
    struct recording *recording = NULL;
    assert_int_equal(trace_look(&reader, &found, &arena, &recording, &report), STATUS_OK);
    assert_true(trace_at_end(&reader) && found.blocks == 1 && found.block_threads == 64);
    for (unsigned w = 0; w < 2; w++) {
        const struct track *track = &recording->tracks[w];
        struct track_place place;
        struct access access;
        assert_true(track_begin(track, &place));
        take(track, &place, 0, UINT32_MAX, &access);
        assert_true(access.kind == ACCESS_LOAD && access.space == SPACE_GLOBAL && access.bytes == 8);
        for (unsigned lane = 0; lane < LANES_MAX; lane++)
            assert_true(access.address[lane] == UINT64_C(0x7f1000000000) + 8 * lane);
        take(track, &place, 1, 0xffff, &access), take(track, &place, 2, 0xffff, &access);
        take(track, &place, 3, 0xffff, &access);
        assert_true(access.kind == ACCESS_STORE && access.space == SPACE_LOCAL && access.lanes == 0xffff);
        for (unsigned lane = 1; lane < 16; lane++) /* of one word of all threads */
            assert_true(access.address[lane] == access.address[0] + 4 * lane);
        take(track, &place, 5, 0xffff0000, &access);
        assert_true(access.kind == ACCESS_ATOMIC && access.lanes == 0xffff0000 && access.ticket == 0);
        for (unsigned lane = 16; lane < LANES_MAX; lane++)
            assert_true(access.address[lane] == UINT64_C(0x7f1000000000));
        take(track, &place, 6, UINT32_MAX, &access), take(track, &place, 7, 1, &access);
        assert_true(access.space == SPACE_SHARED && access.address[0] == 0x10);
        take(track, &place, 8, UINT32_MAX, &access);
        assert_true(place.gap == UINT32_MAX);
    }
    arena_free(&arena);
}

static void test_damage_is_refused_with_its_line(void **state) {
    (void)state;
    static const char letters[] = "0123456789abcdefRxZ. \n-#=,";
    char whole[4096], text[4096];
    const size_t length = whole_text(whole, sizeof whole);
    struct report report = {0};
    uint64_t instructions;
    assert_int_equal(import_text(whole, length, &report, &instructions), STATUS_OK);
    assert_int_equal(instructions, 16);
    unsigned refused = 0;
    for (unsigned i = 0; i < 3000; i++) {
        const uint64_t bits = random_bits();
        const size_t used = bits >> 60 ? length : bits % length; /* cut now and then */
        memcpy(text, whole, length);
        for (unsigned k = 0; k < 1 + (bits >> 50 & 1); k++)
            text[random_bits() % length] = letters[random_bits() % (sizeof letters - 1)];
        report_free(&report);
        report = (struct report){0};
        const enum status status = import_text(text, used, &report, &instructions);
        assert_int_equal(status != STATUS_OK, report.messages != 0);
        refused += status != STATUS_OK;
        if (status)
            assert_non_null(strstr(report_text(&report), "t.traceg:"));
    }
    assert_true(refused > 500 && refused < 3000);
    report_free(&report);
}

static void test_damaged_listings_are_refused_with_their_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "not a listing"},
        {TRACED_MAGIC "\n", "no kernel"},
        {TRACED_MAGIC "\n0000 . - EXIT\n", "t.traced:2: error: an instruction before"},
        {TRACED_MAGIC "\nkernel 80 8 k\n0010 . - EXIT\n0010 . - EXIT\n",
         "t.traced:4: error: instructions stand in the order"},
        {TRACED_MAGIC "\nkernel 80 8 k\n0018 . - EXIT\n", "t.traced:3: error: no instruction"},
        {TRACED_MAGIC "\nkernel 80 8 k\n0010 ? - EXIT\n", "t.traced:3: error: the second word"},
        {TRACED_MAGIC "\nkernel 80 8 k\n0010 . R256 MOV\n", "t.traced:3: error: the third word"},
        {TRACED_MAGIC "\nkernel 80 8 k\n0010 . R1 MOV R1 R2 R3 R4 R5\n", "t.traced:3: error: behind the opcode"},
        {TRACED_MAGIC "\nkernel 80 8 k\n0010 . R1 MOOV\n", "t.traced:3: error: 'MOOV': no table"},
        {TRACED_MAGIC "\nkernel 99 8 k\n", "t.traced:2: error: 'kernel' has"},
        {TRACED_MAGIC "\nkernel 80 8 k\n0000 . - EXIT\nkernel 80 8 k\n0000 . - EXIT\n", "two kernels of one name"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report report = {0};
        struct module *module = NULL;
        assert_int_equal(traced_load("t.traced", cases[i].text, strlen(cases[i].text), &module, &report),
                         STATUS_INVALID);
        if (!strstr(report_text(&report), cases[i].words))
            fail_msg("'%s' is not in: %s", cases[i].words, report_text(&report));
        report_free(&report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_opcode_is_classed_or_refused),
        cmocka_unit_test(test_opcodes_say_space_and_width),
        cmocka_unit_test(test_places_leave_words_of_control_out),
        cmocka_unit_test(test_masks_and_addresses_come_through),
        cmocka_unit_test(test_damage_is_refused_with_its_line),
        cmocka_unit_test(test_damaged_listings_are_refused_with_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

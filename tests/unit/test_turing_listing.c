/* SPDX-License-Identifier: Apache-2.0 */
/* Listings of sm_75 to sm_90: what is printed of a cubin is read back and printed the same, with and without encodings, and runs the same; lines of
 * the source come with it; what is not known is refused with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/folder.h"
#include "device/device.h"
#include "device/load.h"
#include "machine/machine.h"
#include "sass/cubin.h"

#define FOLDER HEDDLE_SOURCE_DIR "/tests/native/turing/"

static char *read_cubin(struct arena *arena, const char *name, size_t *length) {
    char *bytes;
    struct report report = {0};
    if (file_read(arena_printf(arena, FOLDER "%s.cubin", name), 1 << 20, arena, &bytes, length, &report) != STATUS_OK)
        fail_msg("%s", report_text(&report));
    return bytes;
}

static const char *listing_of(struct arena *arena, const char *name, bool encodings) {
    struct native_program program = {0};
    struct report report = {0};
    size_t length;
    const char *bytes = read_cubin(arena, name, &length);
    if (cubin_read(name, (const uint8_t *)bytes, length, &program, &report) != STATUS_OK)
        fail_msg("%s", report_text(&report));
    const char *listing = native_print(&program, encodings, arena);
    native_free(&program);
    return listing;
}

static void listings_are_read_back(void **state) {
    static const char *const names[] = {"memory_75", "memory_80", "memory_86", "memory_89", "memory_90",
                                        "calls_75",  "calls_86",  "calls_90",  "forms_75",  "forms_80",
                                        "forms_86",  "forms_89",  "forms_90",  "copies_80", "copies_90",
                                        "lines_75",  "lines_90",  "linked_75", "linked_90", "clusters_90"};
    (void)state;
    for (unsigned i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct native_program program = {0};
        const bool encodings = i % 2;
        const char *text = listing_of(&arena, names[i / 2], encodings);
        if (native_parse("listing.sass", text, &program, &report) != STATUS_OK)
            fail_msg("%s: %s", names[i / 2], report_text(&report));
        assert_string_equal(native_print(&program, encodings, &arena), text);
        native_free(&program);
        arena_free(&arena);
    }
}

/* As readelf --debug-dump=decodedline has them. */
static void lines_are_those_of_the_source(void **state) {
    static const struct {
        uint32_t from, file, line;
    } rows[] = {{0, 1, 4},    {0x10, 1, 5}, {0x40, 1, 6}, {0x60, 1, 7}, {0x90, 2, 3},
                {0xa0, 1, 7}, {0xb0, 2, 3}, {0xc0, 1, 7}, {0xd0, 1, 8}, {0x100, 0, 0}};
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    struct native_program program = {0};
    size_t length;
    const char *bytes = read_cubin(&arena, "lines_75", &length);
    assert_int_equal(cubin_read("lines", (const uint8_t *)bytes, length, &program, &report), STATUS_OK);
    assert_int_equal(program.file_count, 3);
    assert_string_equal(program.files[1], "lines.cl");
    assert_string_equal(program.files[2], "include/scale.h");
    const struct native_kernel *kernel = &program.kernels[strcmp(program.kernels[0].name, "scale") != 0];
    assert_string_equal(kernel->name, "scale");
    for (unsigned i = 0; i + 1 < sizeof rows / sizeof *rows; i++)
        for (uint32_t at = rows[i].from; at < rows[i + 1].from; at += 16) {
            assert_int_equal(kernel->places[at / 16].file, rows[i].file);
            assert_int_equal(kernel->places[at / 16].line, rows[i].line);
        }
    /* the store's line in the PTX */
    const char *ptx = file_try_read(&arena, FOLDER "lines.ptx", NULL), *store = strstr(ptx, "st.global.f32");
    uint32_t line = 1;
    for (const char *c = ptx; c < store; c++)
        line += *c == '\n';
    bool is_found = false;
    for (uint32_t i = 0; i < kernel->code_count; i++)
        is_found |= kernel->ptx_lines[i] == line;
    assert_true(is_found);
    native_free(&program);
    arena_free(&arena);
}

enum { COUNT = 100, THREADS = 32 };

/* A device with a module on it. */
struct place {
    struct machine machine;
    struct report report;
    struct device *device;
    struct program *program;
};

static void open_place(struct place *place, const char *name, const char *text, size_t length) {
    *place = (struct place){.device = NULL};
    assert_int_equal(machine_open(&place->machine, "gtx480", &place->report), STATUS_OK);
    assert_int_equal(device_create(&place->device, &place->machine, &place->report), STATUS_OK);
    if (device_load(place->device, name, text, length, &place->program, &place->report) != STATUS_OK)
        fail_msg("%s: %s", name, report_text(&place->report));
}

static void close_place(struct place *place) {
    device_destroy(place->device);
    machine_close(&place->machine);
    report_free(&place->report);
}

static uint64_t allocate(struct place *place, uint64_t bytes) {
    uint64_t address = 0;
    assert_int_equal(device_alloc(place->device, "data", bytes, &address, &place->report), STATUS_OK);
    return address;
}

static enum status launch_kernel(struct place *place, const char *name, const void *params, uint32_t threads) {
    const struct function *kernel = module_find(program_module(place->program), name);
    assert_non_null(kernel);
    assert_true(kernel->live_registers && kernel->live_registers == kernel->given_registers);
    const struct launch launch = {.program = place->program,
                                  .kernel = kernel,
                                  .grid = {(threads + THREADS - 1) / THREADS, 1, 1},
                                  .block = {threads < THREADS ? threads : THREADS, 1, 1},
                                  .params = params};
    struct launch_result result = {0};
    const enum status status = device_launch(place->device, &launch, &result, &place->report);
    launch_result_free(&result);
    return status;
}

/* y = 2.5 x + 1, by a module of this text. */
static void run(const char *name, const char *text, size_t length) {
    struct place place;
    open_place(&place, name, text, length);
    const struct {
        uint64_t to, from;
        float a, b;
        uint32_t count;
    } params = {allocate(&place, 4 * COUNT), allocate(&place, 4 * COUNT), 2.5f, 1, COUNT};
    float *x = device_memory(place.device, params.from, 4 * COUNT),
          *y = device_memory(place.device, params.to, 4 * COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        x[i] = (float)i;
    if (launch_kernel(&place, "scale", &params, COUNT) != STATUS_OK)
        fail_msg("%s: %s", name, report_text(&place.report));
    for (unsigned i = 0; i < COUNT; i++)
        assert_true(y[i] == 2.5f * (float)i + 1);
    close_place(&place);
}

/* Twice n by a function in another section, and a variable of another file. */
static void linked_functions_are_called(void **state) {
    static const char *const names[] = {"linked_75", "linked_90"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct arena arena = {0};
        struct place place;
        size_t length;
        const char *bytes = read_cubin(&arena, names[i], &length);
        open_place(&place, "linked.cubin", bytes, length);
        const struct {
            uint64_t to;
            uint32_t n;
        } params = {allocate(&place, 4), 21};
        if (launch_kernel(&place, "caller", &params, 1) != STATUS_OK)
            fail_msg("%s: %s", names[i], report_text(&place.report));
        assert_int_equal(*(uint32_t *)device_memory(place.device, params.to, 4), 2 * 21 + 7);
        close_place(&place);
        arena_free(&arena);
    }
}

/* A kernel with an instruction that nothing executes is there, says so when it is launched, and others of the file run. */
static void a_kernel_that_cannot_run_is_refused_alone(void **state) {
    static const char text[] = "code for sm_86\nFunction : good\n.params 8\n.param 0 8\n"
                               "MOV R2, c[0x0][0x160];\nMOV R3, c[0x0][0x164];\nULDC.64 UR4, c[0x0][0x118];\n"
                               "MOV R0, 0x2a;\nSTG.E desc[UR4][R2.64], R0;\nEXIT;\n"
                               "Function : bad\n.params 8\n.param 0 8\nTEX.SCR R4, RZ, R2, R4, 0x0, 0x58, 2D;\nEXIT;\n";
    (void)state;
    struct place place;
    open_place(&place, "two.sass", text, sizeof text - 1);
    const uint64_t to = allocate(&place, 4);
    assert_int_equal(launch_kernel(&place, "good", &to, 1), STATUS_OK);
    assert_int_equal(*(uint32_t *)device_memory(place.device, to, 4), 42);
    assert_int_equal(launch_kernel(&place, "bad", &to, 1), STATUS_INVALID);
    assert_non_null(strstr(report_text(&place.report), "kernel 'bad' has instructions that are not executed:\n"
                                                       "two.sass:14: error: unsupported: "));
    close_place(&place);
}

/* Behind a section stands nothing that threads could run; compilers leave words there that nothing leads to. */
static void code_that_threads_would_run_out_of_is_refused(void **state) {
    static const struct {
        const char *code;
        enum status status;
    } cases[] = {
        {"NOP;", STATUS_INVALID},
        {"@P1 EXIT;", STATUS_INVALID},
        {"@!PT EXIT;", STATUS_INVALID},
        {"EXIT P1;", STATUS_INVALID},
        {"@P1 BRA 0x30;\nEXIT;\nNOP;", STATUS_INVALID},
        {"BSSY B0, 0x30;\nBRA 0x30;\nBSYNC B0;", STATUS_INVALID},
        {"MOV R4, 0x40;\nMOV R5, RZ;\nCALL.REL.NOINC 0x60;\nEXIT;\nEXIT;\nopen:\n@P1 RET.REL.NODEC R4, 0x0;",
         STATUS_INVALID},
        {"EXIT;\nBRA 0x20;\nNOP;\nNOP;", STATUS_OK},
        {"BRA 0x30;\nNOP;\nEXIT;\nNOP;", STATUS_OK},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct place place;
        const char *text =
            arena_printf(&arena, "code for sm_86\nFunction : k\n.params 8\nMOV R6, RZ;\n%s\n", cases[i].code);
        const uint64_t params = 0;
        open_place(&place, "k.sass", text, strlen(text));
        assert_int_equal(launch_kernel(&place, "k", &params, 1), cases[i].status);
        const bool is_named = strstr(report_text(&place.report), "threads that run on behind it leave the code");
        if (is_named != (cases[i].status == STATUS_INVALID))
            fail_msg("%s: %s", cases[i].code, report_text(&place.report));
        close_place(&place);
        arena_free(&arena);
    }
}

static void a_function_that_threads_run_on_into_does_not_return(void **state) {
    static const char text[] = "code for sm_86\nFunction : k\n.params 8\nMOV R4, 0x30;\nMOV R5, RZ;\n"
                               "CALL.REL.NOINC 0x50;\n@P1 EXIT;\nNOP;\ncalled:\nNOP;\nRET.REL.NODEC R4, 0x0;\n";
    (void)state;
    struct place place;
    const uint64_t params = 0;
    open_place(&place, "k.sass", text, sizeof text - 1);
    assert_int_equal(launch_kernel(&place, "k", &params, 1), STATUS_STOPPED);
    assert_non_null(strstr(report_text(&place.report), "return from 'called', which nothing has called"));
    close_place(&place);
}

/* The block's size as a half of the word that holds it, and the byte above of it, which is 0. */
static void halves_of_what_the_driver_writes(void **state) {
    static const char text[] = "code for sm_86\nFunction : k\n.params 8\n.param 0 8\nMOV R2, c[0x0][0x160];\n"
                               "MOV R3, c[0x0][0x164];\nULDC.64 UR4, c[0x0][0x118];\nULDC.U16 UR6, c[0x0][0x0];\n"
                               "ULDC.U8 UR7, c[0x0][0x1];\nMOV R0, UR6;\nIADD3 R0, R0, UR7, RZ;\n"
                               "STG.E desc[UR4][R2.64], R0;\nEXIT;\n";
    (void)state;
    struct place place;
    open_place(&place, "halves.sass", text, sizeof text - 1);
    const uint64_t to = allocate(&place, 4);
    if (launch_kernel(&place, "k", &to, 20) != STATUS_OK)
        fail_msg("%s", report_text(&place.report));
    assert_int_equal(*(uint32_t *)device_memory(place.device, to, 4), 20);
    close_place(&place);
}

/* Constants that lie side by side are loaded at once, and none behind the last. */
static void constants_are_a_bank(void **state) {
    static const char text[] =
        "code for sm_86\n.symbol 0x0 4 n\n.symbol 0x4 4 m\nFunction : %s\n.params 8\n.param 0 8\n"
        ".constant 0x3 0x0 0x3 0x5\nMOV R2, c[0x0][0x160];\nMOV R3, c[0x0][0x164];\n"
        "ULDC.64 UR4, c[0x0][0x118];\nMOV R6, %s;\nLDC.64 R4, c[0x3][R6];\n"
        "IMAD R0, R4, 0x64, R5;\nSTG.E desc[UR4][R2.64], R0;\nEXIT;\n";
    static const char *const offsets[] = {"0x0", "0x10"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct place place;
        char listing[sizeof text + 32];
        const int length = snprintf(listing, sizeof listing, text, "k", offsets[i]);
        open_place(&place, "bank.sass", listing, (size_t)length);
        const uint64_t to = allocate(&place, 4);
        const enum status status = launch_kernel(&place, "k", &to, 1);
        if (i == 0 && status != STATUS_OK)
            fail_msg("%s", report_text(&place.report));
        assert_int_equal(*(uint32_t *)device_memory(place.device, to, 4), i ? 0 : 305);
        if (i) {
            assert_int_equal(status, STATUS_STOPPED);
            assert_non_null(strstr(report_text(&place.report), "'constant bank of bank.sass'"));
        }
        close_place(&place);
    }
}

static void files_and_their_listings_run(void **state) {
    static const char *const names[] = {"lines_75", "lines_90"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct arena arena = {0};
        size_t length;
        const char *bytes = read_cubin(&arena, names[i], &length), *text = listing_of(&arena, names[i], false);
        run("lines.cubin", bytes, length);
        run("lines.sass", text, strlen(text));
        arena_free(&arena);
    }
}

/* Written by hand: no addresses, no control bits, no counts. */
static void a_listing_may_say_less(void **state) {
    static const char text[] = "code for sm_86\n"
                               "Function : scale\n"
                               ".params 28\n.param 0 8\n.param 8 8\n.param 16 4\n.param 20 4\n.param 24 4\n"
                               "S2R R0, SR_CTAID.X;\n"
                               "S2R R2,SR_TID.X;\n"
                               "IMAD R0, R0, c[0x0][0x0], R2;\n"
                               "  ISETP.GE.U32.AND P0, PT, R0, c[0x0][0x178], PT\n"
                               "@P0 EXIT;\n"
                               "MOV R5, 0x4; whatever stands behind\n"
                               "IMAD.WIDE.U32 R2, R0, R5, c[0x0][0x168];\n"
                               "ULDC.64 UR4, c[0x0][0x118];\n"
                               "LDG.E R2, desc[UR4][R2.64];\n"
                               "MOV R6, c[0x0][0x174];\n"
                               "IMAD.WIDE.U32 R4, R0, R5, c[0x0][0x160];\n"
                               "FFMA R7, R2, c[0x0][0x170], R6;\n"
                               "STG.E desc[UR4][R4.64], R7;\n"
                               "EXIT;\n";
    (void)state;
    run("hand.sass", text, sizeof text - 1);
}

static void what_is_not_known_has_a_place(void **state) {
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"FROB R1, R2;", "x.sass:3:1: error: sm_86 has no such form; expected the name of an instruction"},
        {"IADD3.FROB R1, R2, R3, R4;", "x.sass:3:6: error"},
        {"IADD3 R1, R2, Q3, R4;", "x.sass:3:15: error"},
        {"IADD3 R1, R2, R300, R4;", "x.sass:3:15: error"},
        {"IADD3 R1, R2, R3, R4, R5;", "x.sass:3:23: error"},
        {"@P9 EXIT;", "a guard such as @P0"},
        {"IMNMX.U32 R1, R2, R3;", "x.sass:3:21: error"},
        {"[B9-----:R-:W-:-:S01] EXIT;", "control bits such as"},
        {"[B------:R-:W-:-:S17] EXIT;", "control bits such as"},
        {"/*0010*/ EXIT;", "the address /*0000*/"},
        {"/*0x0000*/ EXIT;", "an encoding has 32"},
        {"/*0x000fea0003800000000000000000794d*/ NOP;", "the text says 'NOP"},
        {"/*0x000fea0003800000000000000000094d*/ NOP;", "the text says 'NOP"},
        {"/*0xffffffffffffffffffffffffffffffff*/ NOP;", "the encoding is not known"},
        {".loc 1 2 3", "there is no .file 1"},
        {".frob", "unknown line"},
        {".address code 0x0 8 f 0", "that takes such an address"},
        {"MOV R1, c[0x0][0x160];\nlast:", "no instruction stands behind 'last:'"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct report report = {0};
        struct native_program program = {0};
        struct arena arena = {0};
        const char *end = strstr(cases[i].line, ".address") ? "EXIT;\n" : "";
        const char *text = arena_printf(&arena, "code for sm_86\nFunction : f\n%s\n%s", cases[i].line, end);
        assert_int_equal(native_parse("x.sass", text, &program, &report), STATUS_INVALID);
        if (!strstr(report_text(&report), cases[i].says))
            fail_msg("%s: %s", cases[i].line, report_text(&report));
        report_free(&report);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listings_are_read_back),
        cmocka_unit_test(lines_are_those_of_the_source),
        cmocka_unit_test(files_and_their_listings_run),
        cmocka_unit_test(constants_are_a_bank),
        cmocka_unit_test(halves_of_what_the_driver_writes),
        cmocka_unit_test(a_listing_may_say_less),
        cmocka_unit_test(what_is_not_known_has_a_place),
        cmocka_unit_test(linked_functions_are_called),
        cmocka_unit_test(code_that_threads_would_run_out_of_is_refused),
        cmocka_unit_test(a_function_that_threads_run_on_into_does_not_return),
        cmocka_unit_test(a_kernel_that_cannot_run_is_refused_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

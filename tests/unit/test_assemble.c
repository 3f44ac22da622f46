/* SPDX-License-Identifier: Apache-2.0 */
/* PTX to native code by an assembler of the host: how it is found, what it is told, what is kept, and what is said where it is missing. A
 * script stands in for it; what the real one writes is looked at where it is installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "compile/job.h"
#include "sass/cubin.h"

#define FOLDER HEDDLE_SOURCE_DIR "/tests/native/turing/"

/* Every test has a folder of its own, with a cache in it. */
struct place {
    struct arena arena;
    char folder[32];
    struct report report;
    const char *ptx;
    size_t ptx_bytes;
};

static int open_place(void **state) {
    static struct place place;
    place = (struct place){.folder = "/tmp/heddle-test-XXXXXX"};
    *state = &place;
    if (!mkdtemp(place.folder) || setenv("XDG_CACHE_HOME", place.folder, 1) || unsetenv("HEDDLE_PTXAS"))
        return -1;
    place.ptx = file_try_read(&place.arena, FOLDER "memory.ptx", &place.ptx_bytes);
    return place.ptx ? 0 : -1;
}

static int close_place(void **state) {
    struct place *place = *state;
    folder_remove(&place->arena, place->folder);
    report_free(&place->report);
    arena_free(&place->arena);
    return 0;
}

/* A script that says `version` of itself; given anything else it writes its words and does `body`. */
static void stand_in(struct place *place, const char *version, const char *body) {
    const char *path = arena_printf(&place->arena, "%s/ptxas", place->folder);
    const char *text = arena_printf(&place->arena,
                                    "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '%s'; exit 0; fi\n"
                                    "echo \"$@\" >>%s/words\n"
                                    "while [ \"$1\" != -o ]; do in=$1; shift; done\n%s\n",
                                    version, place->folder, body);
    remove(path);
    assert_true(file_write_private(path, text, strlen(text)));
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(setenv("HEDDLE_PTXAS", path, 1), 0);
}

static const char copies[] = "cp " FOLDER "memory_86.cubin \"$2\"";

/* The words of all its calls. */
static const char *words_of(struct place *place) {
    const char *text = file_try_read(&place->arena, arena_printf(&place->arena, "%s/words", place->folder), NULL);
    return text ? text : "";
}

static enum status assemble(struct place *place, const struct assemble_options *options, struct assembled *out) {
    const struct compile_source source = {"memory.ptx", place->ptx, place->ptx_bytes};
    report_free(&place->report);
    place->report = (struct report){0};
    return compile_assemble(&source, options, &place->arena, out, &place->report);
}

static void a_missing_assembler_is_named(void **state) {
    struct place *place = *state;
    const struct assemble_options options = {.sm = 86};
    struct assembled made;
    setenv("HEDDLE_PTXAS", "", 1);
    assert_int_equal(assemble(place, &options, &made), STATUS_SYSTEM);
    assert_non_null(strstr(report_text(&place->report), "memory.ptx: isa: sm_86 needs NVIDIA's assembler ptxas"));
    setenv("HEDDLE_PTXAS", "/nowhere/ptxas", 1);
    assert_int_equal(assemble(place, &options, &made), STATUS_SYSTEM);
    assert_non_null(strstr(report_text(&place->report), "HEDDLE_PTXAS"));
}

static void what_it_writes_is_kept_for_its_version_and_its_options(void **state) {
    struct place *place = *state;
    struct assembled made;
    size_t length;
    const char *file = file_try_read(&place->arena, FOLDER "memory_86.cubin", &length);
    stand_in(place, "assembler 1", copies);
    assert_int_equal(assemble(place, &(struct assemble_options){.sm = 86}, &made), STATUS_OK);
    assert_false(made.from_cache);
    assert_int_equal(made.length, length);
    assert_memory_equal(made.bytes, file, length);
    assert_non_null(strstr(words_of(place), "-arch=sm_86 -lineinfo "));
    assert_null(strstr(words_of(place), "maxrregcount"));
    assert_int_equal(assemble(place, &(struct assemble_options){.sm = 86, .registers = 255}, &made), STATUS_OK);
    assert_true(made.from_cache);
    assert_memory_equal(made.bytes, file, length);
    assert_int_equal(assemble(place, &(struct assemble_options){.sm = 86, .registers = 40}, &made), STATUS_OK);
    assert_false(made.from_cache);
    assert_non_null(strstr(words_of(place), "--maxrregcount=40"));
    assert_int_equal(assemble(place, &(struct assemble_options){.sm = 89}, &made), STATUS_OK);
    assert_false(made.from_cache);
    stand_in(place, "assembler 2", copies);
    assert_int_equal(assemble(place, &(struct assemble_options){.sm = 86}, &made), STATUS_OK);
    assert_false(made.from_cache);
    place->ptx_bytes--;
    assert_int_equal(assemble(place, &(struct assemble_options){.sm = 86}, &made), STATUS_OK);
    assert_false(made.from_cache);
}

static void a_kept_file_that_was_changed_is_made_again(void **state) {
    struct place *place = *state;
    const struct assemble_options options = {.sm = 86};
    struct assembled made;
    stand_in(place, "assembler 1", copies);
    assert_int_equal(assemble(place, &options, &made), STATUS_OK);
    const char *change =
        "for f in %s/heddle/*.cubin; do printf x | dd of=$f bs=1 seek=200 conv=notrunc 2>/dev/null; done";
    assert_int_equal(system(arena_printf(&place->arena, change, place->folder)), 0);
    const uint8_t *before = made.bytes;
    assert_int_equal(assemble(place, &options, &made), STATUS_OK);
    assert_false(made.from_cache);
    assert_memory_equal(made.bytes, before, made.length);
}

static void its_refusals_are_handed_on(void **state) {
    struct place *place = *state;
    const struct assemble_options options = {.sm = 75};
    struct assembled made;
    stand_in(place, "assembler 1", "echo \"ptxas $in, line 3; error: too new\"; exit 255");
    assert_int_equal(assemble(place, &options, &made), STATUS_INVALID);
    assert_non_null(strstr(report_text(&place->report), "ptxas memory.ptx, line 3; error: too new"));
    stand_in(place, "assembler 1", "cp \"$in\" \"$2\""); /* as 'heddle ptxas' does */
    assert_int_equal(assemble(place, &options, &made), STATUS_SYSTEM);
    assert_non_null(strstr(report_text(&place->report), "is no native code"));
}

static void the_real_one_makes_what_can_be_read(void **state) {
    static const unsigned sms[] = {75, 80, 86, 89, 90};
    struct place *place = *state;
    struct compile_tools tools;
    compile_find_tools(&place->arena, &tools);
    if (!tools.ptxas) {
        print_message("ptxas is not installed: what it makes is not looked at\n");
        skip();
    }
    for (unsigned i = 0; i < sizeof sms / sizeof *sms; i++) {
        const struct assemble_options options = {.sm = sms[i]};
        struct native_program program = {0};
        struct assembled made;
        if (assemble(place, &options, &made) != STATUS_OK ||
            cubin_read("memory", made.bytes, made.length, &program, &place->report) != STATUS_OK)
            fail_msg("%s", report_text(&place->report));
        assert_int_equal(program.sm, sms[i]);
        native_free(&program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_place, close_place)
        TEST(a_missing_assembler_is_named),
        TEST(what_it_writes_is_kept_for_its_version_and_its_options),
        TEST(a_kept_file_that_was_changed_is_made_again),
        TEST(its_refusals_are_handed_on),
        TEST(the_real_one_makes_what_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

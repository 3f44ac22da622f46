/* SPDX-License-Identifier: Apache-2.0 */
/* What a stranger can write into a launch file, a build option, a header's name or a cache folder does not reach a compiler as
 * an option, a file of options or a second line; and no source keeps a compiler for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "compile/job.h"

/* Every test has a folder of its own and works in it. */
struct place {
    struct arena arena;
    char folder[32], before[4096];
};

static int open_place(void **state) {
    static struct place place;
    place = (struct place){.folder = "/tmp/heddle-test-XXXXXX"};
    *state = &place;
    return mkdtemp(place.folder) && getcwd(place.before, sizeof place.before) && chdir(place.folder) == 0 ? 0 : -1;
}

static int close_place(void **state) {
    struct place *place = *state;
    assert_int_equal(chdir(place->before), 0);
    chmod(place->folder, 0700);
    folder_remove(&place->arena, place->folder);
    arena_free(&place->arena);
    return 0;
}

static void need_compiler(struct place *place) {
    struct compile_tools tools;
    compile_find_tools(&place->arena, &tools);
    if (!tools.clang || !tools.libclc64 || !tools.share)
        skip();
}

static void put(const char *path, const char *text) { assert_true(file_write_private(path, text, strlen(text))); }

/* Compiles only where nobody defined INJECTED. */
static const char honest[] = "#ifdef INJECTED\n#error INJECTED\n#endif\nkernel void k(global int *p) { p[0] = 1; }\n";

static enum status compile_with(struct place *place, const struct compile_options *options, const char **said) {
    struct compiled compiled;
    struct report report = {0};
    const enum status status = compile_text(&(struct compile_source){"k.cl", honest, strlen(honest)}, options,
                                            &place->arena, &compiled, &report);
    *said = arena_printf(&place->arena, "%s%s", report_text(&report), compiled.log);
    report_free(&report);
    return status;
}

static void a_definition_is_a_name_and_one_line(void **state) {
    struct place *place = *state;
    need_compiler(place);
    put("evil.rsp", "X=1 -DINJECTED\n");
    put("evil.h", "#define INJECTED\n");
    static const char *const refused[] = {"@evil.rsp", "-load",     "",       "1X",  "X Y", "X=1\n#include \"evil.h\"",
                                          "X=1\r2",    "X=1\\",     "X=?\?/", "X(a", " X",  "X\n",
                                          "=1",        "X=\x1b[2J", "$(id)"};
    static const char *const taken[] = {"A",        "B=",          "_x1=@evil.rsp", "C=-load", "D=\"a b\"",
                                        "E(a)=a+1", "F(a, ...)=a", "G=\t1",         "H=$(id)"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct compile_options options = {.defines = &refused[i], .define_count = 1, .no_cache = true};
        const char *said;
        if (compile_with(place, &options, &said) != STATUS_INVALID || !strstr(said, "definition"))
            fail_msg("'%s' was taken, or refused without a reason: %s", refused[i], said);
    }
    const struct compile_options options = {.defines = taken,
                                            .define_count = sizeof taken / sizeof *taken,
                                            .no_cache = true};
    const char *said;
    if (compile_with(place, &options, &said) != STATUS_OK)
        fail_msg("%s", said);
}

static void a_folder_is_a_path_and_nothing_else(void **state) {
    struct place *place = *state;
    need_compiler(place);
    put("evil.rsp", ". -DINJECTED\n");
    const char *said, *const folders[] = {"@evil.rsp", "-DINJECTED", "$(id)"}, *const lines[] = {"a\nb", ""};
    const struct compile_options options = {.includes = folders, .include_count = 3, .no_cache = true};
    if (compile_with(place, &options, &said) != STATUS_OK)
        fail_msg("%s", said);
    for (unsigned i = 0; i < 2; i++) {
        const struct compile_options two = {.includes = &lines[i], .include_count = 1, .no_cache = true};
        assert_int_equal(compile_with(place, &two, &said), STATUS_INVALID);
        assert_non_null(strstr(said, "path"));
    }
}

static void a_source_may_have_the_name_of_an_option(void **state) {
    struct place *place = *state;
    need_compiler(place);
    static const char *const names[] = {"-fplugin=x.cl", "@mod.cl", "-DINJECTED.cl", "$(id).cl"};
    put("mod.cl", "-DINJECTED k.cl\n");
    put("k.cl", honest);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put(names[i], honest);
        struct compiled compiled;
        struct report report = {0};
        const struct compile_options options = {.no_cache = true};
        if (compile_file(names[i], &options, &place->arena, &compiled, &report) != STATUS_OK)
            fail_msg("%s", report_text(&report));
        report_free(&report);
    }
}

static void only_listed_options_are_handed_on(void **state) {
    struct place *place = *state;
    static const char *const refused[] = {"-fplugin=./evil.so", "@evil.rsp",      "-Xclang",   "-cl-std=CL2.0", "-cl-x",
                                          "-include",           "-Wp,-DINJECTED", "--config=x"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct compile_options options = {.extra = &refused[i], .extra_count = 1, .no_cache = true};
        const char *said;
        assert_int_equal(compile_with(place, &options, &said), STATUS_INVALID);
        assert_non_null(strstr(said, "option"));
    }
    const struct compile_options standard = {.standard = "CL1.2 -DINJECTED", .no_cache = true};
    const char *said;
    assert_int_equal(compile_with(place, &standard, &said), STATUS_INVALID);
}

static void headers_stay_in_a_folder_of_their_own(void **state) {
    struct place *place = *state;
    need_compiler(place);
    static const char *const refused[] = {"/tmp/x.h", "../x.h", "a/../../x.h", "a\nb.h", ""};
    static const char source[] = "#include \"deep/x.h\"\nkernel void k(global int *p) { p[0] = X; }\n";
    struct compiled compiled;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct compile_header header = {refused[i], "int x;\n"};
        const struct compile_options options = {.headers = &header, .header_count = 1};
        struct report report = {0};
        assert_int_equal(compile_object(source, strlen(source), &options, &place->arena, &compiled, &report),
                         STATUS_INVALID);
        assert_non_null(strstr(report_text(&report), "the header '")); /* the source does not compile either */
        report_free(&report);
    }
    /* names of our own files: the log, the IR, and the source itself */
    const struct compile_header headers[] = {
        {"deep/x.h", "#define X 1\n"}, {"./.heddle.log", "x"}, {".heddle.ll", "x"}, {".heddle.half.cl.bc", "x"}};
    const struct compile_options options = {.headers = headers, .header_count = 4};
    assert_int_equal(compile_object(source, strlen(source), &options, &place->arena, &compiled, NULL), STATUS_OK);
    assert_null(strstr(compiled.object, ".headers"));
}

static void the_environment_does_not_instruct_the_compiler(void **state) {
    struct place *place = *state;
    need_compiler(place);
    static const char *const names[] = {"CPATH", "C_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS", "CCC_ADD_ARGS"};
    static const char source[] = "#if __has_include(\"injected.h\") || defined(INJECTED)\n#error INJECTED\n#endif\n"
                                 "kernel void k(global int *p) { p[0] = 1; }\n";
    put("injected.h", "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(setenv(names[i], i < 2 ? place->folder : "+-DINJECTED", 1), 0);
        struct compiled compiled;
        struct report report = {0};
        const struct compile_options options = {.no_cache = true};
        const enum status status = compile_text(&(struct compile_source){"k.cl", source, strlen(source)}, &options,
                                                &place->arena, &compiled, &report);
        unsetenv(names[i]);
        if (status != STATUS_OK)
            fail_msg("%s: %s", names[i], report_text(&report));
        report_free(&report);
    }
}

/* ---- limits ---- */

static void a_source_that_does_not_end_is_stopped(void **state) {
    struct place *place = *state;
    need_compiler(place);
    const struct compile_options options = {.no_cache = true};
    struct compiled compiled;
    assert_int_equal(compile_text(&(struct compile_source){"k.cl", honest, strlen(honest)}, &options, &place->arena,
                                  &compiled, NULL),
                     STATUS_OK);
    static const char *const sources[] = {
        "#include \"pipe\"\n", /* nobody ever writes into it */
        "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(x))))\n#define C(x) B(B(B(B(x))))\nC(C(C(int i;)))\n"};
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(setenv("HEDDLE_COMPILE_SECONDS", "2", 1), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct report report = {0};
        put("k.cl", sources[i]);
        const time_t start = time(NULL);
        assert_int_equal(compile_file("k.cl", &options, &place->arena, &compiled, &report), STATUS_INVALID);
        assert_true(time(NULL) - start < 20);
        if (!strstr(report_text(&report), "was stopped after 2 s") && !strstr(report_text(&report), "memory"))
            fail_msg("%s", report_text(&report));
        report_free(&report);
    }
    unsetenv("HEDDLE_COMPILE_SECONDS");
}

static struct process_end run_in_cage(struct place *place, const struct process_cage *cage, const char *script) {
    struct command_line line = {0};
    struct process_end end;
    command_line_add(&place->arena, &line, "/bin/sh");
    command_line_add(&place->arena, &line, "-c");
    command_line_add(&place->arena, &line, script);
    const char *output = arena_printf(&place->arena, "%s/said", place->folder);
    assert_int_equal(process_run(&place->arena, &line, output, cage, &end, NULL), STATUS_OK);
    return end;
}

static void messages_beyond_all_reading_are_shortened(void **state) {
    struct place *place = *state;
    need_compiler(place);
    put("k.cl", "#include \"k.cl\"\nkernel void k(global \" *p) { }\n");
    struct compiled compiled;
    struct report report = {0};
    const struct compile_options options = {.no_cache = true};
    assert_int_equal(compile_file("k.cl", &options, &place->arena, &compiled, &report), STATUS_INVALID);
    const char *said = report_text(&report);
    assert_true(strlen(said) > 20000 && strlen(said) < 70000);
    assert_non_null(strstr(said, " lines left out]\n"));
    assert_non_null(strstr(said, "nested too deeply")); /* what ended it */
    report_free(&report);
}

static void a_cage_has_a_folder_an_environment_and_limits(void **state) {
    struct place *place = *state;
    const struct process_cage cage = {
        .folder = place->folder, .seconds = 2, .memory_bytes = 1 << 30, .file_bytes = 1 << 20};
    assert_int_equal(setenv("LD_PRELOAD_", "x", 1), 0);
    struct process_end end = run_in_cage(place, &cage, "sleep 0.2; ulimit -v; ulimit -c; pwd; env");
    unsetenv("LD_PRELOAD_");
    assert_null(end.stopped);
    const char *expected = arena_printf(&place->arena, "1048576\n0\n%s\n", place->folder);
    assert_memory_equal(end.output, expected, strlen(expected));
    assert_null(strstr(end.output, "LD_PRELOAD_"));
    end = run_in_cage(place, &cage, "sleep 60");
    assert_string_equal(end.stopped, "was stopped after 2 s");
    end = run_in_cage(place, &cage, "sleep 0.2; exec dd if=/dev/zero of=big bs=1M count=8");
    assert_non_null(end.stopped);
    assert_non_null(strstr(end.stopped, "1 MiB"));
    struct stat info;
    assert_int_equal(stat("big", &info), 0);
    assert_true(info.st_size <= 1 << 20);
}

static void what_reads_from_a_fifo_is_stopped_and_what_waits_for_a_program_is_not(void **state) {
    struct place *place = *state;
    const struct process_cage cage = {
        .folder = place->folder, .seconds = 60, .memory_bytes = 1 << 30, .file_bytes = 1 << 20};
    struct process_end end = run_in_cage(place, &cage, "mkfifo never; exec cat never");
    assert_non_null(end.stopped);
    assert_non_null(strstr(end.stopped, "FIFO"));
    end = run_in_cage(place, &cage, "sleep 4; echo done");
    assert_null(end.stopped);
    assert_string_equal(end.output, "done\n");
}

/* ---- nvcc ---- */

/* Does what nvcc does: hands its words to a shell, between double quotes. */
static const char shell_nvcc[] = "#!/bin/bash\n"
                                 "[ \"$1\" = --version ] && { echo 'Cuda compilation tools, release 12.0'; exit; }\n"
                                 "for word; do line=\"$line \\\"$word\\\"\"; out=$word; done\n"
                                 "eval \"printf '%s\\n' $line\" >/dev/null\n"
                                 "printf '.version 7.0\\n.target sm_75\\n.address_size 64\\n' >\"$out\"\n";

static void no_value_reaches_a_shell(void **state) {
    struct place *place = *state;
    struct compile_tools tools;
    put("nvcc", shell_nvcc);
    assert_int_equal(chmod("nvcc", 0700), 0);
    assert_int_equal(setenv("HEDDLE_NVCC", arena_printf(&place->arena, "%s/nvcc", place->folder), 1), 0);
    compile_find_tools(&place->arena, &tools);
    assert_non_null(tools.nvcc);
    const char *const evil = arena_printf(&place->arena, "X=$(touch %s/pwned)", place->folder);
    const char *const folder = arena_printf(&place->arena, "`touch %s/pwned`", place->folder);
    const struct compile_options options[] = {{.defines = &evil, .define_count = 1, .no_cache = true},
                                              {.includes = &folder, .include_count = 1, .no_cache = true}};
    static const char source[] = "__global__ void k(int *p) { *p = 1; }\n";
    struct compiled compiled;
    if (tools.share) {
        assert_int_equal(compile_text(&(struct compile_source){"k.cu", source, strlen(source)}, &options[0],
                                      &place->arena, &compiled, NULL),
                         STATUS_OK);
        assert_int_equal(compile_text(&(struct compile_source){"k.cu", source, strlen(source)}, &options[1],
                                      &place->arena, &compiled, NULL),
                         STATUS_INVALID);
        assert_int_equal(compile_text(&(struct compile_source){"$(touch pwned).cu", source, strlen(source)}, NULL,
                                      &place->arena, &compiled, NULL),
                         STATUS_INVALID);
    }
    unsetenv("HEDDLE_NVCC");
    assert_false(file_exists("pwned"));
}

/* ---- the cache ---- */

static mode_t mode_of(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

static void the_cache_is_ours_alone_whatever_the_umask(void **state) {
    struct place *place = *state;
    need_compiler(place);
    const char *before = getenv("XDG_CACHE_HOME");
    before = before ? arena_strdup(&place->arena, before) : NULL;
    assert_int_equal(setenv("XDG_CACHE_HOME", arena_printf(&place->arena, "%s/cache", place->folder), 1), 0);
    const mode_t mask = umask(0);
    struct compiled compiled;
    const enum status status =
        compile_text(&(struct compile_source){"k.cl", honest, strlen(honest)}, NULL, &place->arena, &compiled, NULL);
    umask(mask);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(mode_of("cache/heddle"), 0700);
    unsigned count = 0, entries = 0;
    static const char *const endings[] = {".compiled", ".bc", ".version"};
    for (size_t e = 0; e < 3; e++) {
        const char **names = file_list(&place->arena, "cache/heddle", endings[e], &count);
        for (unsigned i = 0; i < count; i++, entries++)
            assert_int_equal(mode_of(arena_printf(&place->arena, "cache/heddle/%s%s", names[i], endings[e])), 0600);
    }
    assert_true(entries >= 3);
    /* one that others may write is neither read nor written */
    assert_int_equal(chmod("cache/heddle", 0777), 0);
    struct compile_tools tools;
    compile_find_tools(&place->arena, &tools);
    assert_null(tools.cache);
    assert_non_null(strstr(tools.cache_refused, "not trusted"));
    assert_int_equal(compile_text(&(struct compile_source){"k.cl", honest, strlen(honest)}, NULL, &place->arena,
                                  &compiled, NULL),
                     STATUS_OK);
    assert_false(compiled.from_cache);
    assert_int_equal(chmod("cache/heddle", 0755), 0);
    assert_int_equal(compile_text(&(struct compile_source){"k.cl", honest, strlen(honest)}, NULL, &place->arena,
                                  &compiled, NULL),
                     STATUS_OK);
    assert_true(compiled.from_cache);
    assert_int_equal(mode_of("cache/heddle"), 0700);
    if (before)
        setenv("XDG_CACHE_HOME", before, 1);
    else
        unsetenv("XDG_CACHE_HOME");
}

static void a_damaged_entry_is_no_entry(void **state) {
    struct place *place = *state;
    struct arena *arena = &place->arena;
    size_t bytes = 0;
    const char *parts[3];
    char *entry = entry_pack(arena, "meta", "log\n", ".version 7.0\n", &bytes);
    assert_true(entry_unpack(arena, entry, bytes, parts));
    assert_string_equal(parts[0], "meta");
    assert_string_equal(parts[1], "log\n");
    assert_string_equal(parts[2], ".version 7.0\n");
    for (size_t i = 0; i < bytes; i++) {
        char *cut = arena_strndup(arena, entry, i);
        assert_false(entry_unpack(arena, cut, i, parts));
        for (unsigned bit = 0; bit < 8; bit++) {
            char *flipped = arena_strndup(arena, entry, bytes);
            flipped[i] = (char)(flipped[i] ^ 1 << bit);
            assert_false(entry_unpack(arena, flipped, bytes, parts));
        }
    }
    /* lengths whose sum is right only because it wraps */
    const char *wraps = arena_printf(arena, CACHE_FORM " %s 18446744073709551615 2 1\nab", job_hash(arena, "ab", 2));
    assert_false(entry_unpack(arena, wraps, strlen(wraps), parts));
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, open_place, close_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_definition_is_a_name_and_one_line),
        IN_PLACE(a_folder_is_a_path_and_nothing_else),
        IN_PLACE(a_source_may_have_the_name_of_an_option),
        IN_PLACE(only_listed_options_are_handed_on),
        IN_PLACE(headers_stay_in_a_folder_of_their_own),
        IN_PLACE(the_environment_does_not_instruct_the_compiler),
        IN_PLACE(a_source_that_does_not_end_is_stopped),
        IN_PLACE(messages_beyond_all_reading_are_shortened),
        IN_PLACE(a_cage_has_a_folder_an_environment_and_limits),
        IN_PLACE(what_reads_from_a_fifo_is_stopped_and_what_waits_for_a_program_is_not),
        IN_PLACE(no_value_reaches_a_shell),
        IN_PLACE(the_cache_is_ours_alone_whatever_the_umask),
        IN_PLACE(a_damaged_entry_is_no_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

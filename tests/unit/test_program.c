/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc's command line as heddle cc reads it: what each word becomes, what is refused, and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "compile/openmp.h"
#include "compile/program.h"

enum { WORDS_MAX = 16 };

static enum status read_line(const char *text, struct arena *arena, struct cuda_program *out, struct report *report) {
    const char *words[WORDS_MAX];
    unsigned count = 0;
    char *line = arena_strdup(arena, text), *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    return program_read(arena, words, count, out, report);
}

static bool has(const struct command_line *line, const char *word) {
    for (unsigned i = 0; i < line->count; i++)
        if (strcmp(line->items[i], word) == 0)
            return true;
    return false;
}

static void options_are_one_word_or_two_with_one_dash_or_two(void **state) {
    (void)state;
    static const char *const lines[] = {
        "-o out -I inc -D A=1 -L lib -l m -std c++14 -arch sm_60 a.cu",
        "-oout -Iinc -DA=1 -Llib -lm -std=c++14 -arch=sm_60 a.cu",
        "--output-file=out --include-path=inc --define-macro=A=1 --library-path=lib --library=m --std=c++14 "
        "--gpu-architecture=compute_60 a.cu",
        "--output-file out --include-path inc --define-macro A=1 --library-path lib --library m --std c++14 "
        "-gencode=arch=compute_60,code=sm_60 a.cu"};
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct cuda_program out;
        assert_int_equal(read_line(lines[i], &arena, &out, &report), STATUS_OK);
        assert_string_equal(out.output, "out");
        assert_true(has(&out.preprocess, "-Iinc") && has(&out.preprocess, "-DA=1") && has(&out.link, "-Llib"));
        assert_string_equal(out.standard, "c++14");
        assert_int_equal(out.sm, 60);
        assert_int_equal(out.inputs.count, 2);
        report_free(&report);
        arena_free(&arena);
    }
}

static void of_architectures_the_highest_up_to_75_is_compiled_for_else_the_lowest(void **state) {
    (void)state;
    static const struct {
        const char *line;
        unsigned sm;
    } cases[] = {
        {"a.cu", 75},
        {"-arch=sm_13 a.cu", 50},
        {"-arch=sm_80 a.cu", 80},
        {"-arch=sm_120 a.cu", 90},
        {"-arch=native a.cu", 75},
        {"-gencode arch=compute_60,code=sm_60 -gencode arch=compute_70,code=[sm_70,compute_70] a.cu", 70},
        {"-gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=sm_80 a.cu", 80},
        {"-gencode arch=compute_86,code=sm_86 -gencode arch=compute_52,code=sm_52 a.cu", 52},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct cuda_program out;
        assert_int_equal(read_line(cases[i].line, &arena, &out, &report), STATUS_OK);
        assert_int_equal(out.sm, cases[i].sm);
        report_free(&report);
        arena_free(&arena);
    }
}

static void device_code_is_in_parts_where_that_is_said(void **state) {
    (void)state;
    static const struct {
        const char *line;
        enum program_stage stage;
        bool in_parts;
        unsigned libraries;
    } cases[] = {
        {"a.cu -lcublas -lcublas_static", PROGRAM_LINK, false, 1},
        {"a.cu -lcudart -lcudadevrt -lm", PROGRAM_LINK, false, 0},
        {"a.cu -lcublas -lcurand_static -lcurand", PROGRAM_LINK, false, 2},
        {"a.cu -lcufft_static -lcublas -lcufft", PROGRAM_LINK, false, 2},
        {"a.cu -lcufft_static -lcublas -lcufft -lcublasLt", PROGRAM_LINK, false, 3},
        {"-rdc=true a.cu b.cu", PROGRAM_LINK, true, 0},
        {"-rdc true -c a.cu", PROGRAM_OBJECT, true, 0},
        {"--relocatable-device-code=false -c a.cu", PROGRAM_OBJECT, false, 0},
        {"-dc a.cu", PROGRAM_OBJECT, true, 0},
        {"-dw a.cu", PROGRAM_OBJECT, false, 0},
        {"-dlink a.o b.a -o c.o", PROGRAM_DEVICE_LINK, false, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct cuda_program out;
        assert_int_equal(read_line(cases[i].line, &arena, &out, &report), STATUS_OK);
        assert_int_equal(out.stage, cases[i].stage);
        assert_int_equal(out.is_in_parts, cases[i].in_parts);
        assert_int_equal(out.libraries.count, cases[i].libraries);
        report_free(&report);
        arena_free(&arena);
    }
}

static void what_is_not_known_or_not_built_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"-frobnicate a.cu", "'-frobnicate': no such option is known"},
        {"--use-fast-math a.cu", "did you mean '--use_fast_math'"},
        {"-Wall a.cu", "-Xcompiler"},
        {"-rdc=maybe a.cu", "'-rdc=maybe': it is true or false"},
        {"-dlink a.cu", "-dlink takes objects and libraries"},
        {"-march=native a.cu", "'-march=native': no such option"},
        {"-lcusparse a.cu", "'-lcusparse': this library"},
        {"-cubin a.cu", "'-cubin': there is no native code"},
        {"-std=c++03 a.cu", "the standards for CUDA"},
        {"-arch=volta a.cu", "'volta' is not an architecture"},
        {"-m32 a.cu", "64 bits"},
        {"-O9 a.cu", "levels are"},
        {"-D2=3 a.cu", "a definition begins with a name"},
        {"@words a.cu", "command line only"},
        {"-Xcompiler @words a.cu", "command line only"},
        {"-optf words a.cu", "command line only"},
        {"a.cu b.txt", "'b.txt': files are"},
        {"-c -o out a.cu b.cu", "there are 2 sources"},
        {"-c a.o", "nothing to compile"},
        {"-O2", "no file to compile"},
        {"a.cu -o", "something must follow it"},
        {"-fmad=perhaps a.cu", "true or false"},
        {"-x fortran a.cu", "languages are cu, c++ and c"},
        {"-x=cuda a.cu", "languages are"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct cuda_program out;
        assert_int_equal(read_line(cases[i].line, &arena, &out, &report), STATUS_INVALID);
        if (!strstr(report_text(&report), cases[i].words))
            fail_msg("%s: %s", cases[i].line, report_text(&report));
        report_free(&report);
        arena_free(&arena);
    }
}

static void what_has_no_effect_is_named_in_a_note(void **state) {
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    struct cuda_program out;
    assert_int_equal(read_line("-Xptxas -v -maxrregcount=32 -lcudart -lineinfo a.cu", &arena, &out, &report),
                     STATUS_OK);
    assert_non_null(strstr(out.notes, "'-Xptxas -v' has no effect"));
    assert_non_null(strstr(out.notes, "'-maxrregcount=32' has no effect"));
    assert_null(strstr(out.notes, "lineinfo"));
    assert_int_equal(out.inputs.count, 1);
    report_free(&report);
    arena_free(&arena);
}

static void words_for_the_host_and_the_linker_are_handed_on(void **state) {
    (void)state;
    struct arena arena = {0};
    struct report report = {0};
    struct cuda_program out;
    assert_int_equal(
        read_line("-Xcompiler -Wall,-fPIC -Xcompiler=-O1 -Xlinker --as-needed -forward-unknown-to-host-compiler "
                  "-funroll-loops -use_fast_math -x cu kernel.inc lib.so.3",
                  &arena, &out, &report),
        STATUS_OK);
    assert_true(has(&out.host, "-Wall") && has(&out.host, "-fPIC") && has(&out.host, "-O1"));
    assert_true(has(&out.host, "-funroll-loops") && !has(&out.device, "-funroll-loops"));
    assert_true(has(&out.link, "--as-needed") && has(&out.device, "-fgpu-approx-transcendentals"));
    assert_int_equal(out.inputs.items[0].kind, PROGRAM_CUDA);
    assert_int_equal(out.inputs.items[1].kind, PROGRAM_LINKED);
    report_free(&report);
    arena_free(&arena);
}

static void files_are_of_the_language_that_is_said_else_of_their_name(void **state) {
    (void)state;
    static const struct {
        const char *line;
        enum program_kind kind;
    } cases[] = {
        {"a.cu", PROGRAM_CUDA},     {"a.cpp", PROGRAM_CXX},        {"a.c", PROGRAM_C},
        {"a.o", PROGRAM_LINKED},    {"-x cu a.c", PROGRAM_CUDA},   {"a.inc -x=c++", PROGRAM_CXX},
        {"--x c a.cpp", PROGRAM_C}, {"-x c a.so", PROGRAM_LINKED},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct cuda_program out;
        assert_int_equal(read_line(cases[i].line, &arena, &out, &report), STATUS_OK);
        assert_int_equal(out.inputs.items[0].kind, cases[i].kind);
        report_free(&report);
        arena_free(&arena);
    }
}

static void openmp_is_asked_for_by_words_for_the_host(void **state) {
    (void)state;
    static const struct {
        const char *line;
        bool is_asked;
    } cases[] = {
        {"a.cu", false},
        {"-Xcompiler -fopenmp a.cu", true},
        {"-Xcompiler -Wall,-fopenmp -c a.cu", true},
        {"-Xcompiler=-fopenmp -Xcompiler=-fno-openmp a.cu", false},
        {"-Xcompiler -fopenmp=libgomp a.cu", false}, /* the user has chosen */
        {"-forward-unknown-to-host-compiler -fopenmp a.cu", true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct cuda_program out;
        assert_int_equal(read_line(cases[i].line, &arena, &out, &report), STATUS_OK);
        assert_int_equal(openmp_is_asked(&out.host), cases[i].is_asked);
        report_free(&report);
        arena_free(&arena);
    }
    assert_true(openmp_is_missing("/usr/bin/ld: cannot find -lomp: No such file or directory\n"));
    assert_true(openmp_is_missing("ld.lld: error: unable to find library -lomp\n"));
    assert_false(openmp_is_missing("/usr/bin/ld: cannot find -lm: No such file or directory\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_one_word_or_two_with_one_dash_or_two),
        cmocka_unit_test(of_architectures_the_highest_up_to_75_is_compiled_for_else_the_lowest),
        cmocka_unit_test(device_code_is_in_parts_where_that_is_said),
        cmocka_unit_test(what_is_not_known_or_not_built_is_refused_by_name),
        cmocka_unit_test(what_has_no_effect_is_named_in_a_note),
        cmocka_unit_test(words_for_the_host_and_the_linker_are_handed_on),
        cmocka_unit_test(files_are_of_the_language_that_is_said_else_of_their_name),
        cmocka_unit_test(openmp_is_asked_for_by_words_for_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What `heddle show` writes of a module made by hand: forms, reconvergence points, escapes, errors. */
#include "analysis_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "study/show.h"

/* A loop with an early way out of its body:
 *   B0: p = ..; r1 = ..          B1: @p bra B3 (skip)      B2: r1 = r1 + r2 (64 bit)
 *   B3: @p bra B1                B4: ret */
static void build_loop(struct builder *b) {
    static const uint8_t types[] = {TYPE_PRED, TYPE_B32, TYPE_B64};
    static const char *names[] = {"%p1", "%r1", "%rd1"};
    struct function *kernel = build_function(b, "walk", 3, types);
    kernel->is_entry = true;
    kernel->reg_names = names;
    build_op(b, -1, 0, 0, NULL);               /* 0 */
    build_op(b, -1, 1, 0, NULL);               /* 1 */
    build_op(b, -1, 2, 0, NULL);               /* 2 */
    build_bra(b, 0, 5);                        /* 3 */
    build_op(b, -1, 1, 2, (uint32_t[]){1, 2}); /* 4 */
    build_bra(b, 0, 3);                        /* 5 */
    build_inst(b, OP_RET, -1);                 /* 6 */
    struct report report = {0};
    b->module.address_bytes = 8;
    b->module.version_major = 8;
    b->module.version_minor = 5;
    b->module.sm = 75;
    assert_int_equal(build_analyse(b, &report), STATUS_OK);
}

/* The text of one form, with sources from a folder; freed by the caller. */
static char *shown_with(const struct module *module, const char *folder, struct show_options options) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct report report = {0};
    assert_int_equal(device_show_module(module, NULL, folder, &options, out, &report), STATUS_OK);
    assert_string_equal(report_text(&report), "");
    fclose(out);
    return text;
}

static char *shown(const struct module *module, struct show_options options) {
    return shown_with(module, NULL, options);
}

static void assert_contains(const char *text, const char *part) {
    if (!strstr(text, part)) {
        print_error("no '%s' in:\n%s", part, text);
        fail();
    }
}

static void graph_as_text_names_where_lanes_meet(void **state) {
    (void)state;
    struct builder b = {0};
    build_loop(&b);
    char *text = shown(&b.module, (struct show_options){.form = SHOW_CFG});
    assert_string_equal(text, "test.ptx  PTX 8.5 for sm_75, 64-bit addresses\n"
                              "\n"
                              "kernel walk()\n"
                              "  B0    pc 0..2        entry\n"
                              "        -> B1\n"
                              "    B1    pc 3..3        loop head, depth 1\n"
                              "          -> B3, else B2; reconverges at B3\n"
                              "    B2    pc 4..4        in the loop of B1\n"
                              "          -> B3\n"
                              "    B3    pc 5..5        in the loop of B1\n"
                              "          -> B1, else B4; reconverges at B4\n"
                              "  B4    pc 6..6\n"
                              "        -> exit\n");
    free(text);
    build_free(&b);
}

static const struct machine made_up = {.name = "made-up",
                                       .warp_size = 32,
                                       .max_threads = 1024,
                                       .max_warps = 32,
                                       .max_blocks = 8,
                                       .max_block_threads = 512,
                                       .registers = 4096,
                                       .register_unit = 64,
                                       .max_registers_per_thread = 63,
                                       .shared_bytes = 16384,
                                       .shared_unit = 128};

static void summary_counts_and_estimates(void **state) {
    (void)state;
    struct builder b = {0};
    build_loop(&b);
    char *text = shown(&b.module, (struct show_options){.machine = &made_up, .block_threads = 128});
    assert_contains(text, "instructions  7 in 5 blocks; 1 loop\n");
    assert_contains(text, "branches      2 where threads may diverge\n");
    assert_contains(text, "B1    pc 3     -> B3, else B2; reconverges at B3\n");
    /* R0, R1 the stack pointer, R2:R3; 4 * 32 = 128 a warp, 32 warps: more than 4096 / 128 = 32 cannot be */
    assert_contains(text, "registers     4 a thread, estimated; at most 3 live, at pc 2 (1 b32, 1 b64); 1 predicate\n");
    assert_contains(
        text, "made-up, blocks of 128 threads: 8 blocks, 32 of 32 warps per SM (100 %), limited by blocks per SM\n");
    free(text);
    text = shown(&b.module, (struct show_options){.machine = &made_up, .block_threads = 513});
    assert_contains(text, "does not fit, for threads per block\n");
    free(text);
    build_free(&b);
}

static void occupancy_is_of_the_block_that_the_kernel_asks_for(void **state) {
    (void)state;
    static const struct {
        uint32_t required[3], most[3];
        const char *shown;
    } cases[] = {{{0}, {0}, "blocks of 256 threads (choose with --block): 4 blocks"},
                 {{0}, {64, 3, 1}, "blocks of 192 threads (the largest the kernel allows): 5 blocks"},
                 {{64, 2, 1}, {64, 3, 1}, "blocks of 128 threads (the size the kernel asks for): 8 blocks"}};
    struct builder b = {0};
    build_loop(&b);
    struct function *kernel = b.functions.items[0];
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(kernel->required_ntid, cases[i].required, sizeof kernel->required_ntid);
        memcpy(kernel->max_ntid, cases[i].most, sizeof kernel->max_ntid);
        char *text = shown(&b.module, (struct show_options){.machine = &made_up});
        assert_contains(text, cases[i].shown);
        free(text);
    }
    build_free(&b);
}

static void registers_are_listed_by_type_and_block(void **state) {
    (void)state;
    struct builder b = {0};
    build_loop(&b);
    char *text = shown(&b.module, (struct show_options){.form = SHOW_REGISTERS});
    assert_contains(text, "  b64              1             1\n");
    assert_contains(text, "  B2     4..4              3 ################################\n");
    assert_contains(text, "  B4     6..6              0\n");
    free(text);
    build_free(&b);
}

static void listing_has_every_instruction_under_its_block(void **state) {
    (void)state;
    struct builder b = {0};
    build_loop(&b);
    char *text = shown(&b.module, (struct show_options){.form = SHOW_LISTING});
    assert_contains(text, "B1  loop head, depth 1  <- B0 B3\n      3   ");
    assert_contains(text, "-> B3, else B2; reconverges at B3\nB2  in the loop of B1  <- B1\n      4   ");
    assert_contains(text, "\n      6   ");
    free(text);
    build_free(&b);
}

static void write_line(const char *folder, const char *name, const char *line) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(line, file);
    fclose(file);
}

/* Names in a module are its author's: only what lies in the module's folder is shown. */
static void sources_outside_the_folder_are_not_read(void **state) {
    (void)state;
    static const char *const names[] = {"beside.cl", "./beside.cl", "../outside.cl", "./../outside.cl",
                                        "../inner/../outside.cl"};
    char folder[] = "/tmp/heddle-test-XXXXXX", inner[64], command[64];
    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof inner, "%s/inner", folder);
    assert_int_equal(mkdir(inner, 0700), 0);
    write_line(inner, "beside.cl", "is shown\n");
    write_line(folder, "outside.cl", "is a secret\n");
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct builder b = {0};
        const char *files[] = {"", names[i]};
        build_loop(&b);
        b.module.files = files, b.module.file_count = 2;
        b.code.items[0].file = 1, b.code.items[0].line = 1;
        char *text = shown_with(&b.module, inner, (struct show_options){.form = SHOW_LISTING});
        assert_contains(text, i < 2 ? "beside.cl:1  is shown\n" : "outside.cl:1\n");
        free(text);
        build_free(&b);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* Graphviz's own parser is the judge, where it is installed; the shape is looked at in any case. */
static void dot_is_valid_graphviz(void **state) {
    (void)state;
    struct builder b = {0};
    build_loop(&b);
    b.module.name = "a \"quoted\\\" name.ptx";
    char *text = shown(&b.module, (struct show_options){.form = SHOW_DOT});
    assert_contains(text, "digraph \"a \\\"quoted\\\\\\\" name.ptx\" {\n");
    assert_contains(text, "    f0_b1 -> f0_b2 [label=\"not taken\"];\n    f0_b1 -> f0_b3 [label=\"taken\"];\n"
                          "    f0_b1 -> f0_b3 [style=dashed");
    assert_contains(text, "    f0_b4 -> f0_exit;\n");
    if (system("dot -V >/dev/null 2>&1") == 0) {
        FILE *dot = popen("dot -Tsvg >/dev/null", "w");
        assert_non_null(dot);
        fputs(text, dot);
        assert_int_equal(pclose(dot), 0);
    }
    free(text);
    build_free(&b);
}

static void unknown_kernel_names_the_nearest(void **state) {
    (void)state;
    struct builder b = {0};
    build_loop(&b);
    struct report report = {0};
    struct show_options options = {.kernel = "wlak"};
    assert_int_equal(device_show_module(&b.module, NULL, NULL, &options, stdout, &report), STATUS_INVALID);
    assert_contains(report_text(&report), "did you mean 'walk'?");
    report_free(&report);
    build_free(&b);
}

static void a_file_of_another_kind_is_refused(void **state) {
    (void)state;
    struct report report = {0};
    struct show_options options = {0};
    assert_int_equal(device_show("notes.txt", &options, stdout, &report), STATUS_INVALID);
    assert_contains(report_text(&report), "notes.txt");
    assert_contains(report_text(&report), ".ptx, .sass, .cubin, .fatbin");
    report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_as_text_names_where_lanes_meet),
        cmocka_unit_test(summary_counts_and_estimates),
        cmocka_unit_test(occupancy_is_of_the_block_that_the_kernel_asks_for),
        cmocka_unit_test(registers_are_listed_by_type_and_block),
        cmocka_unit_test(listing_has_every_instruction_under_its_block),
        cmocka_unit_test(sources_outside_the_folder_are_not_read),
        cmocka_unit_test(dot_is_valid_graphviz),
        cmocka_unit_test(unknown_kernel_names_the_nearest),
        cmocka_unit_test(a_file_of_another_kind_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

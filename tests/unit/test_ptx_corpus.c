/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers produce loads, or is refused with nothing but the groups that are known to be missing. */
#include "unit/ptx_text.h"

#include <dirent.h>

static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    *length = fread(text, 1, (size_t)size, file);
    text[*length] = '\0';
    fclose(file);
    return text;
}

static bool is_known_refusal(const char *line) {
    static const char *const groups[] = {"(tensor instructions)", "(asynchronous copies)", "(mbarrier)", "(clusters)",
                                         "(textures and surfaces)"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strstr(line, "error: unsupported: ") && strstr(line, groups[i]))
            return true;
    return false;
}

/* Every "error:" line of the report must be a known refusal. */
static void check_refusals(const char *report) {
    for (const char *line = report; line && *line;) {
        const char *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) : strlen(line);
        char copy[1024];
        snprintf(copy, sizeof copy, "%.*s", (int)length, line);
        if (strstr(copy, ": error: ") && !is_known_refusal(copy))
            fail_msg("%s", copy);
        line = end ? end + 1 : NULL;
    }
}

static void check_file(const char *path, unsigned *loaded, unsigned *refused) {
    size_t length = 0;
    char *text = read_file(path, &length);
    assert_non_null(text);
    struct report report = {0};
    struct module *module = NULL;
    enum status status = ptx_load(path, text, length, &module, &report);
    if (status == STATUS_OK) {
        ++*loaded;
        for (uint32_t pc = 0; pc < module->code_count; pc++) {
            char line[512];
            const struct function *function = module_function_at(module, pc);
            assert_non_null(function);
            assert_true(strlen(inst_text(module, &module->code[pc], line, sizeof line)) > 1);
            if (module->code[pc].op == OP_BRA)
                assert_true(module->code[pc].target >= function->first_pc &&
                            module->code[pc].target < function->end_pc);
        }
        module_free(module);
    } else {
        ++*refused;
        check_refusals(report_text(&report));
    }
    report_free(&report);
    free(text);
}

static void compiled_corpus_loads(void **state) {
    (void)state;
    const char *folder = HEDDLE_REFERENCE_DIR "/ptx";
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    unsigned loaded = 0, refused = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);
        char path[1024];
        if (length < 4 || strcmp(entry->d_name + length - 4, ".ptx") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        check_file(path, &loaded, &refused);
    }
    closedir(directory);
    print_message("%u files loaded, %u refused by known groups\n", loaded, refused);
    assert_int_equal(loaded + refused, 17);
    assert_true(refused <= 6);
}

static void comparison_kernels_load(void **state) {
    (void)state;
    const char *path = HEDDLE_SOURCE_DIR "/tests/validation/gpgpusim/kernels.ptx";
    size_t length = 0;
    char *text = read_file(path, &length);
    assert_non_null(text);
    struct module *module = load_text(text);
    assert_int_equal(module->code_count, 361); /* counted in the text */
    assert_int_equal(module_find(module, "saxpy")->end_pc - module_find(module, "saxpy")->first_pc, 22);
    module_free(module);
    free(text);
}

static void seeds_of_the_fuzzer_end_well(void **state) {
    (void)state;
    size_t length = 0;
    char *text = read_file(HEDDLE_SOURCE_DIR "/tests/fuzz/corpus/ptx/forms.ptx", &length);
    assert_non_null(text);
    struct module *module = load_text(text);
    assert_int_equal(module->code_count, 35);
    module_free(module);
    /* cut anywhere, it is an error and nothing worse */
    for (size_t cut = 0; cut < length; cut += 7) {
        struct report report = {0};
        char *part = malloc(cut + 1);
        memcpy(part, text, cut);
        enum status status = ptx_load("cut.ptx", part, cut, &module, &report);
        assert_int_equal(status == STATUS_OK, module != NULL);
        module_free(module);
        report_free(&report);
        free(part);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compiled_corpus_loads),
                                       cmocka_unit_test(comparison_kernels_load),
                                       cmocka_unit_test(seeds_of_the_fuzzer_end_well)};
    return cmocka_run_group_tests_name("ptx_corpus", tests, NULL, NULL);
}

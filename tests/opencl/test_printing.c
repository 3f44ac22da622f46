/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels print: conversions as the host's printf has them, and vectors of every type and width. */
#include "opencl_fixture.h"
#include <stddef.h>
#include <unistd.h>

/* What a kernel without arguments prints when one work-item runs it; the caller frees it. */
static char *printed(struct fixture *f, const char *source) {
    cl_int code;
    const size_t one = 1;
    cl_program program = fixture_build(f, source, "");
    cl_kernel kernel = clCreateKernel(program, "a", &code);
    OK(code);
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    assert_true(before >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    const cl_int launched = clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    const cl_int finished = clFinish(f->queue);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    OK(launched);
    OK(finished);
    const long bytes = (fseek(file, 0, SEEK_END), ftell(file));
    char *text = calloc((size_t)bytes + 1, 1);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)bytes, file), bytes);
    fclose(file);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
    return text;
}

static void expect_printed(struct fixture *f, const char *body, const char *expected) {
    char *source = NULL, *text;
    assert_true(asprintf(&source,
                         "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#ifdef cl_khr_fp16\n"
                         "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#endif\nkernel void a(void) {\n%s}\n",
                         body) > 0);
    text = printed(f, source);
    assert_string_equal(text, expected);
    free(text);
    free(source);
}

/* The same words for both; some have flags that do nothing. */
#pragma GCC diagnostic ignored "-Wformat"
#define CONVERSIONS(DO)                                                                                                \
    DO("%d %i", 10, -7)                                                                                                \
    DO("%5d|%-5d|%05d|%+5d|%-+5d|% 10d", 10, 10, 10, 10, 10, 42)                                                       \
    DO("%.5i|%6.5i|%-06i|%06.5i|%.0d|", 100, 100, 100, 100, 0)                                                         \
    DO("%ld|%-15ld|%015ld|%-+16.15li", -10000000000L, -10000000000L, 10000000000L, -10000000000L)                      \
    DO("%hd|%hhd|%hu|%hhu", 70000, 300, 70000, 300)                                                                    \
    DO("%o|%.5o|%#o|%04.5o|%lo", 10, 10, 100000000, 10, 10000000000L)                                                  \
    DO("%u|%.0u|%u", 10, 0, -1)                                                                                        \
    DO("%x|%#x|%#X|%8x|%04x|%lx", 399, 0xabcdef, 0xabcdef, 399, 399, 0x123456789abcL)                                  \
    DO("%c%c|%4c|%-4c|", 'a', 66, '1', '1')                                                                            \
    DO("%s|%4s|%-6s|%.4s|%%", "foo", "a", "ab", "truncated")                                                           \
    DO("%f|%.1f|%8.3f|%08.2f|%-8.2f|%+8.2f|%.0f|% 10.2f", 10.3456, 10.3456, 10.3456, 10.3456, 10.3456, -10.3456, 0.6,  \
       1.25)                                                                                                           \
    DO("%g|%4.2g|%4G|%4G", 12345.6789, 12345.6789, 0.0000023, 0.023)                                                   \
    DO("%e|%-#20.15e|%+#21.15E", 789456123.0, 789456123.0, -789456123.0)                                               \
    DO("%a|%.6a|%10.2a|%A", 0.1, 0.5, 1.5, 255.0)                                                                      \
    DO("%*d|%-*d|%.*f", 7, 42, 7, 42, 3, 3.14159265)

static void conversions_are_the_hosts(void **state) {
#define AS_TEXT(...) "    printf(" #__VA_ARGS__ ");\n    printf(\"\\n\");\n"
#define AS_HOST(...)                                                                                                   \
    length += snprintf(expected + length, sizeof expected - (size_t)length, __VA_ARGS__);                              \
    length += snprintf(expected + length, sizeof expected - (size_t)length, "\n");
    static const char body[] = CONVERSIONS(AS_TEXT);
    char expected[8192];
    int length = 0;
    CONVERSIONS(AS_HOST)
    expect_printed(*state, body, expected);
}

/* Behind every vector a number, which is there only when the vector had its right size. */
static void vectors_of_every_type_and_width(void **state) {
    static const struct {
        const char *type, *conversion;
        int last;
    } kinds[] = {{"char", "hhd", -100},   {"uchar", "hhu", 200},  {"short", "hd", -30000}, {"ushort", "hu", 60000},
                 {"int", "hld", -100000}, {"uint", "hlu", 70000}, {"long", "ld", -5},      {"ulong", "lu", 5},
                 {"float", "hlg", -3},    {"double", "lg", -3},   {"half", "hg", -2},      {"half", "he", 1024},
                 {"ushort", "#hx", 255},  {"float", "5.2hlf", 2}, {"half", "5.1hf", -7}};
    static const int widths[] = {2, 3, 4, 8, 16};
    struct fixture *f = *state;
    char extensions[4096] = "";
    OK(clGetDeviceInfo(f->device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL));
    const bool has_half = strstr(extensions, "cl_khr_fp16") != NULL;
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const char *conversion = kinds[k].conversion, *letters = conversion + strcspn(conversion, "hl");
        char body[4096] = "", expected[4096] = "";
        if (strcmp(kinds[k].type, "half") == 0 && !has_half)
            continue;
        for (unsigned w = 0; w < 5; w++) {
            char *b = body + strlen(body), *e = expected + strlen(expected), format[32];
            const int flags = (int)(letters - conversion);
            b += sprintf(b, "    printf(\"%%%.*sv%d%s %%d\\n\", (%s%d)(", flags, conversion, widths[w], letters,
                         kinds[k].type, widths[w]);
            snprintf(format, sizeof format, "%%%.*s%s%s", flags, conversion, strpbrk(letters, "efg") ? "" : "l",
                     letters + strspn(letters, "hl"));
            for (int i = 0; i < widths[w]; i++) {
                const int value = i == widths[w] - 1 ? kinds[k].last : i + 1;
                b += sprintf(b, "%s%d", i ? ", " : "", value);
                e += i ? sprintf(e, ",") : 0;
                e += strpbrk(letters, "efg") ? sprintf(e, format, (double)value) : sprintf(e, format, (long)value);
            }
            sprintf(b, "), 77);\n");
            sprintf(e, " 77\n");
        }
        expect_printed(f, body, expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions_are_the_hosts),
        cmocka_unit_test(vectors_of_every_type_and_width),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}

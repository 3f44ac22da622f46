/* SPDX-License-Identifier: Apache-2.0 */
/* Sources to PTX: what is kept of the source, what never enters the PTX, and what builtins.cl computes. */
#include "base/bits.h"
#include "compile/job.h"
#include "device/device.h"
#include "machine/machine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A compiler is not part of every machine that builds us. */
static void need_compiler(void) {
    struct arena arena = {0};
    struct compile_tools tools;
    compile_find_tools(&arena, &tools);
    bool there = tools.clang && tools.libclc64 && tools.share;
    arena_free(&arena);
    if (!there)
        skip();
}

static enum status compile(const char *name, const char *text, const char *standard, struct arena *arena,
                           struct compiled *out, struct report *report) {
    const struct compile_options options = {.standard = standard, .no_cache = true};
    return compile_text(&(struct compile_source){name, text, strlen(text)}, &options, arena, out, report);
}

static void arguments_and_sizes_come_from_the_source(void **state) {
    (void)state;
    need_compiler();
    struct arena arena = {0};
    struct compiled c;
    const char *text =
        "struct particle { float x; int n; };\n"
        "typedef float real;\n"
        "__attribute__((reqd_work_group_size(64, 2, 1)))\n"
        "kernel void k(global const float4 *restrict x, local int *l, constant uchar *c,\n"
        "              struct particle p, uint n, volatile global real *y) { y[n] = x->x + l[0] + c[1]; }\n"
        "kernel void other(global ulong2 *z) { z[0] = 1; }\n";
    assert_int_equal(compile("k.cl", text, NULL, &arena, &c, NULL), STATUS_OK);
    assert_int_equal(c.kernel_count, 2);
    const struct compile_kernel *k = compiled_find(&c, "k");
    assert_non_null(k);
    assert_true(k->has_arg_info);
    assert_int_equal(k->arg_count, 6);
    assert_int_equal(k->reqd_work_group_size[0], 64);
    assert_int_equal(k->reqd_work_group_size[1], 2);
    assert_string_equal(k->args[0].name, "x");
    assert_string_equal(k->args[0].type_name, "float4*");
    assert_int_equal(k->args[0].space, COMPILE_GLOBAL);
    assert_true(k->args[0].is_pointer && k->args[0].is_const && k->args[0].is_restrict);
    assert_int_equal(k->args[0].element, COMPILE_ELEMENT_FLOAT);
    assert_int_equal(k->args[0].components, 4);
    assert_int_equal(k->args[1].space, COMPILE_LOCAL);
    assert_int_equal(k->args[2].space, COMPILE_CONSTANT);
    assert_int_equal(k->args[2].element_bytes, 1);
    assert_string_equal(k->args[3].type_name, "struct particle");
    assert_false(k->args[3].is_pointer);
    assert_int_equal(k->args[4].element, COMPILE_ELEMENT_UNSIGNED);
    assert_true(k->args[5].is_volatile);
    assert_string_equal(k->args[5].type_name, "real*");
    assert_int_equal(k->args[5].element_bytes, 4);
    assert_null(compiled_find(&c, "nothing"));
    arena_free(&arena);
}

static void no_path_of_the_host_enters_the_ptx(void **state) {
    (void)state;
    need_compiler();
    char folder[] = "/tmp/heddle-test-XXXXXX", path[128], header[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/in.cl", folder);
    snprintf(header, sizeof header, "%s/part.h", folder);
    FILE *file = fopen(header, "w");
    fputs("int twice(int x) { return 2 * x; }\n", file);
    fclose(file);
    file = fopen(path, "w");
    /* PTX has texts as numbers: that __FILE__ is without its folder is asked of the compiler */
    fputs("#include \"part.h\"\nconstant char where[] = __FILE__;\n"
          "typedef char no_folder[sizeof(__FILE__) == sizeof(\"in.cl\") ? 1 : -1];\n"
          "kernel void k(global int *p) { p[0] = twice(p[1]) + where[p[2]]; }\n",
          file);
    fclose(file);
    struct arena arena = {0};
    struct compiled c;
    const struct compile_options options = {.no_cache = true};
    assert_int_equal(compile_file(path, &options, &arena, &c, NULL), STATUS_OK);
    assert_null(strstr(c.ptx, folder));
    assert_non_null(strstr(c.ptx, "\"in.cl\""));
    unlink(path);
    unlink(header);
    rmdir(folder);
    arena_free(&arena);
}

/* Nothing that a header inlines has a line of its own. */
static void lines_of_cuda_kernels_are_the_sources_own(void **state) {
    (void)state;
    need_compiler();
    struct arena arena = {0};
    struct compiled c;
    static const char text[] = "__global__ void k(float *p, int *n) {\n"
                               "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "  float x = __shfl_down_sync(~0u, __fdividef(sinf(p[i]), fmaxf(p[i], 1.0f)), 1);\n"
                               "  __syncthreads();\n"
                               "  if (x > 0) p[i] = min(x, (float)atomicAdd(n, 1)); }\n";
    assert_int_equal(compile("k.cu", text, NULL, &arena, &c, NULL), STATUS_OK);
    const char *at = strstr(c.ptx, "\t.file\t");
    assert_non_null(at);
    assert_non_null(strstr(at, "\"k.cu\""));
    assert_null(strstr(at + 1, "\t.file\t"));
    arena_free(&arena);
}

static void a_wrong_source_is_invalid_and_says_where(void **state) {
    (void)state;
    need_compiler();
    struct arena arena = {0};
    struct compiled c;
    struct report report = {0};
    enum status status =
        compile("wrong.cl", "kernel void k(global int *p) {\n  p[0] = q;\n}\n", NULL, &arena, &c, &report);
    assert_int_equal(status, STATUS_INVALID);
    assert_non_null(strstr(c.log, "wrong.cl:2:10: error"));
    assert_non_null(strstr(report_text(&report), "undeclared"));
    report_free(&report);
    arena_free(&arena);
}

static void the_same_source_comes_from_the_cache_and_a_changed_one_does_not(void **state) {
    (void)state;
    need_compiler();
    char folder[] = "/tmp/heddle-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *before = getenv("XDG_CACHE_HOME");
    char *saved = before ? strdup(before) : NULL;
    setenv("XDG_CACHE_HOME", folder, 1);
    struct arena arena = {0};
    struct compiled first, second, third;
    const char *one = "kernel void k(global int *p) { p[0] = 1; }", *two = "kernel void k(global int *p) { p[0] = 2; }";
    assert_int_equal(compile_text(&(struct compile_source){NULL, one, strlen(one)}, NULL, &arena, &first, NULL),
                     STATUS_OK);
    assert_int_equal(compile_text(&(struct compile_source){NULL, one, strlen(one)}, NULL, &arena, &second, NULL),
                     STATUS_OK);
    assert_int_equal(compile_text(&(struct compile_source){NULL, two, strlen(two)}, NULL, &arena, &third, NULL),
                     STATUS_OK);
    assert_false(first.from_cache);
    assert_true(second.from_cache);
    assert_string_equal(first.ptx, second.ptx);
    assert_int_equal(second.kernel_count, 1);
    assert_string_equal(second.kernels[0].args[0].name, "p");
    assert_false(third.from_cache);
    if (saved)
        setenv("XDG_CACHE_HOME", saved, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(saved);
    char command[160];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    arena_free(&arena);
}

static void expect_first_kernel(const char *text, const char *name) {
    struct arena arena = {0};
    const char *found = job_first_kernel(&arena, text);
    assert_true(found ? name && strcmp(found, name) == 0 : !name);
    arena_free(&arena);
}

static void a_program_is_named_by_its_first_kernel(void **state) {
    (void)state;
    expect_first_kernel("kernel void add(global int *p) {}", "add");
    expect_first_kernel(
        "/* kernel void no(); */ // kernel void no();\n#define K \\\n kernel void no()\nfloat f(float x);\n"
        "__constant char s[] = \"kernel void no(\";\n__kernel __attribute__((reqd_work_group_size(8, 1, "
        "1)))\nvoid\nscale_2 (int k) {}\nkernel void other() {}",
        "scale_2");
    expect_first_kernel("__global__ void __launch_bounds__(64) saxpy(int n) {}", "saxpy");
    expect_first_kernel("int f(int x) { return x; }", NULL);
    expect_first_kernel("kernel void /* no end", NULL);
    expect_first_kernel("kernel void f\\", NULL);
    expect_first_kernel("#", NULL);
    expect_first_kernel("kernel __attribute__((", NULL);
    expect_first_kernel("", NULL);
    need_compiler();
    struct arena arena = {0};
    struct compiled compiled;
    const char *text = "kernel void add(global int *p) { p[0] = 1; }",
               *with = "#include \"add.cl\"\nkernel void add(global int *p) { p[0] = ONE; }";
    assert_int_equal(compile_text(&(struct compile_source){NULL, text, strlen(text)}, NULL, &arena, &compiled, NULL),
                     STATUS_OK);
    assert_non_null(strstr(compiled.ptx, "\"add.cl\""));
    const struct compile_header header = {"add.cl", "#define ONE 1\n"};
    const struct compile_options options = {.headers = &header, .header_count = 1};
    assert_int_equal(
        compile_text(&(struct compile_source){NULL, with, strlen(with)}, &options, &arena, &compiled, NULL), STATUS_OK);
    assert_non_null(strstr(compiled.ptx, "\"add-program.cl\""));
    arena_free(&arena);
}

enum { THREADS = 96, BLOCK = 48 }; /* the last warp of a block is short */

/* Runs kernel k of the text on THREADS threads in blocks of BLOCK; out has 8 words per thread. */
static void run_as(const char *name, const char *text, const char *standard, uint32_t out[THREADS][8]) {
    struct arena arena = {0};
    struct compiled compiled;
    struct report report = {0};
    struct machine machine = {0};
    struct device *device = NULL;
    struct program *program = NULL;
    if (compile(name, text, standard, &arena, &compiled, &report) != STATUS_OK)
        fail_msg("%s", report_text(&report));
    assert_int_equal(machine_open(&machine, NULL, &report), STATUS_OK);
    assert_int_equal(device_create(&device, &machine, &report), STATUS_OK);
    if (device_load(device, name, compiled.ptx, compiled.ptx_bytes, &program, &report) != STATUS_OK)
        fail_msg("%s", report_text(&report));
    uint64_t address = 0, bytes = sizeof(uint32_t[THREADS][8]);
    assert_int_equal(device_alloc(device, "out", bytes, &address, &report), STATUS_OK);
    struct launch launch = {.program = program,
                            .kernel = module_find(program_module(program), "k"),
                            .grid = {THREADS / BLOCK, 1, 1},
                            .block = {BLOCK, 1, 1},
                            .params = &address,
                            .global_offset = {7, 0, 0},
                            .work_dim = 1};
    assert_non_null(launch.kernel);
    struct launch_result result = {0};
    if (device_launch(device, &launch, &result, &report) != STATUS_OK)
        fail_msg("%s", report_text(&report));
    memcpy(out, device_memory(device, address, bytes), bytes);
    launch_result_free(&result);
    device_destroy(device);
    machine_close(&machine);
    report_free(&report);
    arena_free(&arena);
}

static void run(const char *text, const char *standard, uint32_t out[THREADS][8]) {
    run_as("k.cl", text, standard, out);
}

static void work_items_know_where_they_are(void **state) {
    (void)state;
    need_compiler();
    uint32_t out[THREADS][8];
    run("kernel void k(global uint8 *o) { o[get_global_linear_id()] = (uint8)(get_global_id(0), get_global_offset(0),\n"
        "  get_work_dim(), get_local_linear_id(), get_local_size(3), get_sub_group_id(), get_sub_group_size(),\n"
        "  get_num_sub_groups()); }",
        "CL2.0", out);
    for (uint32_t i = 0; i < THREADS; i++) {
        const uint32_t lid = i % BLOCK;
        const uint32_t want[8] = {i + 7, 7, 1, lid, 1, lid / 32, lid < 32 ? 32 : 16, 2};
        assert_memory_equal(out[i], want, sizeof want);
    }
}

static void collectives_of_groups_and_warps(void **state) {
    (void)state;
    need_compiler();
    uint32_t out[THREADS][8];
    run("kernel void k(global uint8 *o) { uint i = get_global_linear_id(), v = i * i + 1; o[i] = (uint8)(\n"
        "  work_group_scan_inclusive_add(v), work_group_scan_exclusive_add(v), work_group_reduce_max(v),\n"
        "  sub_group_reduce_add(v), sub_group_scan_exclusive_max(v), work_group_broadcast(v, 40),\n"
        "  (uint)work_group_all(v > 0) * 2 + work_group_any(v == 2), sub_group_shuffle_xor(v, 1)); }",
        "CL2.0", out);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t first = i - i % BLOCK, lid = i % BLOCK, warp = first + (lid & ~31u), end = warp + (lid < 32 ? 32 : 16);
        uint32_t prefix = 0, total = 0, before = 0;
        for (uint32_t j = first; j < i; j++)
            prefix += j * j + 1;
        for (uint32_t j = warp; j < end; j++)
            total += j * j + 1;
        if (i > warp)
            before = (i - 1) * (i - 1) + 1;
        const uint32_t last = first + BLOCK - 1, v = i * i + 1;
        const uint32_t want[8] = {prefix + v,       prefix,
                                  last * last + 1,  total,
                                  before,           (first + 40) * (first + 40) + 1,
                                  2 + (first == 0), (i ^ 1) * (i ^ 1) + 1};
        assert_memory_equal(out[i], want, sizeof want);
    }
}

static void atomics_of_every_order_and_scope_count_right(void **state) {
    (void)state;
    need_compiler();
    uint32_t out[THREADS][8];
    run("kernel void k(global uint8 *o) {\n"
        "  global atomic_uint *p = (global atomic_uint *)o;\n"
        "  local atomic_uint c; if (get_local_id(0) == 0) atomic_init(&c, 5u); "
        "work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
        "  atomic_fetch_add_explicit(p, 1u, memory_order_acq_rel, memory_scope_device);\n"
        "  atomic_fetch_add_explicit(p + 1, 2u, memory_order_seq_cst, memory_scope_all_svm_devices);\n"
        "  atomic_fetch_max_explicit(p + 2, (uint)get_global_id(0), memory_order_relaxed, memory_scope_work_group);\n"
        "  atomic_fetch_sub(p + 3, 1u);\n"
        "  uint old = atomic_load(p + 4);\n"
        "  while (!atomic_compare_exchange_weak(p + 4, &old, old + 3)) ;\n"
        "  atomic_fetch_add_explicit(&c, 1u, memory_order_release, memory_scope_work_group);\n"
        "  work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
        "  if (get_local_id(0) == 0) atomic_fetch_add(p + 5, atomic_load_explicit(&c, memory_order_acquire,\n"
        "    memory_scope_work_group));\n"
        "  if (get_global_linear_id() == 0) atomic_store_explicit(p + 6, 9u, memory_order_release,\n"
        "    memory_scope_device);\n"
        "  atom_add((global ulong *)o + 4, 0x100000001ul); }",
        "CL2.0", out);
    const uint32_t want[8] = {
        THREADS, 2 * THREADS, THREADS + 6, (uint32_t)-THREADS, 3 * THREADS, 5 * (THREADS / BLOCK) + THREADS, 9, 0};
    assert_memory_equal(out[0], want, sizeof want);
    assert_int_equal(out[1][0], THREADS);
    assert_int_equal(out[1][1], THREADS);
}

/* What orders the accesses around an atomic, and at which scope, is in the PTX. */
static void order_and_scope_of_atomics_reach_the_ptx(void **state) {
    (void)state;
    need_compiler();
    static const struct {
        const char *call, *present[3], *absent;
    } cases[] = {
        {"atomic_fetch_add_explicit(p, 1u, memory_order_relaxed, memory_scope_device)", {"atom.", NULL}, "fence."},
        {"atomic_fetch_add_explicit(p, 1u, memory_order_acquire, memory_scope_device)",
         {"fence.acq_rel.gpu"},
         "fence.sc"},
        {"atomic_fetch_add_explicit(p, 1u, memory_order_release, memory_scope_work_group)",
         {"fence.acq_rel.cta", "atom.relaxed.cta"},
         "gpu"},
        {"atomic_fetch_add_explicit(p, 1u, memory_order_seq_cst, memory_scope_all_svm_devices)",
         {"fence.sc.sys", "atom.relaxed.sys", "fence.acq_rel.sys"},
         "gpu"},
        {"atomic_store_explicit(p, 1u, memory_order_release, memory_scope_all_svm_devices)",
         {"fence.acq_rel.sys", "st.relaxed.sys"},
         "fence.sc"},
        {"atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)",
         {"fence.sc.gpu"},
         "fence.acq_rel"},
        {"atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group)",
         {"fence.acq_rel.cta"},
         "gpu"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct compiled c;
        const char *text = arena_printf(&arena, "kernel void k(global atomic_uint *p) { %s; }\n", cases[i].call);
        assert_int_equal(compile("order.cl", text, "CL3.0", &arena, &c, NULL), STATUS_OK);
        for (unsigned k = 0; k < 3 && cases[i].present[k]; k++)
            assert_non_null(strstr(c.ptx, cases[i].present[k]));
        assert_null(strstr(c.ptx, cases[i].absent));
        arena_free(&arena);
    }
}

static void small_gaps_of_libclc_are_closed(void **state) {
    (void)state;
    need_compiler();
    uint32_t out[THREADS][8];
    run("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "kernel void k(global uint8 *o) { uint i = get_global_linear_id(); int zero = (int)o[i].s0;\n"
        "  o[i] = (uint8)(ctz(i << 3), (uint)mad_hi(i << 30, 8u, 1u), as_uint(sub_sat(zero, (int)0x80000000)),\n"
        "  (uint)(uchar)convert_uchar_sat((float)i * 4.0f - 8.0f), as_uint(ldexp(0x1p-140f, (int)(i & 7))),\n"
        "  (uint)as_ushort(fma((half)i, (half)2.0f, (half)0.5f)), as_uint(fmod(0x1.8p-140f, 0x1p-141f * (float)(i | "
        "1))),\n"
        "  (uint)convert_int_sat(as_float(0x7fc00000 + zero))); }",
        "CL2.0", out);
    for (uint32_t i = 0; i < THREADS; i++) {
        int scaled = (int)i * 4 - 8;
        uint32_t clamped = (uint32_t)(scaled < 0 ? 0 : scaled > 255 ? 255 : scaled);
        assert_int_equal(out[i][0], i ? bits_first(i << 3) : 32);
        assert_int_equal(out[i][1], (uint32_t)((uint64_t)(i << 30) * 8 >> 32) + 1);
        assert_int_equal(out[i][2], 0x7fffffff);
        assert_int_equal(out[i][3], clamped);
        assert_int_equal(out[i][4], UINT32_C(1) << (9 + (i & 7))); /* denormal: 2^-149 is 1 */
        /* 2i + 0.5 in half: exact up to 511.5 */
        uint32_t twice = 4 * i + 1, exponent = 31 - (uint32_t)__builtin_clz(twice);
        assert_int_equal(out[i][5], (exponent + 14) << 10 | ((twice << (10 - exponent)) & 0x3ff));
        assert_int_equal(out[i][6], 768 % (256 * (i | 1))); /* in units of 2^-149 */
        assert_int_equal(out[i][7], 0);
    }
}

#define SEARCHES                                                                                                       \
    "  int p = (i * 2654435761u) >> 31; unsigned int lane = l % 32;\n"                                                 \
    "  unsigned int n = heddle_cond_acc(s + (l / 32) * 32, p, i + 1);\n"                                               \
    "  o[8 * i] = n; o[8 * i + 1] = lane < n ? s[l / 32 * 32 + lane] : 0; o[8 * i + 2] = heddle_ballot(p);\n"          \
    "  o[8 * i + 3] = heddle_tree_traverse(5u, p, 3); o[8 * i + 4] = heddle_load_row(o + 8 * i + 5);\n"                \
    "  unsigned int v = 9; while (heddle_load_snoop(o + 8 * i + 7, &v)) heddle_progress();\n"                          \
    "  o[8 * i + 5] = v; while (heddle_store_snoop(o + 8 * i + 6, 42u)); }"

/* heddle.h */
static void search_instructions_in_both_languages(void **state) {
    (void)state;
    need_compiler();
    static const char *const sources[][2] = {
        {"k.cl", "#include <heddle.h>\nkernel void k(global uint *o) { local uint s[64];\n"
                 "  uint l = get_local_id(0), i = get_group_id(0) * get_local_size(0) + l;\n" SEARCHES},
        {"k.cu",
         "#include <heddle.h>\nextern \"C\" __global__ void k(unsigned int *o) { __shared__ unsigned int s[64];\n"
         "  unsigned int l = threadIdx.x, i = blockIdx.x * blockDim.x + l;\n" SEARCHES},
    };
    for (unsigned source = 0; source < 2; source++) {
        uint32_t out[THREADS][8];
        run_as(sources[source][0], sources[source][1], NULL, out);
        for (uint32_t first = 0; first < THREADS; first += first % BLOCK ? BLOCK - 32 : 32) {
            const uint32_t lanes = first % BLOCK ? BLOCK - 32 : 32;
            uint32_t count = 0, bits = 0, found[32] = {0};
            for (uint32_t lane = 0; lane < lanes; lane++)
                if ((first + lane) * UINT32_C(2654435761) >> 31) {
                    found[count++] = first + lane + 1;
                    bits |= UINT32_C(1) << lane;
                }
            for (uint32_t lane = 0; lane < lanes; lane++) {
                const uint32_t want[8] = {count, found[lane], bits, 5 + 8 * count, 0, 0, 42, 0};
                assert_memory_equal(out[first + lane], want, sizeof want);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_and_sizes_come_from_the_source),
        cmocka_unit_test(no_path_of_the_host_enters_the_ptx),
        cmocka_unit_test(lines_of_cuda_kernels_are_the_sources_own),
        cmocka_unit_test(a_wrong_source_is_invalid_and_says_where),
        cmocka_unit_test(a_program_is_named_by_its_first_kernel),
        cmocka_unit_test(the_same_source_comes_from_the_cache_and_a_changed_one_does_not),
        cmocka_unit_test(work_items_know_where_they_are),
        cmocka_unit_test(collectives_of_groups_and_warps),
        cmocka_unit_test(atomics_of_every_order_and_scope_count_right),
        cmocka_unit_test(order_and_scope_of_atomics_reach_the_ptx),
        cmocka_unit_test(small_gaps_of_libclc_are_closed),
        cmocka_unit_test(search_instructions_in_both_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

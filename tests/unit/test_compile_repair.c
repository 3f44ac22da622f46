/* SPDX-License-Identifier: Apache-2.0 */
/* What compile_repair.c makes of the IR that LLVM 19's NVPTX back end gets wrong. */
#include "compile/repair.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect_repair(const char *ir, const char *expected) {
    struct arena arena = {0};
    assert_string_equal(repair_ir(&arena, ir), expected);
    arena_free(&arena);
}

static void a_comparison_of_short2_is_taken_apart(void **state) {
    (void)state;
    expect_repair("define void @k() {\n"
                  "  %3 = icmp ne <2 x i16> %1, %2\n"
                  "  %4 = sext <2 x i1> %3 to <2 x i16>, !dbg !7\n"
                  "  ret void\n"
                  "}\n",
                  "define void @k() {\n"
                  "  %3 = icmp ne <2 x i16> %1, %2\n"
                  "  %heddle.0.bit0 = extractelement <2 x i1> %3, i64 0, !dbg !7\n"
                  "  %heddle.0.half0 = sext i1 %heddle.0.bit0 to i16, !dbg !7\n"
                  "  %heddle.0.bit1 = extractelement <2 x i1> %3, i64 1, !dbg !7\n"
                  "  %heddle.0.half1 = sext i1 %heddle.0.bit1 to i16, !dbg !7\n"
                  "  %heddle.0.low = insertelement <2 x i16> poison, i16 %heddle.0.half0, i64 0, !dbg !7\n"
                  "  %4 = insertelement <2 x i16> %heddle.0.low, i16 %heddle.0.half1, i64 1, !dbg !7\n"
                  "  ret void\n"
                  "}\n");
}

static void a_narrowed_pair_of_words_is_kept_apart_from_what_it_comes_from(void **state) {
    (void)state;
    expect_repair("define void @k() {\n"
                  "  %3 = sext <2 x i1> %1 to <2 x i64>\n"
                  "  %4 = trunc <2 x i64> %3 to <2 x i16>, !dbg !7\n"
                  "  %5 = trunc <2 x i64> %3 to <2 x i32>\n"
                  "  %6 = trunc nuw <2 x i32> %5 to <2 x i16>\n"
                  "}\n",
                  "define void @k() {\n"
                  "  %3 = sext <2 x i1> %1 to <2 x i64>\n"
                  "  %heddle.0 = freeze <2 x i64> %3\n"
                  "  %4 = trunc <2 x i64> %heddle.0 to <2 x i16>, !dbg !7\n"
                  "  %5 = trunc <2 x i64> %3 to <2 x i32>\n"
                  "  %heddle.1 = freeze <2 x i32> %5\n"
                  "  %6 = trunc nuw <2 x i32> %heddle.1 to <2 x i16>\n"
                  "}\n");
}

static void halves_that_become_floats_are_kept_apart_from_their_load(void **state) {
    (void)state;
    expect_repair("define void @k() {\n"
                  "  %3 = load <16 x half>, ptr addrspace(1) %1, align 32\n"
                  "  %4 = fpext <16 x half> %3 to <16 x float>, !dbg !7\n"
                  "  %5 = fpext half %2 to float\n"
                  "  %6 = fpext <4 x float> %0 to <4 x double>\n"
                  "}\n",
                  "define void @k() {\n"
                  "  %3 = load <16 x half>, ptr addrspace(1) %1, align 32\n"
                  "  %heddle.0 = freeze <16 x half> %3\n"
                  "  %4 = fpext <16 x half> %heddle.0 to <16 x float>, !dbg !7\n"
                  "  %5 = fpext half %2 to float\n"
                  "  %6 = fpext <4 x float> %0 to <4 x double>\n"
                  "}\n");
}

/* heddle.h */
static void a_predicate_is_given_to_search_instructions(void **state) {
    (void)state;
    expect_repair(
        "define void @k() {\n"
        "  %9 = tail call i32 asm sideeffect \"cond_acc.sync.shared.b32 $0, [$2], $1, $3, -1;\", "
        "\"=r,r,r,r,~{memory}\"(i32 %7, i32 %8, i32 %5) #3, !dbg !9\n"
        "  %10 = tail call i64 asm sideeffect \"tree_traverse.sync.u64 $0, $2, $1, $3, -1;\", \"=l,r,l,r\"(i32 %7, i64 "
        "7, i32 3) #3\n"
        "  %11 = tail call i32 asm sideeffect \"activemask.b32 $0;\", \"=r,~{memory}\"() #3\n"
        "}\n",
        "define void @k() {\n"
        "  %heddle.0 = trunc i32 %7 to i1\n"
        "  %9 = tail call i32 asm sideeffect \"cond_acc.sync.shared.b32 $0, [$2], $1, $3, -1;\", "
        "\"=r,b,r,r,~{memory}\"(i1 %heddle.0, i32 %8, i32 %5) #3, !dbg !9\n"
        "  %heddle.1 = trunc i32 %7 to i1\n"
        "  %10 = tail call i64 asm sideeffect \"tree_traverse.sync.u64 $0, $2, $1, $3, -1;\", \"=l,b,l,r\"(i1 "
        "%heddle.1, "
        "i64 7, i32 3) #3\n"
        "  %11 = tail call i32 asm sideeffect \"activemask.b32 $0;\", \"=r,~{memory}\"() #3\n"
        "}\n");
}

static void a_short_line_is_read_to_its_end(void **state) {
    (void)state;
    struct arena arena = {0};
    const char *repaired = repair_ir(&arena, "define void @k() {\n  %4 = zext <2 x i1> %3 to <2 x i16>\n}");
    assert_non_null(strstr(repaired, "  %heddle.0.half1 = zext i1 %heddle.0.bit1 to i16\n"));
    assert_non_null(strstr(repaired, "  %4 = insertelement <2 x i16> %heddle.0.low, i16 %heddle.0.half1, i64 1\n}"));
    arena_free(&arena);
}

static void an_element_of_a_private_vector_keeps_its_load(void **state) {
    (void)state;
    expect_repair("define void @k() {\n"
                  "  %3 = load <4 x i64>, ptr %2, align 32, !tbaa !17\n"
                  "  %5 = extractelement <4 x i64> %3, i64 %4, !dbg !7\n"
                  "  ret void\n"
                  "}\n",
                  "define void @k() {\n"
                  "  %3 = load <4 x i64>, ptr %2, align 32, !tbaa !17\n"
                  "  %heddle.0 = freeze <4 x i64> %3\n"
                  "  %5 = extractelement <4 x i64> %heddle.0, i64 %4, !dbg !7\n"
                  "  ret void\n"
                  "}\n");
}

static void a_bit_with_a_sign_becomes_minus_one(void **state) {
    (void)state;
    expect_repair("define void @k() {\n"
                  "  %4 = sitofp i1 %3 to double, !dbg !7\n"
                  "  %6 = sitofp <2 x i1> %5 to <2 x float>\n"
                  "  %8 = sitofp i16 %7 to float\n"
                  "}\n",
                  "define void @k() {\n"
                  "  %4 = select i1 %3, double -1.0, double 0.0, !dbg !7\n"
                  "  %6 = select <2 x i1> %5, <2 x float> <float -1.0, float -1.0>, <2 x float> "
                  "zeroinitializer\n"
                  "  %8 = sitofp i16 %7 to float\n"
                  "}\n");
}

static void bytes_off_their_alignment_are_loaded_in_halves(void **state) {
    (void)state;
    expect_repair(
        "define void @k() {\n"
        "  %2 = load <16 x i8>, ptr addrspace(1) %1, align 1, !tbaa !9\n"
        "  %4 = load <16 x i8>, ptr %3, align 16\n"
        "}\n",
        "define void @k() {\n"
        "  %heddle.0.low = load <8 x i8>, ptr addrspace(1) %1, align 1, !tbaa !9\n"
        "  %heddle.0.at = getelementptr inbounds i8, ptr addrspace(1) %1, i64 8\n"
        "  %heddle.0.high = load <8 x i8>, ptr addrspace(1) %heddle.0.at, align 1, !tbaa !9\n"
        "  %2 = shufflevector <8 x i8> %heddle.0.low, <8 x i8> %heddle.0.high, <16 x i32> <i32 0, i32 1, i32 "
        "2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>\n"
        "  %4 = load <16 x i8>, ptr %3, align 16\n"
        "}\n");
}

/* Global memory, an index that is known, a vector that is no load, one of another function, other widths. */
static void the_rest_stays_as_it_is(void **state) {
    (void)state;
    static const char ir[] = "define void @j() {\n"
                             "  %9 = load <4 x i64>, ptr %2, align 32\n"
                             "}\n"
                             "define void @k() {\n"
                             "  %3 = load <4 x i64>, ptr addrspace(1) %2, align 32\n"
                             "  %5 = extractelement <4 x i64> %3, i64 %4\n"
                             "  %6 = load <4 x i64>, ptr addrspace(3) %2, align 32\n"
                             "  %7 = extractelement <4 x i64> %6, i64 2\n"
                             "  %8 = extractelement <4 x i64> %9, i64 %4\n"
                             "  %10 = sext <2 x i1> %1 to <2 x i32>\n"
                             "  %11 = sext <4 x i1> %1 to <4 x i16>\n"
                             "  ret void\n"
                             "}\n";
    struct arena arena = {0};
    assert_ptr_equal(repair_ir(&arena, ir), ir);
    arena_free(&arena);
}

static void two_bytes_go_through_calls_as_one_number(void **state) {
    (void)state;
    expect_repair("declare <2 x i8> @other(<2 x i8> noundef, i32)\n"
                  "define internal <2 x i8> @turn(i8 %0, <2 x i8> noundef %1) #3 !dbg !5 {\n"
                  "  %3 = add <2 x i8> %1, %10\n"
                  "  ret <2 x i8> %3, !dbg !6\n"
                  "}\n"
                  "define void @k(ptr %0) {\n"
                  "entry:\n"
                  "  %2 = call noundef <2 x i8> @turn(i8 7, <2 x i8> noundef <i8 1, i8 2>) #2, !dbg !7\n"
                  "  %3 = call <2 x i8> @llvm.abs.v2i8(<2 x i8> %2, i1 false)\n"
                  "  call void @take(ptr byval(<2 x i8>) %0, <2 x i8> %3)\n"
                  "  ret void\n"
                  "}\n",
                  "declare i16 @other( i16, i32)\n"
                  "define internal i16 @turn(i8 %0, i16 %heddle.p0) #3 !dbg !5 {\n"
                  "2:\n"
                  "  %heddle.p0.pair = bitcast i16 %heddle.p0 to <2 x i8>\n"
                  "  %3 = add <2 x i8> %heddle.p0.pair, %10\n"
                  "  %heddle.p1 = bitcast <2 x i8> %3 to i16\n"
                  "  ret i16 %heddle.p1, !dbg !6\n"
                  "}\n"
                  "define void @k(ptr %0) {\n"
                  "entry:\n"
                  "  %heddle.p2 = bitcast <2 x i8> <i8 1, i8 2> to i16\n"
                  "  %heddle.p3 = call noundef i16 @turn(i8 7, i16 %heddle.p2) #2, !dbg !7\n"
                  "  %2 = bitcast i16 %heddle.p3 to <2 x i8>\n"
                  "  %3 = call <2 x i8> @llvm.abs.v2i8(<2 x i8> %2, i1 false)\n"
                  "  %heddle.p4 = bitcast <2 x i8> %3 to i16\n"
                  "  call void @take(ptr byval(<2 x i8>) %0, i16 %heddle.p4)\n"
                  "  ret void\n"
                  "}\n");
}

static void the_range_of_a_char2_is_none_of_the_word_that_goes_in_its_place(void **state) {
    (void)state;
    expect_repair("define internal range(i8 0, 3) <2 x i8> @few(<2 x i8> range(i8 1, 2) %0) {\n"
                  "  %2 = call range(i8 0, 3) <2 x i8> @few(<2 x i8> %0)\n"
                  "  ret <2 x i8> %2\n"
                  "}\n",
                  "define internal i16 @few( i16 %heddle.p0) {\n"
                  "1:\n"
                  "  %heddle.p0.pair = bitcast i16 %heddle.p0 to <2 x i8>\n"
                  "  %heddle.p1 = bitcast <2 x i8> %heddle.p0.pair to i16\n"
                  "  %heddle.p2 = call i16 @few( i16 %heddle.p1)\n"
                  "  %2 = bitcast i16 %heddle.p2 to <2 x i8>\n"
                  "  %heddle.p3 = bitcast <2 x i8> %2 to i16\n"
                  "  ret i16 %heddle.p3\n"
                  "}\n");
}

static void a_parameter_of_two_bytes_is_read_behind_the_label(void **state) {
    (void)state;
    expect_repair(
        "define i8 @second(<2 x i8> %0) {\nstart:\n  %2 = extractelement <2 x i8> %0, i64 1\n  ret i8 %2\n}\n",
        "define i8 @second( i16 %heddle.p0) {\nstart:\n  %heddle.p0.pair = bitcast i16 %heddle.p0 to <2 x i8>\n"
        "  %2 = extractelement <2 x i8> %heddle.p0.pair, i64 1\n  ret i8 %2\n}\n");
}

static void a_kernel_that_is_called_gets_a_function_with_its_body(void **state) {
    (void)state;
    expect_repair("define dso_local spir_kernel void @f(ptr byval(%struct.s) align 8 %0, i8 %1) local_unnamed_addr #0 "
                  "!dbg !11 !kernel_arg_name !12 {\n"
                  "  ret void, !dbg !14\n"
                  "}\n"
                  "define dso_local spir_kernel void @ff(i32 %k) #0 !kernel_arg_name !13 !dbg !15 {\n"
                  "  call void @f(ptr byval(%struct.s) %1, i8 3) #5, !dbg !16\n"
                  "  tail call spir_kernel void @f(ptr byval(%struct.s) %1, i8 2) #5\n"
                  "  ret void\n"
                  "}\n"
                  "!nvvm.annotations = !{!2}\n"
                  "!2 = !{ptr @f, !\"kernel\", i32 1}\n",
                  "define internal void @__heddle_kernel_f(ptr byval(%struct.s) align 8 %0, i8 %1) local_unnamed_addr "
                  "#0 !dbg !11 {\n"
                  "  ret void, !dbg !14\n"
                  "}\n"
                  "\n"
                  "define dso_local spir_kernel void @f(ptr byval(%struct.s) align 8 %0, i8 %1) local_unnamed_addr #0 "
                  "!kernel_arg_name !12 {\n"
                  "  call void @__heddle_kernel_f(ptr byval(%struct.s) align 8 %0, i8 %1)\n"
                  "  ret void\n"
                  "}\n"
                  "define dso_local spir_kernel void @ff(i32 %k) #0 !kernel_arg_name !13 !dbg !15 {\n"
                  "  call void @__heddle_kernel_f(ptr byval(%struct.s) %1, i8 3) #5, !dbg !16\n"
                  "  tail call void @__heddle_kernel_f(ptr byval(%struct.s) %1, i8 2) #5\n"
                  "  ret void\n"
                  "}\n"
                  "!nvvm.annotations = !{!2}\n"
                  "!2 = !{ptr @f, !\"kernel\", i32 1}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_is_called_gets_a_function_with_its_body),
        cmocka_unit_test(two_bytes_go_through_calls_as_one_number),
        cmocka_unit_test(the_range_of_a_char2_is_none_of_the_word_that_goes_in_its_place),
        cmocka_unit_test(a_parameter_of_two_bytes_is_read_behind_the_label),
        cmocka_unit_test(a_comparison_of_short2_is_taken_apart),
        cmocka_unit_test(a_narrowed_pair_of_words_is_kept_apart_from_what_it_comes_from),
        cmocka_unit_test(halves_that_become_floats_are_kept_apart_from_their_load),
        cmocka_unit_test(a_predicate_is_given_to_search_instructions),
        cmocka_unit_test(a_short_line_is_read_to_its_end),
        cmocka_unit_test(an_element_of_a_private_vector_keeps_its_load),
        cmocka_unit_test(a_bit_with_a_sign_becomes_minus_one),
        cmocka_unit_test(bytes_off_their_alignment_are_loaded_in_halves),
        cmocka_unit_test(the_rest_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

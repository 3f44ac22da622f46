/* SPDX-License-Identifier: Apache-2.0 */
/* What the PTX of a part has and wants, and names of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <string.h>

#include "compile/parts.h"

static const char text[] =
    ".version 8.5\n.target sm_75\n.address_size 64\n"
    ".extern .func  (.param .b32 func_retval0) _Z6helperi\n(\n\t.param .b32 _Z6helperi_param_0\n)\n;\n"
    ".extern .func _Z5otherPi\n(\n\t.param .b64 a\n)\n;\n"
    ".func  (.param .b32 r) _ZL3owni(.param .b32 p);\n"
    ".extern .global .align 4 .b8 table[16];\n"
    ".global .align 1 .b8 _$_str[3] = {37, 115};\n"
    ".visible .const .align 4 .f32 scale = 0f40000000;\n"
    ".weak .global .u32 both;\n"
    ".global .align 8 .u64 __clang_gpu_used_external[2] = {generic(table), _Z5otherPi};\n"
    ".visible .entry _Z1kPi(.param .b64 p)\n.maxntid 32\n{\n.reg .b32 %r<3>; // _$_str\n"
    "mov.b32 %r1, _$_str;\nld.global.u32 %r2, [table+4];\n"
    "call.uni (r), _Z6helperi, (p);\ncall.uni (r), _ZL3owni, (p);\nret;\n}\n"
    ".func  (.param .b32 r) _ZL3owni(.param .b32 p)\n{\n$L__BB0_1:\nbra $L__BB0_1;\n}\n"
    ".file 1 \"_$_str.cu\"\n";

static const struct part_symbol *find(const struct part_symbols *symbols, const char *name) {
    for (unsigned i = 0; i < symbols->count; i++)
        if (strcmp(symbols->items[i].name, name) == 0)
            return &symbols->items[i];
    fail_msg("no symbol %s", name);
    return NULL;
}

static void symbols_have_their_linkage(void **state) {
    (void)state;
    struct arena arena = {0};
    const struct part_symbols symbols = parts_symbols(&arena, text);
    assert_int_equal(symbols.count, 9);
    assert_int_equal(find(&symbols, "_Z6helperi")->linkage, PART_EXTERN);
    assert_int_equal(find(&symbols, "_Z6helperi")->uses, 2);
    assert_int_equal(find(&symbols, "_Z5otherPi")->uses, 1);
    assert_int_equal(find(&symbols, "table")->linkage, PART_EXTERN);
    assert_int_equal(find(&symbols, "_$_str")->linkage, PART_LOCAL);
    assert_int_equal(find(&symbols, "_$_str")->uses, 2);
    assert_int_equal(find(&symbols, "_ZL3owni")->linkage, PART_LOCAL);
    assert_int_equal(find(&symbols, "scale")->linkage, PART_VISIBLE);
    assert_int_equal(find(&symbols, "both")->linkage, PART_WEAK);
    assert_true(find(&symbols, "_Z1kPi")->is_kernel && find(&symbols, "_Z1kPi")->linkage == PART_VISIBLE);
    arena_free(&arena);
}

static void local_names_become_its_own(void **state) {
    (void)state;
    struct arena arena = {0};
    const struct part_symbols symbols = parts_symbols(&arena, text);
    const char *out = parts_own_names(&arena, text, &symbols, "0123");
    assert_non_null(strstr(out, ".b8 _$_str$0123[3]"));
    assert_non_null(strstr(out, "%r1, _$_str$0123;"));
    assert_non_null(strstr(out, "(r), _ZL3owni$0123, (p)"));
    assert_non_null(strstr(out, "// _$_str\n")); /* in comments and strings nothing changes, */
    assert_non_null(strstr(out, "\"_$_str.cu\""));
    assert_non_null(strstr(out, "bra $L__BB0_1;")); /* nor labels, */
    assert_non_null(strstr(out, "[table+4]"));      /* nor what others have */
    assert_null(strstr(out, "__clang_gpu_used_external"));
    assert_null(strstr(out, "_Z5otherPi"));
    arena_free(&arena);
}

static void linkers_are_told_what_is_there(void **state) {
    (void)state;
    struct arena arena = {0};
    const struct part_symbols symbols = parts_symbols(&arena, text);
    const char *out = parts_source(&arena, &symbols, "registered");
    assert_non_null(strstr(out, "void registered(void *globals"));
    assert_non_null(strstr(out, "\"device code _Z6helperi\""));
    assert_non_null(strstr(out, "\"device code scale\""));
    assert_null(strstr(out, "_Z1kPi"));
    assert_null(strstr(out, "_$_str"));
    assert_null(strstr(out, "_Z5otherPi"));
    arena_free(&arena);
}

/* A later file has no header, its own names of $ and its own numbers of sources. */
static void texts_become_one(void **state) {
    (void)state;
    struct arena arena = {0};
    const char *first =
        ".version 8.5\n.target sm_75\n.global .b8 $str[2];\n.loc 1 5 3\n.file 1 \"a.cu\"\n.file 2 \"a.h\"\n";
    const char *next =
        ".version 8.5\n.target sm_75\n.global .b8 $str[2];\n.loc 1 7 2, function_name $x, inlined_at 2 8 1\n"
        "add.s32 %r1, a$b, 1;\n.file\t1 \"$.file 1\"\n";
    const char *out = parts_append(&arena, first, next, 12);
    assert_true(strncmp(out, first, strlen(first)) == 0);
    assert_string_equal(out + strlen(first), "\n\n\n.global .b8 $012$str[2];\n"
                                             ".loc 3 7 2, function_name $012$x, inlined_at 4 8 1\n"
                                             "add.s32 %r1, a$b, 1;\n.file\t3 \"$.file 1\"\n");
    arena_free(&arena);
}

/* Whatever is cut off: it ends, and stays within what it is given. */
static void texts_may_end_anywhere(void **state) {
    (void)state;
    for (size_t length = 0; length < sizeof text; length++) {
        struct arena arena = {0};
        const char *cut = arena_strndup(&arena, text, length);
        const struct part_symbols symbols = parts_symbols(&arena, cut);
        assert_non_null(parts_own_names(&arena, cut, &symbols, "0123"));
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_have_their_linkage),     cmocka_unit_test(local_names_become_its_own),
        cmocka_unit_test(linkers_are_told_what_is_there), cmocka_unit_test(texts_become_one),
        cmocka_unit_test(texts_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

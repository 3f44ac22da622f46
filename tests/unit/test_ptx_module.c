/* SPDX-License-Identifier: Apache-2.0 */
/* Variables, parameters, functions, source positions: everything but instructions. */
#include "unit/ptx_text.h"

static const struct symbol *variable(const struct module *module, const char *name) {
    for (unsigned i = 0; i < module->variable_count; i++)
        if (strcmp(module->variables[i]->name, name) == 0)
            return module->variables[i];
    fail_msg("no variable %s", name);
    return NULL;
}

static void header_is_kept(void **state) {
    (void)state;
    struct module *module = load_text(".version 7.5\n.target sm_90a, debug\n.address_size 32\n");
    assert_int_equal(module->version_major, 7);
    assert_int_equal(module->version_minor, 5);
    assert_int_equal(module->sm, 90);
    assert_int_equal(module->address_bytes, 4);
    assert_true(module->debug);
    module_free(module);
}

static void kernel_parameters_are_packed_by_alignment(void **state) {
    (void)state;
    struct module *module = load_text(
        HEADER ".visible .entry k(.param .u8 a, .param .u64 .ptr .shared .align 16 b, .param .f32 c, .param .align 16 "
               ".b8 d[20],\n"
               " .param .u16 e) .reqntid 8, 4 .maxntid 64 .minnctapersm 3 .maxnreg 40 .pragma \"x\"; { ret; }");
    const struct function *k = module_find(module, "k");
    static const unsigned offsets[] = {0, 8, 16, 32, 52};
    assert_int_equal(k->param_count, 5);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(k->params[i]->offset, offsets[i]);
    assert_int_equal(k->param_bytes, 54);
    assert_true(k->params[1]->is_pointer);
    assert_int_equal(k->params[1]->pointer_space, SPACE_SHARED);
    assert_int_equal(k->params[1]->pointer_align, 16);
    assert_int_equal(k->required_ntid[1], 4);
    assert_int_equal(k->required_ntid[2], 1);
    assert_int_equal(k->max_ntid[0], 64);
    assert_int_equal(k->min_nctapersm, 3);
    assert_int_equal(k->max_nreg, 40);
    assert_int_equal(k->linkage, LINKAGE_VISIBLE);
    module_free(module);
}

/* No launch names them, and they are there. */
static void hidden_parameters_stand_behind_the_others(void **state) {
    (void)state;
    struct module *module = load_text(HEADER ".visible .entry k(.param .u32 a, .hidden .param .align 64 .b8 b[128])\n"
                                             "{ .reg .b64 %r; ld.param.u64 %r, [b+8]; ret; }");
    const struct function *k = module_find(module, "k");
    assert_int_equal(k->param_count, 1);
    assert_int_equal(k->hidden_count, 1);
    assert_int_equal(k->param_bytes, 192);
    assert_int_equal(k->params[1]->offset, 64);
    assert_ptr_equal(k->params[1]->function, k);
    module_free(module);
    assert_refused(HEADER ".entry k(.hidden .param .u32 a, .param .u32 b) { ret; }", "behind one that is .hidden");
    assert_refused(HEADER ".func f(.hidden .param .u32 a) { ret; }", "only kernels have .hidden parameters");
}

/* Files that are put together have the same inline functions. */
static void what_is_weak_may_be_there_twice(void **state) {
    (void)state;
    struct module *module = load_text(
        HEADER ".weak .global .u32 v = 1;\n.weak .global .u32 v = 1;\n"
               ".weak .func f() { .reg .b32 %a; mov.b32 %a, 1; ret; }\n"
               ".weak .func f() { .reg .b32 %a; mov.b32 %a, 2; mov.b32 %a, 3; ret; }\n.entry k() { call f; ret; }");
    assert_int_equal(module->variable_count, 1);
    assert_int_equal(module->code_count, 4);
    module_free(module);
    assert_refused(HEADER ".weak .func f() { ret; }\n.visible .func f() { ret; }", "is already defined");
    assert_refused(HEADER ".weak .func f() { ret; }\n.weak .func f(.param .b32 a) { ret; }",
                   "differs from its declaration");
}

static void frames_hold_locals_and_call_parameters(void **state) {
    (void)state;
    struct module *module =
        load_text(HEADER ".func (.param .b32 r) f (.param .b64 x) { .local .align 16 .b8 buffer[40]; ret; }\n"
                         ".entry k() { { .param .b64 a; .param .b32 r; call (r), f, (a); } { .param .b64 b; .param "
                         ".b32 s; call (s), f, (b); }\n"
                         " ret; }");
    const struct function *f = module_find(module, "f"), *k = module_find(module, "k");
    assert_int_equal(f->returns[0]->offset, 0);
    assert_int_equal(f->params[0]->offset, 8);
    assert_true(f->params[0]->in_frame);
    assert_int_equal(f->local_bytes, 56);
    assert_int_equal(f->local_align, 16);
    /* the parameters of one call are dead when those of the next are made */
    assert_int_equal(k->local_bytes, 12);
    assert_int_equal(k->param_bytes, 0);
    assert_ptr_equal(f->params[0]->function, f);
    module_free(module);
}

static void initialisers(void **state) {
    (void)state;
    struct module *module = load_text(
        HEADER
        ".func f;\n.global .align 4 .b8 text[8] = {72, 105, -1};\n.global .u16 grid[2][3] = {{1, 2}, {3, 4, 5}};\n"
        ".const .f32 half = 0.5;\n.const .f64 two[2] = {0d4000000000000000, 0f40000000};\n"
        ".global .u64 table[3] = {f, generic(text)+2, grid};\n.global .v2 .f32 pair[] = {{1.0, 2.0}, {3.0, 4.0}};\n"
        ".global .u32 zero[1000000];\n.func f { ret; }");
    const struct symbol *text = variable(module, "text"), *grid = variable(module, "grid");
    assert_int_equal(text->init_bytes, 3);
    assert_memory_equal(text->init, "Hi\xff", 3);
    assert_int_equal(text->bytes, 8);
    static const uint16_t grid_values[] = {1, 2, 0, 3, 4, 5};
    assert_int_equal(grid->init_bytes, 12);
    assert_memory_equal(grid->init, grid_values, 12);
    float half;
    memcpy(&half, variable(module, "half")->init, 4);
    assert_true(half == 0.5F);
    double two[2];
    memcpy(two, variable(module, "two")->init, 16);
    assert_true(two[0] == 2.0 && two[1] == 2.0);
    const struct symbol *table = variable(module, "table");
    assert_int_equal(table->relocation_count, 3);
    assert_int_equal(table->relocations[0].symbol->kind, SYMBOL_FUNCTION);
    assert_false(table->relocations[0].generic);
    assert_true(table->relocations[1].generic);
    assert_int_equal(table->relocations[1].addend, 2);
    assert_int_equal(table->relocations[1].offset, 8);
    assert_ptr_equal(table->relocations[2].symbol, grid);
    assert_int_equal(variable(module, "pair")->bytes, 16);
    assert_int_equal(variable(module, "pair")->align, 8);
    assert_null(variable(module, "zero")->init);
    module_free(module);
}

/* An address among initial values with what is added to it or taken off, and an element of an array of vectors. */
static void addresses_count_in_bytes(void **state) {
    (void)state;
    struct module *module = load_text(
        HEADER ".global .v4 .f32 field[8];\n.global .u64 table[4] = {field + 4, field - 12, generic(field) - 8, "
               "field + 16};\n.entry k() { .reg .f32 %f<5>; .reg .b32 %r<2>;\n"
               "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, field[3];\nld.global.u32 %r1, table[3];\nret; }");
    static const int64_t addends[] = {4, -12, -8, 16};
    const struct symbol *table = variable(module, "table");
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(table->relocations[i].addend, addends[i]);
    assert_int_equal(module->code[0].src[0].imm, 3 * 16);
    assert_int_equal(module->code[1].src[0].imm, 3 * 8);
    module_free(module);
}

static void image_keeps_variables_apart(void **state) {
    (void)state;
    struct module *module =
        load_text(HEADER ".global .u8 a;\n.const .align 64 .b8 b[3];\n.global .u64 c;\n.global .u16 d;");
    uint64_t end = 0;
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct symbol *symbol = module->variables[i];
        assert_int_equal(symbol->offset % symbol->align, 0);
        assert_true(symbol->offset >= end);
        end = symbol->offset + symbol->bytes;
    }
    assert_int_equal(module->image_bytes, end);
    assert_int_equal(module->image_align, 64);
    module_free(module);
}

static void reserved_shared_memory_is_a_variable_of_who_asks_for_it(void **state) {
    (void)state;
    struct module *module = load_text(
        HEADER ".visible .entry a() { .reg .u32 %r; mov.u32 %r, %reserved_smem_offset_1; ret; }\n"
               ".visible .entry b() { .shared .align 4 .b8 own[8]; .reg .u32 %r; mov.u32 %r, own;\n"
               " { .reg .u32 %q; mov.u32 %q, %reserved_smem_offset_1; } mov.u32 %r, %reserved_smem_offset_1; ret; }\n"
               ".visible .entry c() { ret; }");
    const struct symbol *reserved = variable(module, "%reserved_smem_offset_1");
    assert_int_equal(module->variable_count, 2);
    assert_int_equal(reserved->space, SPACE_SHARED);
    assert_int_equal(reserved->bytes, 1024);
    assert_int_equal(reserved->align, 128);
    assert_int_equal(module_find(module, "a")->shared_bytes, 1024);
    assert_int_equal(module_find(module, "b")->shared_bytes, 1024 + 8);
    assert_int_equal(module_find(module, "c")->shared_bytes, 0);
    module_free(module);
}

static void kernels_pay_for_their_own_shared_variables(void **state) {
    (void)state;
    struct module *module = load_text(
        HEADER
        ".shared .b32 both; .shared .align 8 .b8 unused[64]; .extern .shared .align 16 .b8 dynamic[];\n"
        ".func f { .reg .b32 %r<2>; .shared .b32 infunc[8]; ld.shared.b32 %r1, [infunc]; ret; }\n"
        ".entry a() { .reg .b32 %r<2>; .shared .b32 x[256]; ld.shared.b32 %r1, [x]; st.shared.b32 [both], %r1; ret; }\n"
        ".entry b() { .reg .b32 %r<2>; .shared .b32 y[16]; mov.u32 %r1, y; st.shared.b32 [both], %r1; call f; ret; }\n"
        ".entry c() { .reg .b32 %r<2>; mov.u32 %r1, dynamic; ret; }");
    const struct function *a = module_find(module, "a"), *b = module_find(module, "b"), *c = module_find(module, "c");
    assert_int_equal(a->shared_bytes, 4 + 1024);
    assert_int_equal(b->shared_bytes, 4 + 32 + 64);
    assert_int_equal(c->shared_bytes, 0);
    assert_int_equal(module_find(module, "f")->shared_bytes, 4 + 32);
    assert_int_equal(variable(module, "both")->offset, 0);
    assert_int_equal(variable(module, "x")->offset, 4);
    assert_int_equal(variable(module, "infunc")->offset, 4);
    assert_int_equal(variable(module, "y")->offset, 36);
    assert_int_equal(variable(module, "dynamic")->bytes, 0);
    module_free(module);
}

static void indirect_calls_reach_every_taken_function(void **state) {
    (void)state;
    struct module *module = load_text(
        HEADER ".func f { .reg .b32 %r<2>; .shared .b32 s[8]; ld.shared.b32 %r1, [s]; ret; }\n"
               ".global .u64 table[1] = {f};\n"
               ".entry a() { .reg .b64 %rd<2>; .shared .b32 t[4]; st.shared.b32 [t], 0; p: .callprototype _ ();\n"
               " call %rd1, p; ret; }\n.entry b() { ret; }");
    assert_int_equal(module_find(module, "a")->shared_bytes, 48);
    assert_int_equal(module_find(module, "b")->shared_bytes, 0);
    assert_true(variable(module, "s")->offset >= 16 || variable(module, "t")->offset >= 32);
    module_free(module);
}

static void extern_is_completed_by_definition(void **state) {
    (void)state;
    struct module *module = load_text(
        HEADER ".extern .global .u32 x;\n.func (.param .b32 r) f (.param .b32 a);\n.entry k() { .reg .b64 %rd<2>;\n"
               "mov.u64 %rd1, x; { .param .b32 a; .param .b32 r; call (r), f, (a); } ret; }\n"
               ".visible .global .u32 x = 5;\n.weak .func (.param .b32 r) f (.param .b32 a) { ret; }\n");
    assert_int_equal(module->variable_count, 1);
    assert_int_equal(module->variables[0]->linkage, LINKAGE_VISIBLE);
    assert_ptr_equal(module->code[0].src[0].symbol, module->variables[0]);
    assert_int_equal(module->function_count, 2);
    assert_true(module->code[1].call->callee->is_defined);
    assert_int_equal(module->code[1].call->callee->linkage, LINKAGE_WEAK);
    module_free(module);
}

static void alias_is_the_same_code(void **state) {
    (void)state;
    struct module *module = load_text(HEADER ".func g;\n.func f { trap; }\n.alias g, f;\n.entry k() { call g; ret; }");
    const struct function *f = module_find(module, "f"), *g = module_find(module, "g");
    assert_int_equal(g->first_pc, f->first_pc);
    assert_int_equal(g->end_pc, f->end_pc);
    assert_ptr_equal(module->code[1].call->callee, g);
    module_free(module);
}

static void source_positions_name_the_outermost_caller(void **state) {
    (void)state;
    struct module *module =
        load_text(HEADER ".file 1 \"dir/a.cl\"\n.file 3 \"b.h\", 1, 2\n.entry k() {\n"
                         "nanosleep.u32 1;\n.loc 1 12 3\nnanosleep.u32 2;\n.loc 1 0 0\nnanosleep.u32 3;\n"
                         ".loc 3 7 1, function_name $L_name, inlined_at 1 20 5\nnanosleep.u32 4;\n"
                         ".loc 3 99 1, function_name $L_name + 6, inlined_at 3 7 1\nnanosleep.u32 5;\nret;\n}\n"
                         ".section .debug_str\n{\n$L_name:\n.b8 102\n.b32 $L_name+4\n}\n");
    char text[64];
    assert_string_equal(module_where(module, 0, text, sizeof text), "t.ptx:7");
    assert_string_equal(module_where(module, 1, text, sizeof text), "dir/a.cl:12");
    assert_string_equal(module_where(module, 2, text, sizeof text), "dir/a.cl:12");
    assert_string_equal(module_where(module, 3, text, sizeof text), "dir/a.cl:20");
    assert_string_equal(module_where(module, 4, text, sizeof text), "dir/a.cl:20"); /* two levels deep */
    assert_int_equal(module->code[1].text_line, 9);
    assert_int_equal(module->code[1].text_column, 1);
    assert_int_equal(module->file_count, 4);
    module_free(module);
}

static void a_file_may_be_named_after_its_use(void **state) {
    (void)state;
    struct module *module =
        load_text(HEADER ".entry k() {\n.loc 1 5 1\ntrap;\n.loc 2 6 1\nret;\n}\n.file 1 \"/folder\" \"late.cl\"\n");
    char text[64];
    assert_string_equal(module_where(module, 0, text, sizeof text), "late.cl:5");
    assert_string_equal(module_where(module, 1, text, sizeof text), "t.ptx:8"); /* nobody names file 2 */
    module_free(module);
}

static void functions_are_found_by_name_and_pc(void **state) {
    (void)state;
    struct module *module = load_text(HEADER ".extern .func out;\n.entry a() { ret; }\n.entry b() { trap; ret; }");
    assert_string_equal(module_function_at(module, 2)->name, "b");
    assert_null(module_function_at(module, 3));
    assert_null(module_find(module, "out"));
    assert_null(module_find(module, "nobody"));
    assert_true(module_find(module, "a")->is_entry);
    module_free(module);
}

static void comments_and_blanks_mean_nothing(void **state) {
    (void)state;
    struct module *module = load_text("/* a\n b */ .version 8.5 // x\n.target\tsm_75\r\n.address_size 64\n"
                                      ".entry k(){/**/.reg.b32 a,b;add.s32 a,/*,*/b,1;ret;}");
    assert_int_equal(module->code_count, 2);
    module_free(module);
}

/* Tables of isa/inst.c: no hole, no name twice. */
static void every_operation_and_type_has_a_name(void **state) {
    (void)state;
    for (unsigned i = 0; i < OP_COUNT; i++) {
        assert_true(strlen(op_name((enum op)i)) > 0 && strlen(op_meaning((enum op)i)) > 0);
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(op_name((enum op)i), op_name((enum op)j));
    }
    for (unsigned i = 0; i < TYPE_COUNT; i++)
        assert_true(strlen(type_name((enum type)i)) > 0 && (type_bytes((enum type)i) > 0 || i == TYPE_NONE));
    for (unsigned i = 0; i < SPECIAL_COUNT; i++)
        assert_non_null(special_name((enum special)i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_is_kept),
        cmocka_unit_test(kernel_parameters_are_packed_by_alignment),
        cmocka_unit_test(hidden_parameters_stand_behind_the_others),
        cmocka_unit_test(what_is_weak_may_be_there_twice),
        cmocka_unit_test(frames_hold_locals_and_call_parameters),
        cmocka_unit_test(initialisers),
        cmocka_unit_test(addresses_count_in_bytes),
        cmocka_unit_test(image_keeps_variables_apart),
        cmocka_unit_test(reserved_shared_memory_is_a_variable_of_who_asks_for_it),
        cmocka_unit_test(kernels_pay_for_their_own_shared_variables),
        cmocka_unit_test(indirect_calls_reach_every_taken_function),
        cmocka_unit_test(extern_is_completed_by_definition),
        cmocka_unit_test(alias_is_the_same_code),
        cmocka_unit_test(source_positions_name_the_outermost_caller),
        cmocka_unit_test(a_file_may_be_named_after_its_use),
        cmocka_unit_test(functions_are_found_by_name_and_pc),
        cmocka_unit_test(comments_and_blanks_mean_nothing),
        cmocka_unit_test(every_operation_and_type_has_a_name),
    };
    return cmocka_run_group_tests_name("ptx_module", tests, NULL, NULL);
}

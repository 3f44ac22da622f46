/* SPDX-License-Identifier: Apache-2.0 */
/* What each form of instruction becomes. */
#include "unit/ptx_text.h"

/* Loads one instruction in a kernel, hands its struct inst to the checks. */
#define WITH(text, inst)                                                                                               \
    for (struct module *module_ = load_text(KERNEL(text " ret;")), *once_ = module_; once_;                            \
         module_free(module_), once_ = NULL)                                                                           \
        for (const struct inst *inst = module_->code; inst; inst = NULL)

static void one_instruction_is_one_inst(void **state) {
    (void)state;
    struct module *module = load_text(KERNEL("add.u32 %r1, %r2, %r3; { .reg .b32 t; .param .b32 q; mov.b32 t, 1; }\n"
                                             "L: .pragma \"nounroll\"; ret;"));
    assert_int_equal(module->code_count, 3);
    module_free(module);
}

static void body_without_end_gets_a_ret(void **state) {
    (void)state;
    struct module *module = load_text(KERNEL("@%p1 bra END; add.u32 %r1, %r2, %r3; END:"));
    assert_int_equal(module->code_count, 3);
    assert_int_equal(module->code[2].op, OP_RET);
    assert_int_equal(module->code[0].target, 2);
    module_free(module);
    module = load_text(KERNEL("ret; END:")); /* nobody goes to END */
    assert_int_equal(module->code_count, 1);
    module_free(module);
}

static void carry_flags(void **state) {
    (void)state;
    WITH("addc.cc.u32 %r1, %r2, %r3;", inst) {
        assert_int_equal(inst->op, OP_ADD);
        assert_int_equal(inst->flags, FLAG_CARRY_IN | FLAG_CARRY_OUT);
    }
    WITH("sub.cc.s32 %r1, %r2, %r3;", inst) assert_int_equal(inst->flags, FLAG_CARRY_OUT);
    WITH("madc.hi.u64 %rd1, %rd2, %rd3, 5;", inst) {
        assert_int_equal(inst->op, OP_MAD);
        assert_int_equal(inst->mode, MODE_HI);
        assert_int_equal(inst->flags, FLAG_CARRY_IN);
    }
}

static void immediates_are_in_the_operation_type(void **state) {
    (void)state;
    WITH("add.s16 %h1, %h2, -2;", inst) assert_int_equal(inst->src[1].imm, 0xFFFE);
    WITH("mul.hi.u32 %r1, %r2, -28220501;", inst) assert_int_equal(inst->src[1].imm, (uint32_t)-28220501);
    WITH("and.b64 %rd1, %rd2, 0xFEDCBA9876543210;", inst) assert_true(inst->src[1].imm == 0xFEDCBA9876543210);
    WITH("mov.s64 %rd1, -9223372036854775808;", inst) assert_true(inst->src[0].imm == UINT64_C(1) << 63);
    WITH("add.f32 %f1, %f2, 0d3FD5555555555555;", inst) assert_int_equal(inst->src[1].imm, 0x3EAAAAAB);
    WITH("add.f32 %f1, %f2, 0f7FC00123;", inst) assert_int_equal(inst->src[1].imm, 0x7FC00123);
    WITH("add.f64 %d1, %d2, 0f3FC00000;", inst) assert_true(inst->src[1].imm == 0x3FF8000000000000);
    WITH("mov.f32 %f1, -1.5e0;", inst) assert_int_equal(inst->src[0].imm, 0xBFC00000);
    WITH("mad.wide.s32 %rd1, %r1, -1, -2;", inst) {
        assert_true(inst->src[1].imm == 0xFFFFFFFF);
        assert_true(inst->src[2].imm == 0xFFFFFFFFFFFFFFFE);
    }
    WITH("mov.b32 %r1, {0, 0xFFFF};", inst) assert_int_equal(inst->src[1].imm, 0xFFFF);
    WITH("cvt.f64.f32 %d1, 0d3FF8000000000000;", inst) assert_int_equal(inst->src[0].imm, 0x3FC00000);
    WITH("mov.pred %p1, 1;", inst) assert_int_equal(inst->src[0].imm, 1);
}

static void constant_expressions_follow_c(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {{"1+2*3", 7},
                 {"(1+2)*3", 9},
                 {"1<<4|1", 17},
                 {"-7/2", (uint64_t)-3},
                 {"-7%3", (uint64_t)-1},
                 {"~0", UINT64_MAX},
                 {"!5", 0},
                 {"-1>>60", UINT64_MAX},
                 {"-9>>1", (uint64_t)-5},
                 {"-9>>0", (uint64_t)-9},
                 {"-9>>63", UINT64_MAX},
                 {"-9>>64", UINT64_MAX},
                 {"9>>64", 0},
                 {"-9U>>64", 0},
                 {"1<<63", UINT64_C(1) << 63},
                 {"1<<64", 0},
                 {"0xFFFFFFFFFFFFFFFF>>60", 15},
                 {"1<2", 1},
                 {"-1<0U", 0},
                 {"1?2:3", 2},
                 {"0?2:0?3:4", 4},
                 {"1&&0||1", 1},
                 {"010", 8},
                 {"0b11", 3},
                 {"3==3", 1},
                 {"WARP_SZ*2", 64},
                 {"(.u64)-1/2", UINT64_C(0x7FFFFFFFFFFFFFFF)},
                 {"6^3&1", 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s.entry k() { .reg .b64 a; mov.b64 a, %s; ret; }", HEADER, cases[i].text);
        struct module *module = load_text(text);
        if (module->code[0].src[0].imm != cases[i].value)
            print_error("%s\n", cases[i].text);
        assert_true(module->code[0].src[0].imm == cases[i].value);
        module_free(module);
    }
}

static void moves_pack_and_unpack(void **state) {
    (void)state;
    WITH("mov.b64 {%r1, _}, %d1;", inst) {
        assert_int_equal(inst->dst_count, 2);
        assert_int_equal(inst->dst[1].kind, OPERAND_NONE);
        assert_int_equal(inst->src_count, 1);
    }
    WITH("mov.b64 %rd1, {%h1, %h2, %h3, %h4};", inst) {
        assert_int_equal(inst->dst_count, 1);
        assert_int_equal(inst->src_count, 4);
    }
    WITH("mov.b32 %r1, {%b1, %b2, %b3, %b4};", inst) assert_int_equal(inst->src_count, 4);
}

static void special_registers(void **state) {
    (void)state;
    WITH("mov.u32 %r1, %ctaid.z;", inst) {
        assert_int_equal(inst->src[0].kind, OPERAND_SPECIAL);
        assert_int_equal(inst->src[0].reg, SPECIAL_CTAID_Z);
    }
    WITH("mov.b32 %r1, %envreg31;", inst) assert_int_equal(inst->src[0].reg, SPECIAL_ENVREG_LAST);
    WITH("cvt.u64.u32 %rd1, %lanemask_lt;", inst) assert_int_equal(inst->src[0].reg, SPECIAL_LANEMASK_LT);
    WITH("mov.u64 %rd1, %clock64;", inst) assert_int_equal(inst->src[0].reg, SPECIAL_CLOCK64);
    WITH("mov.u32 %r1, WARP_SZ;", inst) assert_int_equal(inst->src[0].reg, SPECIAL_WARPSZ);
    WITH("mov.u16 %h1, %tid.x;", inst) assert_int_equal(inst->src[0].reg, SPECIAL_TID_X);
}

static void loads_and_stores(void **state) {
    (void)state;
    WITH("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, _, %f3, %f4}, [%rd1+-16];", inst) {
        assert_int_equal(inst->op, OP_LD);
        assert_int_equal(inst->space, SPACE_GLOBAL);
        assert_int_equal(inst->cache, CACHE_NO_ALLOCATE);
        assert_int_equal(inst->dst_count, 4);
        assert_int_equal(inst->dst[1].kind, OPERAND_NONE);
        assert_int_equal(inst->src[0].kind, OPERAND_ADDRESS);
        assert_true(inst->src[0].has_reg);
        assert_true((int64_t)inst->src[0].imm == -16);
    }
    WITH("st.release.gpu.global.u32 [%rd1], 7;", inst) {
        assert_int_equal(inst->order, ORDER_RELEASE);
        assert_int_equal(inst->scope, SCOPE_GPU);
        assert_int_equal(inst->src[1].imm, 7);
    }
    WITH("ld.u8 %r1, [%rd1];", inst) assert_int_equal(inst->space, SPACE_GENERIC);
    WITH("ldu.global.f32 %f1, [%rd1];", inst) assert_int_equal(inst->op, OP_LD);
    WITH("ld.volatile.shared.u32 %r1, [%r2];", inst) assert_int_equal(inst->order, ORDER_VOLATILE);
    WITH("ld.param.u64 %rd1, [p];", inst) {
        assert_string_equal(inst->src[0].symbol->name, "p");
        assert_false(inst->src[0].symbol->in_frame);
    }
    WITH("ld.global.u32 %r1, [64];", inst) {
        assert_false(inst->src[0].has_reg);
        assert_int_equal(inst->src[0].imm, 64);
    }
    WITH("prefetch.global.L2 [%rd1];", inst) assert_int_equal(inst->op, OP_PREFETCH);
}

static void atomics(void **state) {
    (void)state;
    WITH("atom.add.acq_rel.cta.u64 %rd1, [%rd2], %rd3;", inst) {
        assert_int_equal(inst->op, OP_ATOM);
        assert_int_equal(inst->atom, ATOM_ADD);
        assert_int_equal(inst->order, ORDER_ACQ_REL);
        assert_int_equal(inst->scope, SCOPE_CTA);
        assert_int_equal(inst->src_count, 2);
    }
    WITH("atom.global.cas.b64 _, [%rd1], %rd2, 3;", inst) {
        assert_int_equal(inst->dst[0].kind, OPERAND_NONE);
        assert_int_equal(inst->src_count, 3);
        assert_int_equal(inst->order, ORDER_RELAXED);
        assert_int_equal(inst->scope, SCOPE_GPU);
    }
    WITH("atom.add.noftz.f16 %h1, [%rd1], %h2;", inst) assert_int_equal(inst->flags, FLAG_NOFTZ);
    WITH("red.shared.max.s32 [%r1], -1;", inst) assert_int_equal(inst->op, OP_RED);
}

static void comparisons_and_selection(void **state) {
    (void)state;
    WITH("setp.ltu.and.ftz.f32 %p1|_, %f1, %f2, !%p3;", inst) {
        assert_int_equal(inst->compare, CMP_LTU);
        assert_int_equal(inst->boolop, BOOL_AND);
        assert_int_equal(inst->flags, FLAG_FTZ);
        assert_int_equal(inst->dst_count, 2);
        assert_int_equal(inst->dst[1].kind, OPERAND_NONE);
        assert_true(inst->src[2].negated);
    }
    WITH("setp.lo.u32 %p1, %r1, %r2;", inst) assert_int_equal(inst->compare, CMP_LO);
    WITH("set.eq.f16x2.f16x2 %r1, %r2, %r3;", inst) {
        assert_int_equal(inst->type, TYPE_F16X2);
        assert_int_equal(inst->stype, TYPE_F16X2);
    }
    WITH("slct.u64.f32 %rd1, %rd2, %rd3, %f1;", inst) assert_int_equal(inst->stype, TYPE_F32);
    WITH("selp.f32 %f1, 0f3F800000, %f2, !%p1;", inst) assert_true(inst->src[2].negated);
}

static void conversions(void **state) {
    (void)state;
    WITH("cvt.rn.bf16x2.f32 %r1, %f1, %f2;", inst) {
        assert_int_equal(inst->type, TYPE_BF16X2);
        assert_int_equal(inst->src_count, 2);
    }
    WITH("cvt.s64.s32 %rd1, %rd2;", inst) assert_int_equal(inst->stype, TYPE_S32);
    WITH("cvt.rna.tf32.f32 %r1, %f1;", inst) assert_int_equal(inst->rounding, ROUND_RNA);
    WITH("cvt.rzi.ftz.sat.u8.f32 %r1, %f1;", inst) {
        assert_int_equal(inst->rounding, ROUND_RZI);
        assert_int_equal(inst->flags, FLAG_FTZ | FLAG_SAT);
    }
    WITH("cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;", inst) {
        assert_int_equal(inst->op, OP_CVT_PACK);
        assert_int_equal(inst->stype, TYPE_U8);
        assert_int_equal(inst->src_count, 3);
    }
}

static void bits_and_modes(void **state) {
    (void)state;
    WITH("shf.r.wrap.b32 %r1, %r2, %r3, 5;", inst) assert_int_equal(inst->mode, MODE_RIGHT_WRAP);
    WITH("shf.l.clamp.b32 %r1, %r2, %r3, %r4;", inst) assert_int_equal(inst->mode, MODE_LEFT_CLAMP);
    WITH("prmt.b32.rc16 %r1, %r2, %r3, %r4;", inst) assert_int_equal(inst->mode, MODE_RC16);
    WITH("bfind.shiftamt.s64 %r1, %rd2;", inst) assert_int_equal(inst->mode, MODE_SHIFTAMT);
    WITH("bmsk.wrap.b32 %r1, 3, 4;", inst) assert_int_equal(inst->mode, MODE_WRAP);
    WITH("lop3.b32 %r1, %r2, %r3, %r4, 0xE8;", inst) assert_int_equal(inst->src[3].imm, 0xE8);
    WITH("mad.f32 %f1, %f2, %f3, %f4;", inst) assert_int_equal(inst->op, OP_FMA);
    WITH("max.NaN.xorsign.abs.f32 %f1, %f2, %f3;", inst)
    assert_int_equal(inst->flags, FLAG_NAN | FLAG_XORSIGN | FLAG_ABS);
    WITH("div.full.ftz.f32 %f1, %f2, %f3;", inst) assert_int_equal(inst->flags, FLAG_FULL | FLAG_FTZ);
    WITH("rcp.approx.ftz.f64 %d1, %d2;", inst) assert_int_equal(inst->flags, FLAG_APPROX | FLAG_FTZ);
}

static void barriers_and_warp(void **state) {
    (void)state;
    WITH("bar.sync 1, 64;", inst) {
        assert_int_equal(inst->mode, MODE_SYNC);
        assert_int_equal(inst->src[1].imm, 64);
        assert_int_equal(inst->flags, FLAG_ALIGNED);
    }
    WITH("barrier.cta.red.and.pred %p1, %r1, !%p2;", inst) {
        assert_int_equal(inst->mode, MODE_RED_AND);
        assert_int_equal(inst->src_count, 3);
        assert_int_equal(inst->src[1].kind, OPERAND_NONE);
        assert_true(inst->src[2].negated);
        assert_int_equal(inst->flags, 0);
    }
    WITH("bar.warp.sync -1;", inst) {
        assert_int_equal(inst->op, OP_BAR_WARP);
        assert_int_equal(inst->src[0].imm, 0xFFFFFFFF);
    }
    WITH("shfl.sync.up.b32 %r1|%p1, %f2, %r3, 0, -1;", inst) {
        assert_int_equal(inst->mode, MODE_UP);
        assert_int_equal(inst->dst_count, 2);
        assert_int_equal(inst->src_count, 4);
        assert_int_equal(inst->flags, FLAG_SYNC);
    }
    WITH("vote.ballot.b32 %r1, !%p1;", inst) {
        assert_int_equal(inst->mode, MODE_BALLOT);
        assert_int_equal(inst->flags, 0);
        assert_int_equal(inst->src_count, 1);
    }
    WITH("vote.sync.uni.pred %p1, %p2, %r1;", inst) assert_int_equal(inst->mode, MODE_UNI);
    WITH("match.any.sync.b64 %r1, %rd2, -1;", inst) assert_int_equal(inst->mode, MODE_ANY);
    WITH("redux.sync.xor.b32 %r1, %r2, -1;", inst) assert_int_equal(inst->atom, ATOM_XOR);
    WITH("elect.sync _|%p1, -1;", inst) {
        assert_int_equal(inst->dst[0].kind, OPERAND_NONE);
        assert_int_equal(inst->dst[1].kind, OPERAND_REG);
    }
    WITH("membar.gl;", inst) {
        assert_int_equal(inst->scope, SCOPE_GPU);
        assert_int_equal(inst->order, ORDER_SC);
    }
    WITH("fence.acq_rel.sys;", inst) assert_int_equal(inst->op, OP_MEMBAR);
}

static void guards_and_branches(void **state) {
    (void)state;
    struct module *module = load_text(KERNEL(
        "A: @!%p2 bra.uni B; { bra A; B: bra C; C: bra B; } B: ts: .branchtargets A, B, C; brx.idx %r1, ts; C: exit;"));
    assert_int_equal(module->code[0].guard, 2);
    assert_true(module->code[0].guard_negated);
    assert_int_equal(module->code[0].flags, FLAG_UNI);
    assert_int_equal(module->code[0].target, 4); /* the outer B */
    assert_int_equal(module->code[1].target, 0);
    assert_int_equal(module->code[2].target, 3); /* the inner C, then the inner B */
    assert_int_equal(module->code[3].target, 2);
    assert_int_equal(module->code[4].target_count, 3);
    assert_int_equal(module->code[4].targets[0], 0);
    assert_int_equal(module->code[4].targets[1], 4);
    assert_int_equal(module->code[4].targets[2], 5);
    module_free(module);
}

static void calls(void **state) {
    (void)state;
    struct module *module = load_text(
        HEADER ".func (.param .b32 out) f (.param .b64 in, .param .align 16 .b8 s[16]);\n.func g;\n.func .noreturn h;\n"
               ".entry k() { .reg .b64 %rd<3>;\n"
               "{ .param .b64 a; .param .align 16 .b8 b[16]; .param .b32 r; call.uni (r), f, (a, b);\n"
               "  pt: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 16 .b8 _[16]);\n"
               "  mov.u64 %rd1, f; call (r), %rd1, (a, b), pt; }\n"
               "call g; ct: .calltargets g, h; call %rd2, ct; ret; }\n.func g { ret; }\n");
    const struct inst *code = module->code;
    assert_string_equal(code[0].call->callee->name, "f");
    assert_int_equal(code[0].flags, FLAG_UNI);
    assert_int_equal(code[0].call->argument_count, 2);
    assert_string_equal(code[0].call->arguments[1]->name, "b");
    assert_string_equal(code[0].call->returns[0]->name, "r");
    assert_int_equal(code[1].src[0].kind, OPERAND_ADDRESS);
    assert_ptr_equal(code[1].src[0].symbol->function, code[0].call->callee);
    assert_null(code[2].call->callee);
    assert_int_equal(code[2].call->prototype->param_count, 2);
    assert_int_equal(code[2].src[0].kind, OPERAND_REG);
    assert_string_equal(code[3].call->callee->name, "g");
    assert_true(code[3].call->callee->is_defined);
    assert_null(code[4].call->callee);
    module_free(module);
}

static void vector_registers_have_parts(void **state) {
    (void)state;
    struct module *module =
        load_text(KERNEL(".reg .v2 .f32 v; ld.global.v2.f32 v, [%rd1]; add.f32 v.x, v.x, v.y; ret;"));
    assert_listed(module, 0, "ld.global.v2.f32 {v.x, v.y}, [%rd1];");
    assert_listed(module, 1, "add.f32 v.x, v.x, v.y;");
    module_free(module);
}

static void inner_scopes_hide_registers(void **state) {
    (void)state;
    struct module *module = load_text(KERNEL("{ .reg .f32 %r1; mov.f32 %r1, %f1; } mov.b32 %r1, 0; ret;"));
    const struct function *function = module->functions[0];
    assert_true(module->code[0].dst[0].reg != module->code[1].dst[0].reg);
    assert_int_equal(function->reg_types[module->code[0].dst[0].reg], TYPE_F32);
    assert_string_equal(function->reg_names[module->code[0].dst[0].reg], "%r1");
    module_free(module);
}

static void listing_reads_like_ptx(void **state) {
    (void)state;
    struct module *module = load_text(KERNEL("@!%p1 ld.global.cg.v2.u32 {%r1, %r2}, [%rd1+8]; cvt.rzi.s32.f32 %r1, "
                                             "%f1; L: bra L; atom.global.add.u32 %r1, [%rd1], 10;"
                                             "mov.u64 %rd1, k; setp.ge.s64 %p1, %rd1, -1; bar.sync 0;"));
    assert_listed(module, 0, "@!%p1 ld.global.cg.v2.u32 {%r1, %r2}, [%rd1+8];");
    assert_listed(module, 1, "cvt.rzi.s32.f32 %r1, %f1;");
    assert_listed(module, 2, "bra 2;");
    assert_listed(module, 3, "atom.relaxed.gpu.global.add.u32 %r1, [%rd1], 0xa;");
    assert_listed(module, 4, "mov.u64 %rd1, k;");
    assert_listed(module, 5, "setp.ge.s64 %p1, %rd1, 0xffffffffffffffff;");
    assert_listed(module, 6, "bar.sync 0;");
    char small[8];
    assert_string_equal(inst_text(module, &module->code[1], small, sizeof small), "cvt.rzi");
    module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_instruction_is_one_inst),
        cmocka_unit_test(body_without_end_gets_a_ret),
        cmocka_unit_test(carry_flags),
        cmocka_unit_test(immediates_are_in_the_operation_type),
        cmocka_unit_test(constant_expressions_follow_c),
        cmocka_unit_test(moves_pack_and_unpack),
        cmocka_unit_test(special_registers),
        cmocka_unit_test(loads_and_stores),
        cmocka_unit_test(atomics),
        cmocka_unit_test(comparisons_and_selection),
        cmocka_unit_test(conversions),
        cmocka_unit_test(bits_and_modes),
        cmocka_unit_test(barriers_and_warp),
        cmocka_unit_test(guards_and_branches),
        cmocka_unit_test(calls),
        cmocka_unit_test(vector_registers_have_parts),
        cmocka_unit_test(inner_scopes_hide_registers),
        cmocka_unit_test(listing_reads_like_ptx),
    };
    return cmocka_run_group_tests_name("ptx_lower", tests, NULL, NULL);
}

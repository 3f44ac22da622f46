/* SPDX-License-Identifier: Apache-2.0 */
/* Native code as it runs: the published listings against results worked out by hand from their sources, under every
 * mechanism, and what single instructions do. */
#include "native_fixture.h"

#include <math.h>

#include "device/lowered.h"
#include "result/lines.h"
#include "sass/native.h"
#include "translate/load.h"

enum { WORDS = 4096 };

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- listings ---- */

static void run_if_then_else(const char *mechanism, bool in_time) {
    struct arena arena = {0};
    struct fixture f;
    native_open(&f, mechanism, native_file(&arena, "if_then_else.sass"), WORDS);
    const uint32_t base = (uint32_t)f.buffer;
    for (uint32_t i = 0; i < 8; i++)
        f.memory[i] = 10 * i + 1, f.memory[64 + i] = 1000 + i;
    native_launch(&f, 1, 8, in_time, (const uint32_t[]){base, base + 256, base + 512});
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t a = 10 * i + 1, b = 1000 + i;
        assert_int_equal(f.memory[128 + i], i < 4 ? a + 3 * b : 2 * a + 2 * b);
    }
    /* 15 to the branch, then both sides in turn, and 7 behind */
    if (strcmp(mechanism, "pdom") == 0)
        assert_int_equal(f.result.stats.warp_instructions, 15 + 4 + 4 + 7);
    finish(&f);
    arena_free(&arena);
}

static void the_listing_of_if_then_else(void **state) {
    (void)state;
    native_under_all(run_if_then_else);
}

static void run_loop(const char *mechanism, bool in_time) {
    struct arena arena = {0};
    struct fixture f;
    native_open(&f, mechanism, native_file(&arena, "loop.sass"), WORDS);
    native_launch(&f, 2, 64, in_time, (const uint32_t[]){0, 0, (uint32_t)f.buffer, 100});
    for (uint32_t i = 0; i < 128; i++) {
        const float sum = i < 100 ? 1.0f + (float)(i * (i + 1) / 2) : 0.0f;
        assert_int_equal(f.memory[i], bits_of(sum));
    }
    /* 14 before the loop; 5 in each of 31, 63, 95, 99 rounds; 3 behind */
    if (strcmp(mechanism, "pdom") == 0)
        assert_int_equal(f.result.stats.warp_instructions, 4 * 14 + 5 * (31 + 63 + 95 + 99) + 4 * 3);
    finish(&f);
    arena_free(&arena);
}

static void the_listing_of_a_loop(void **state) {
    (void)state;
    native_under_all(run_loop);
}

enum { N = 75, A = 0, B = 128, C = 256, PROXY = 384 };

static void run_break(const char *mechanism, bool in_time) {
    struct arena arena = {0};
    struct fixture f;
    native_open(&f, mechanism, native_file(&arena, "break.sass"), WORDS);
    const uint32_t base = (uint32_t)f.buffer;
    float a[N], b[N];
    for (uint32_t i = 0; i < N; i++) {
        a[i] = 0.5f + (float)i, b[i] = (float)(i * i % 17) - 3.0f;
        f.memory[A + i] = bits_of(a[i]), f.memory[B + i] = bits_of(b[i]);
        f.memory[PROXY + i] = i * 7 % 3 == 0;
    }
    native_launch(&f, 3, 32, in_time,
                  (const uint32_t[]){base + 4 * A, base + 4 * B, base + 4 * C, N, base + 4 * PROXY});
    for (uint32_t i = 0; i < N; i++) {
        float dij = 2.0f;
        for (uint32_t j = 0; j < N && !f.memory[PROXY + i]; j++) {
            if (j == i)
                continue;
            if (i * N + j > i * j + i) {
                const float difference = b[j] - b[i];
                dij = a[i] * difference;
                break;
            }
        }
        assert_int_equal(f.memory[C + i], bits_of(b[i] + dij));
    }
    for (uint32_t i = N; i < 128; i++)
        assert_int_equal(f.memory[C + i], 0);
    finish(&f);
    arena_free(&arena);
}

static void the_listing_of_break_and_continue(void **state) {
    (void)state;
    native_under_all(run_break);
}

static void run_pathfinder(const char *mechanism, bool in_time) {
    struct arena arena = {0};
    struct fixture f;
    enum { COLS = 70000, START = 0, WALL = 256, OUT = 0, THREADS = 16 };
    native_open(&f, mechanism, native_file(&arena, "pathfinder.sass"), COLS * 3);
    const uint32_t base = (uint32_t)f.buffer;
    for (uint32_t i = 0; i < THREADS; i++)
        f.memory[WALL + COLS * 2 + i] = 100 + i;
    native_launch(&f, 1, THREADS, in_time, (const uint32_t[]){0, base + 4 * WALL, base + 4 * OUT, 0, COLS, 0, START});
    for (uint32_t i = 0; i < THREADS; i++) {
        const bool inside = i >= 2 && i <= 13;
        const uint32_t least = (i - 1) * (i - 1); /* of the squares of i - 1, i, i + 1 */
        assert_int_equal(f.memory[OUT + 2 * i], inside);
        assert_int_equal(f.memory[OUT + 2 * i + 1], inside ? least + 100 + i : 0);
    }
    finish(&f);
    arena_free(&arena);
}

static void the_listing_of_tesla(void **state) {
    (void)state;
    native_under_all(run_pathfinder);
}

/* ---- single instructions ---- */

#define FERMI(body)                                                                                                    \
    "code for sm_20\nFunction : k\n.params 8\n.constant 0x2 0x0 0x1 0x80000000 0x3 0x4\n"                              \
    "S2R R0, SR_Tid_X;\nISCADD R1, R0, c [0x0] [0x20], 0x2;\nLD R2, [R1];\nLD R3, [R1+0x80];\n" body                   \
    "\nST [R1+0x100], R4;\nEXIT;\n"

/* Runs the body for 32 threads: R2 and R3 hold two words of each, R4 is looked at. */
static void run_body(const char *text, const uint32_t *a, const uint32_t *b, uint32_t *out) {
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        native_open(&f, NULL, text, WORDS);
        for (unsigned i = 0; i < 32; i++)
            f.memory[i] = a[i], f.memory[32 + i] = b[i];
        native_launch(&f, 1, 32, in_time, (const uint32_t[]){(uint32_t)f.buffer, 5});
        if (in_time)
            assert_memory_equal(out, f.memory + 64, 128);
        memcpy(out, f.memory + 64, 128);
        finish(&f);
    }
}

static uint32_t smaller(uint32_t a, uint32_t b) { return (int32_t)a < (int32_t)b ? a : b; }
static uint32_t larger(uint32_t a, uint32_t b) { return (int32_t)a > (int32_t)b ? a : b; }
#define CASES(X)                                                                                                       \
    X("ISCADD R4, R2, R3, 0x5;", (a << 5) + b)                                                                         \
    X("ISCADD R4, R2, -R3, 0x5;", (a << 5) - b)                                                                        \
    X("IADD R4, -R2, R3;", b - a)                                                                                      \
    X("IADD R4, R2, -R3;", a - b)                                                                                      \
    X("IADD R4, -R2, -R3;", 0 - a - b)                                                                                 \
    X("IADD R4, R2, 0xffffe;", a - 2)                                                                                  \
    X("IADD R4, R2, -0x2;", a - 2)                                                                                     \
    X("IADD R4, R2, c [0x0] [0x24];", a + 5)                                                                           \
    X("IADD R4, R2, c [0x2] [0x8];", a + 3)                                                                            \
    X("IADD R4, R2, c [0x0] [0x8];", a + 32)                                                                           \
    X("IMUL R4, R2, R3;", a *b)                                                                                        \
    X("IMUL.U32.U32.HI R4, R2, R3;", (uint32_t)((uint64_t)a * b >> 32))                                                \
    X("IMUL.HI R4, R2, R3;", (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32))                           \
    X("IMAD.U32.U32 R4, R2, 0xff4, R3;", a * 0xff4 + b)                                                                \
    X("IMAD R4, R2, R3, c [0x0] [0x24];", a *b + 5)                                                                    \
    X("IMAD R4, R2, R3, -R2;", a *b - a)                                                                               \
    X("ICMP.LT R4, R2, RZ, R3;", (int32_t)b < 0 ? a : 0)                                                               \
    X("ICMP.GE.U32 R4, R2, 0x7, R3;", a)                                                                               \
    X("IMNMX R4, R2, R3, pt;", smaller(a, b))                                                                          \
    X("IMNMX R4, R2, R3, !pt;", larger(a, b))                                                                          \
    X("ISETP.LT.AND P1, pt, R2, RZ, pt;\nIMNMX R4, R2, R3, P1;", (int32_t)a < 0 ? smaller(a, b) : larger(a, b))        \
    X("VMNMX.ACC R4, R2, R3, R0;", smaller(a, b) + i)                                                                  \
    X("VMNMX.MX.ACC R4, R2, R3, R0;", larger(a, b) + i)                                                                \
    X("VADD.S32.S8.MIN R4, R2, 0x1, R3;", smaller(a + 1, b))                                                           \
    X("VADD.MAX R4, R2, R0, R3;", larger(a + i, b))                                                                    \
    X("VADD.ACC R4, R2, R0, R3;", a + i + b)                                                                           \
    X("VADD.U8 R4, R2, R3, RZ;", (a & 0xff) + b)                                                                       \
    X("SHL.W R4, R2, R3;", b < 32 ? a << (b & 31) : 0)                                                                 \
    X("SHL R4, R2, R3;", a << (b & 31))                                                                                \
    X("SHL R4, R2, 0x25;", a << 5)                                                                                     \
    X("VSHL.UD.U32.U32.W.ACC R4, R2, R3, R0;", (b < 32 ? a << (b & 31) : 0) + i)                                       \
    X("VSHL.UD.U32.U32.ACC R4, R2, R3, R0;", (a << (b & 31)) + i)                                                      \
    X("VSHR.UD.U32.U8.W.ACC R4, R2, 0x3, R0;", (a >> 3) + i)                                                           \
    X("VADD.UD.U32.U32.ACC R4, R2, R0, R3;", a + i + b)                                                                \
    X("VADD.UD.MIN R4, R2, R0, R3;", a + i < b ? a + i : b)                                                            \
    X("VMNMX.UD.U32.U32.ACC R4, R2, R3, R0;", (a < b ? a : b) + i)                                                     \
    X("IADD R4, R2, -0x20;", a - 32)                                                                                   \
    X("SHR R4, R2, 0x3;", (uint32_t)((int32_t)a >> 3))                                                                 \
    X("SHR.U32 R4, R2, 0x3;", a >> 3)                                                                                  \
    X("LOP.AND R4, R2, ~R3;", a & ~b)                                                                                  \
    X("LOP.PASS_B R4, RZ, ~R3;", ~b)                                                                                   \
    X("LOP32I.XOR R4, R2, 0x12345678;", a ^ 0x12345678)                                                                \
    X("BFE.U32 R4, R2, 0x508;", a >> 8 & 31)                                                                           \
    X("MOV R5, 0x508;\nBFE.U32 R4, R2, R5;", a >> 8 & 31)                                                              \
    X("BFI R4, R2, 0x508, R3;", (b & ~0x1f00u) | (a & 31) << 8)                                                        \
    X("POPC R4, R2, R3;", (uint32_t)__builtin_popcount(a &b))                                                          \
    X("FLO.U32 R4, R2;", a ? 31 - (uint32_t)__builtin_clz(a) : UINT32_MAX)                                             \
    X("PRMT R4, R2, 0x5410, R3;", (a & 0xffff) | b << 16)                                                              \
    X("ISETP.LT.AND P1, P2, R2, R3, pt;\nSEL R4, R2, R3, P2;", (int32_t)a < (int32_t)b ? b : a)                        \
    X("ISETP.LT.U32.AND P1, pt, R2, R3, pt;\nISETP.LT.OR P1, pt, R2, RZ, P1;\nSEL R4, R2, R3, P1;",                    \
      (int32_t)a < 0 || a < b ? a : b)                                                                                 \
    X("ISETP.LT.AND P1, pt, R2, RZ, pt;\nISETP.LT.AND P2, pt, R3, RZ, pt;\nPSETP.XOR.AND P3, pt, pt, P2, P1;\n"        \
      "SEL R4, R2, R3, P3;",                                                                                           \
      (a ^ b) >> 31 ? a : b)                                                                                           \
    X("ISETP.LT.AND P1, pt, R2, RZ, pt;\nISETP.LT.AND P2, pt, R3, RZ, pt;\nPSETP.AND.XOR P3, pt, !P2, P2, !P1;\n"      \
      "SEL R4, R2, R3, P3;",                                                                                           \
      ((int32_t)a >= 0 && (int32_t)b < 0) != ((int32_t)b >= 0) ? a : b)                                                \
    X("ISETP.LT.AND P1, pt, R2, RZ, pt;\nISETP.LT.AND P3, pt, R3, RZ, pt;\n@P1 PSETP.OR.OR P3, pt, pt, P3, !pt;\n"     \
      "SEL R4, R2, R3, P3;",                                                                                           \
      (int32_t)a < 0 || (int32_t)b < 0 ? a : b)                                                                        \
    X("ISETP.LT.AND P1, pt, R2, RZ, pt;\nPSETP.OR.AND P3, P4, !P1, !pt, P1;\nSEL R4, R2, R3, P4;",                     \
      (int32_t)a < 0 ? b : a)                                                                                          \
    X("ISETP.LT.AND P1, pt, R2, RZ, pt;\nISETP.LT.AND P2, pt, R3, RZ, pt;\nPSETP.OR.AND P3, pt, pt, P1, P2;\n"         \
      "SEL R4, R2, R3, P3;",                                                                                           \
      (int32_t)a < 0 || (int32_t)b < 0 ? a : b)                                                                        \
    X("ISETP.LT.AND P1, pt, R2, RZ, pt;\nPSET.AND.AND R4, pt, pt, !P1;", (int32_t)a < 0 ? 0 : UINT32_MAX)              \
    X("ISET.LT.AND R4, R2, R3, pt;", (int32_t)a < (int32_t)b ? UINT32_MAX : 0)                                         \
    X("ISET.BF.LT.AND R4, R2, R3, pt;", (int32_t)a < (int32_t)b ? 0x3f800000 : 0)                                      \
    X("I2F.F32.S32 R4, R0;\nFMUL R4, R4, 0x3f000;", bits_of(0.5f * (float)i))                                          \
    X("I2F.F32.U32 R4, R0;\nFADD R4, -R4, 0x3f800;", bits_of(1.0f - (float)i))                                         \
    X("I2F.F32.U32 R4, R0;\nFFMA R4, R4, -R4, 0x40000;", bits_of(2.0f - (float)i * (float)i))                          \
    X("I2F.F32.U32 R4, R0;\nFMUL R4, R4, 0x3e800;\nF2F.TRUNC R4, R4;", bits_of((float)(i / 4)))                        \
    X("I2F.F32.U32 R4, R0;\nFMUL R4, R4, 0x3e800;\nF2I.S32.F32.CEIL R4, R4;", (i + 3) / 4)                             \
    X("I2F.F32.U32 R4, R0;\nFMNMX R4, R4, 0x41000, pt;", bits_of(fminf((float)i, 8.0f)))                               \
    X("I2F.F64.S32 R6, R0;\nDADD R6, R6, 0x3fe00;\nDMUL R6, R6, R6;\nF2F.F32.F64 R4, R6;",                             \
      bits_of(((float)i + 0.5f) * ((float)i + 0.5f)))                                                                  \
    X("RRO.EX2 R4, 0x40000;\nMUFU.EX2 R4, R4;\nMUFU.RCP R4, R4;", bits_of(0.25f))                                      \
    X("I2I.S32.S8 R4, R2;", (uint32_t)(int8_t)a)                                                                       \
    X("I2I.S32.S32 R4, -R2;", 0 - a)                                                                                   \
    X("LOP.AND R5, R0, 0x3;\nSHL R5, R5, 0x2;\nLDC R4, c [0x2] [R5];", i % 4 == 1 ? 0x80000000 : i % 4 + 1)            \
    X("LDC.64 R6, c [0x2] [0x8];\nIADD R4, R6, R7;", 7)                                                                \
    X("LD_LDU.32.32 R1, R4, [R1], [R1+0x80];\nISCADD R1, R0, c [0x0] [0x20], 0x2;", b)                                 \
    X("LD_LDU.32.32 R5, R4, [R1], [R1+0x80];\nIADD R4, R4, R5;", a + b)                                                \
    X("ISETP.EQ.AND P1, pt, R0, 0x3, pt;\nVOTE.ANY R4, pt, P1;", 8)                                                    \
    X("ISETP.LT.U32.AND P1, pt, R0, 0x40, pt;\nMOV R4, RZ;\n@P1 BRA.U 0x60;\nMOV R4, 0x9;\nNOP CC.T;\nNOP CC.T;\n"     \
      "NOP CC.T;\nNOP CC.T;",                                                                                          \
      0)                                                                                                               \
    X("IADD R4.CC, R2, R3;\nIADD.X R4, RZ, RZ;", (uint32_t)(((uint64_t)a + b) >> 32))                                  \
    X("@!pt IADD R2, R2, 0x1;\nMOV R4, R2;", a)                                                                        \
    X("IMAD.U32.U32 RZ, R1, RZ, RZ;\nMOV R4, R2;", a)

/* Every thread's result of a body, from a and b of its own. */
#define CHECK(source, body, expression)                                                                                \
    {                                                                                                                  \
        uint32_t got[32];                                                                                              \
        run_body(source(body), a_row, b_row, got);                                                                     \
        for (uint32_t i = 0; i < 32; i++) {                                                                            \
            const uint32_t a = a_row[i], b = b_row[i], want = (uint32_t)(expression);                                  \
            (void)a, (void)b;                                                                                          \
            if (got[i] != want)                                                                                        \
                fail_msg("%s of 0x%x, 0x%x, thread %u: 0x%x, not 0x%x", body, a, b, i, got[i], want);                  \
        }                                                                                                              \
    }

static void fill_rows(uint32_t a_row[32], uint32_t b_row[32]) {
    for (uint32_t i = 0; i < 32; i++)
        a_row[i] = (i + 1) * 2654435761u, b_row[i] = i % 4 == 0 ? i : ~a_row[i] * 40503u;
}

static void instructions_of_fermi(void **state) {
    (void)state;
    uint32_t a_row[32], b_row[32];
    fill_rows(a_row, b_row);
#define X(body, expression) CHECK(FERMI, body, expression)
    CASES(X)
#undef X
}

/* ---- what takes more than one instruction ---- */

static void run_text_under(const char *mechanism, bool in_time, const char *text, uint32_t threads, uint32_t *out,
                           unsigned count) {
    struct fixture f;
    native_open(&f, mechanism, text, WORDS);
    native_launch(&f, 1, threads, in_time, (const uint32_t[]){(uint32_t)f.buffer, 5});
    memcpy(out, f.memory, count * sizeof *out);
    finish(&f);
}

static void run_text(const char *text, uint32_t threads, uint32_t *out, unsigned count) {
    run_text_under("pdom", false, text, threads, out, count);
    run_text_under("pdom", true, text, threads, out, count);
}

/* The same memory under every mechanism, in time and without. */
static void run_text_under_all(const char *text, uint32_t threads, uint32_t *out, unsigned count) {
    run_text_under("pdom", false, text, threads, out, count);
    for (unsigned number = 0; divergence_at(number); number++)
        for (unsigned in_time = divergence_at(number)->forming != NULL; in_time < 2; in_time++) {
            uint32_t other[WORDS];
            run_text_under(divergence_at(number)->name, in_time, text, threads, other, count);
            for (unsigned i = 0; i < count; i++)
                if (other[i] != out[i])
                    fail_msg("%s%s: word %u is 0x%x, not 0x%x", divergence_at(number)->name, in_time ? " in time" : "",
                             i, other[i], out[i]);
        }
}

/* Threads skip what is predicated anyway; unanimous or not, the result is the same. */
static void a_unanimous_branch_moves_all_or_none(void **state) {
    (void)state;
    for (uint32_t limit = 0; limit <= 32; limit += 16) {
        char text[1024];
        uint32_t out[32];
        snprintf(
            text, sizeof text,
            "code for sm_20\nFunction : k\n.params 8\n/*0000*/ S2R R0, SR_Tid_X;\n"
            "/*0008*/ ISCADD R1, R0, c [0x0] [0x20], 0x2;\n/*0010*/ MOV R4, 0x7;\n"
            "/*0018*/ ISETP.LT.AND P0, pt, R0, 0x%x, pt;\n/*0020*/ @!P0 BRA.U 0x38;\n/*0028*/ @P0 IADD R4, R4, R0;\n"
            "/*0030*/ @P0 IADD R4, R4, 0x1;\n/*0038*/ ST [R1], R4;\n/*0040*/ EXIT;\n",
            (unsigned)limit);
        run_text_under_all(text, 32, out, 32);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(out[i], i < limit ? 8 + i : 7);
        struct fixture f;
        native_open(&f, NULL, text, WORDS);
        native_launch(&f, 1, 32, false, (const uint32_t[]){(uint32_t)f.buffer, 0});
        assert_int_equal(f.result.stats.warp_instructions, limit ? 9 : 7);
        assert_int_equal(f.result.stats.branches, 0);
        finish(&f);
    }
}

/* Functions share the kernel's registers; one of them uses the stack in local memory, which grows down from its end. */
static void calls_share_registers(void **state) {
    (void)state;
    uint32_t out[64];
    run_text_under_all(
        "code for sm_20\nFunction : k\n.params 8\n.local 32\n/*0000*/ MOV R1, c [0x1] [0x100];\n"
        "/*0008*/ S2R R0, SR_Tid_X;\n/*0010*/ ISCADD R2, R0, c [0x0] [0x20], 0x2;\n/*0018*/ MOV R4, R0;\n"
        "/*0020*/ CAL 0x60;\n/*0028*/ ISETP.GT.AND P0, pt, R0, 0x9, pt;\n/*0030*/ @P0 BRA 0x48;\n"
        "/*0038*/ CAL 0x90;\n/*0040*/ CAL 0x60;\n/*0048*/ ST [R2], R4;\n/*0050*/ EXIT;\n"
        "/*0060*/ IADD R1, R1, 0xffff0;\n/*0068*/ STL [R1+0x8], R4;\n/*0070*/ LDL R5, [R1+0x8];\n"
        "/*0078*/ IADD R1, R1, 0x10;\n/*0080*/ IADD R4, R4, R5;\n/*0088*/ RET;\n"
        "/*0090*/ IADD R4, R4, 0x1;\n/*0098*/ CAL 0x60;\n/*00a0*/ RET;\n",
        64, out, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i > 9 ? 2 * i : 4 * (2 * i + 1));
}

/* A barrier between writing and reading shared memory, then atomics of global memory and a reduction. */
static void blocks_work_together(void **state) {
    (void)state;
    uint32_t out[128];
    run_text("code for sm_20\nFunction : k\n.params 8\n.shared 256\nS2R R0, SR_Tid_X;\nSHL R2, R0, 0x2;\n"
             "IMUL R3, R0, 0x3;\nSTS [R2], R3;\nBAR.SYNC 0x0;\nLOP.XOR R4, R2, 0xfc;\nLDS R4, [R4];\n"
             "IADD R5, R2, c [0x0] [0x20];\nST [R5], R4;\nMOV R6, c [0x0] [0x20];\nRED.ADD [R6+0x100], R0;\n"
             "ATOM.MAX.S32 R7, [R6+0x104], R0;\nATOM.CAS R8, [R6+0x108], RZ, R3;\nISETP.LT.AND P0, pt, R0, 0xa, pt;\n"
             "BAR.RED.POPC R9, 0x0, P0;\nBAR.RED.OR RZ, P1, 0x0, P0;\n@!P1 MOV R9, RZ;\nST [R6+0x10c], R9;\nEXIT;\n",
             64, out, 128);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], 3 * (63 - i));
    assert_int_equal(out[64], 63 * 64 / 2);
    assert_int_equal(out[65], 63);
    assert_true(out[66] % 3 == 0 && out[66] <= 189);
    assert_int_equal(out[67], 10);
}

/* Vectors of two and four registers, bytes and halves. */
static void memory_in_all_widths(void **state) {
    (void)state;
    uint32_t out[16];
    run_text_under_all(
        "code for sm_20\nFunction : k\n.params 8\nMOV R0, c [0x0] [0x20];\nMOV32I R4, 0x80ff7f01;\n"
        "MOV32I R5, 0x11111111;\nMOV R6, 0x22;\nMOV R7, 0x33;\nST.128 [R0], R4;\nLD.S8 R8, [R0+0x2];\n"
        "LD.U16 R9, [R0+0x2];\nST.64 [R0+0x10], R8;\nLD.64 R2, [R0+0x8];\nIADD R2, R2, R3;\nST.U8 [R0+0x18], R4;\n"
        "ST [R0+0x1c], R2;\nLD.S16 R10, [R0+0x2];\nST [R0+0x20], R10;\nEXIT;\n",
        1, out, 16);
    const uint32_t want[] = {0x80ff7f01, 0x11111111, 0x22, 0x33, UINT32_MAX, 0x80ff, 1, 0x55, 0xffff80ff};
    assert_memory_equal(out, want, sizeof want);
}

/* Nested loops with CONT and BRK out of an SSY region; the words count how often each place was passed. */
static void continue_and_break_in_nested_loops(void **state) {
    (void)state;
    static const char text[] =
        "code for sm_20\nFunction : k\n.params 8\n/*0000*/ S2R R0, SR_Tid_X;\n"
        "/*0008*/ ISCADD R1, R0, c [0x0] [0x20], 0x2;\n/*0010*/ MOV R2, RZ;\n/*0018*/ MOV R4, RZ;\n/*0020*/ PBK 0xa0;\n"
        "/*0028*/ PCNT 0x80;\n/*0030*/ IADD R2, R2, 0x1;\n/*0038*/ LOP.AND R3, R2, 0x1;\n"
        "/*0040*/ ISETP.EQ.AND P0, pt, R3, RZ, pt;\n/*0048*/ @P0 CONT;\n/*0050*/ SSY 0x78;\n"
        "/*0058*/ ISETP.GT.AND P1, pt, R2, R0, pt;\n/*0060*/ @P1 BRK;\n/*0068*/ IADD R4, R4, R2;\n/*0070*/ NOP.S "
        "CC.T;\n"
        "/*0078*/ CONT;\n/*0080*/ BRA 0x28;\n/*00a0*/ ST [R1], R4;\n/*00a8*/ EXIT;\n";
    uint32_t out[32];
    run_text_under_all(text, 32, out, 32);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t sum = 0, k = 0;
        for (;;) {
            if (++k % 2 == 0)
                continue;
            if (k > i)
                break;
            sum += k;
        }
        assert_int_equal(out[i], sum);
    }
}

/* BRX leads each thread to one of four places, in a region of PRET to whose end they return. */
static void an_indirect_branch_leads_to_what_its_table_says(void **state) {
    (void)state;
    static const char text[] =
        "code for sm_20\nFunction : k\n.params 8\n.targets 0x38 0x40 0x50 0x60\n.constant 0x2 0x0 0x40 0x50 0x60 0x50\n"
        "/*0000*/ S2R R0, SR_Tid_X;\n/*0008*/ ISCADD R1, R0, c [0x0] [0x20], 0x2;\n/*0010*/ LOP.AND R2, R0, 0x3;\n"
        "/*0018*/ SHL R2, R2, 0x2;\n/*0020*/ LDC R2, c [0x2] [R2];\n/*0028*/ MOV R4, RZ;\n/*0030*/ PRET 0x70;\n"
        "/*0038*/ BRX R2 -0x40;\n/*0040*/ IADD R4, R0, 0x64;\n/*0048*/ RET;\n/*0050*/ IADD R4, R0, 0xc8;\n/*0058*/ "
        "RET;\n"
        "/*0060*/ SHL R4, R0, 0x1;\n/*0068*/ RET;\n/*0070*/ ST [R1], R4;\n/*0078*/ EXIT;\n";
    uint32_t out[32];
    run_text_under_all(text, 32, out, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i % 4 == 0 ? i + 100 : i % 4 == 2 ? 2 * i : i + 200);
}

/* ---- Tesla ---- */

#define TESLA(body)                                                                                                    \
    "code for sm_13\nFunction : k\n.params 8\n.shared 256\n.local 256\n.constant 0x1 0x0 0x3f800000 "                  \
    "0x000503ff\nI2I.U32.U16 R1, "                                                                                     \
    "R0L;\n"                                                                                                           \
    "SHL R5, R1, 0x2;\nIADD R5, g [0x4], R5;\nGLD.U32 R2, global14 [R5];\nIADD32I R6, R5, 0x80;\n"                     \
    "GLD.U32 R3, global14 [R6];\n" body "\nIADD32I R6, R5, 0x100;\nGST.U32 global14 [R6], R4;\nRET;\n"

#define TESLA_CASES(X)                                                                                                 \
    X("IMUL.U16.U16 R4, R2L, R3H;", (a & 0xffff) * (b >> 16))                                                          \
    X("IMAD.U16 R4, R2H, R3L, R1;", (a >> 16) * (b & 0xffff) + i)                                                      \
    X("IMUL.S16.S16 R4, R2H, R3H;", (uint32_t)((int16_t)(a >> 16) * (int16_t)(b >> 16)))                               \
    X("IMUL.U24.U24 R4, R2, R3;", (a & 0xffffff) * (b & 0xffffff))                                                     \
    X("MOV R4, R2;\nMOV.U16 R4H, R3L;", (a & 0xffff) | b << 16)                                                        \
    X("MOV R4, R2;\nMOV.U16 R4L, g [0x1].U16;", (a & 0xffff0000) | 32)                                                 \
    X("LOP.AND.U16 R4L, R2H, c [0x1] [0x2];\nI2I.U32.U16 R4, R4L;", a >> 16 & 0x3ff)                                   \
    X("IADD R4, g [0x5], -R2;", 5 - a)                                                                                 \
    X("ISET.S32.C1 R4, R2, R3, LT;", (int32_t)a < (int32_t)b ? UINT32_MAX : 0)                                         \
    X("ISET R4, R2, R3, LT;", a < b ? UINT32_MAX : 0)                                                                  \
    X("IMAX R4, R2, R3;", a > b ? a : b)                                                                               \
    X("R2A A1, R1, 0x2;\nLST.U32 local [A1+0x8], R2;\nLLD.U32 R4, local [A1+0x8];", a)                                 \
    X("MVC R4, c [0xf] [0x3];", 0)                                                                                     \
    X("ISET.S32.C1 o [0x7f], R2, R3, LT;\nMOV R4, R2;\nIADD R4 (C1.NE), R4, R3;", (int32_t)a < (int32_t)b ? a + b : a) \
    X("IADD.C0 R4, R2, R3;\nMVI R4 (C0.LT), 0x7;", (int32_t)(a + b) < 0 ? 7 : a + b)                                   \
    X("IMIN.S32 R4, R2, R3;", smaller(a, b))                                                                           \
    X("IMAX.U32 R4, R2, R3;", a > b ? a : b)                                                                           \
    X("SHR.S32 R4, R2, 0x4;", (uint32_t)((int32_t)a >> 4))                                                             \
    X("SHR R4, R2, 0x4;", a >> 4)                                                                                      \
    X("I2F.F32.U32 R4, R1;\nFMAD R4, R4, R4, c [0x1] [0x0];", bits_of((float)i *(float)i + 1.0f))                      \
    X("I2F.F32.U32 R4, R1;\nFMUL32I R4, R4, 0x3f000000;\nFADD32 R4, R4, -R4;", 0)                                      \
    X("I2F.F32.U32 R4, R1;\nF2I.U32.F32.TRUNC R4, R4;", i)                                                             \
    X("R2A A1, R1, 0x2;\nR2G.U32.U32 g [A1+0x20], R2;\nBAR.ARV.WAIT b0, 0xfff;\nIADD R4, g [A1+0x20], R3;", a + b)

static void instructions_of_tesla(void **state) {
    (void)state;
    uint32_t a_row[32], b_row[32];
    fill_rows(a_row, b_row);
#define X(body, expression) CHECK(TESLA, body, expression)
    TESLA_CASES(X)
#undef X
}

/* ---- locks of shared memory ---- */

/* R1: the thread; A1: one of four words of shared memory by the thread's last bits, R6: the same of the buffer */
#define LOCKS(body)                                                                                                    \
    "code for sm_13\nFunction : k\n.params 8\n.shared 256\nI2I.U32.U16 R1, R0L;\nLOP.AND R2, R1, 0x3;\n"               \
    "R2A A1, R2, 0x2;\nSHL R6, R2, 0x2;\nIADD R6, g [0x4], R6;\n" body

/* Of all who ask, one gets it, by the sign of the code and by its value; once it is given back, one again. */
static void one_thread_at_a_time_has_a_lock(void **state) {
    (void)state;
    static const char text[] = LOCKS(
        "G2R.LCK.U32.C0 R3, g [A1+0x8].U32;\nMVI R4, 0x0;\nMVI R4 (C0.LT), 0x1;\nGRED.ADD.U32 global14 [R6], R4;\n"
        "BAR.ARV.WAIT b0, 0xfff;\nG2R.LCK.U32.C1 R3, g [A1+0x8].U32;\nMVI R4, 0x0;\nMVI R4 (C1.NE), 0x1;\n"
        "IADD32I R6, R6, 0x10;\nGRED.ADD.U32 global14 [R6], R4;\nMVI R5, 0x63;\nBAR.ARV.WAIT b0, 0xfff;\n"
        "R2G.UNL.U32.U32 C0.NE, g [A1+0x8], R5;\nBAR.ARV.WAIT b0, 0xfff;\n"
        "G2R.LCK.U32.C2 R3, g [A1+0x8].U32;\nIADD32I R6, R6, 0x10;\nGRED.ADD.U32 C2.NE, global14 [R6], R3;\nRET;\n");
    uint32_t out[12];
    run_text_under_all(text, 96, out, 12);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(out[i], 1);
        assert_int_equal(out[4 + i], 0);
        assert_int_equal(out[8 + i], 0x63);
    }
}

/* The first lanes of those that ask at once. */
static void locks_go_by_the_order_of_lanes(void **state) {
    (void)state;
    uint32_t out[32];
    run_text(LOCKS("SHL R5, R1, 0x2;\nIADD R5, g [0x4], R5;\nG2R.LCK.U32.C0 R3, g [A1+0x8].U32;\nMVI R4, 0x0;\n"
                   "MVI R4 (C0.NE), 0x1;\nGST.U32 global14 [R5], R4;\nRET;\n"),
             32, out, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 4);
}

/* Every thread draws a number of its word: all are drawn, and each once. */
static void a_loop_of_locks_is_an_atomic(void **state) {
    (void)state;
    static const char text[] =
        "code for sm_13\nFunction : k\n.params 8\n.shared 256\n/*0000*/ I2I.U32.U16 R1, R0L;\n"
        "/*0008*/ LOP.AND R2, R1, 0x3;\n/*0010*/ R2A A1, R2, 0x2;\n/*0018*/ SSY 0x40;\n"
        "/*0020*/ G2R.LCK.U32.C0 R3, g [A1+0x8].U32;\n/*0028*/ IADD32I R4, R3, 0x1;\n"
        "/*0030*/ R2G.UNL.U32.U32 C0.NE, g [A1+0x8], R4;\n/*0038*/ BRA C0.EQ, 0x20;\n/*0040*/ NOP.S;\n"
        "/*0048*/ SHL R3, R3, 0x4;\n/*0050*/ SHL R2, R2, 0x2;\n/*0058*/ IADD R3, R3, R2;\n"
        "/*0060*/ IADD R3, g [0x4], R3;\n/*0068*/ MVI R4, 0x1;\n/*0070*/ GRED.ADD.U32 global14 [R3], R4;\n/*0078*/ "
        "RET;\n";
    uint32_t out[100];
    run_text_under_all(text, 96, out, 100);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(out[i], i < 96);
}

static void a_lock_that_is_kept_stops_who_waits_for_it(void **state) {
    (void)state;
    struct fixture f;
    native_open(&f, "tokens",
                "code for sm_13\nFunction : k\n.params 8\n.shared 256\n/*0000*/ G2R.LCK.U32.C0 R3, g [0x8].U32;\n"
                "/*0008*/ BRA C0.EQ, 0x0;\n/*0010*/ RET;\n",
                WORDS);
    const uint32_t params[2] = {0, 0};
    const struct launch launch = {.program = f.program,
                                  .kernel = program_module(f.program)->functions[0],
                                  .grid = {1, 1, 1},
                                  .block = {64, 1, 1},
                                  .params = params,
                                  .work_dim = 1,
                                  .in_time = true};
    assert_int_equal(device_launch(f.device, &launch, &f.result, &f.report), STATUS_STOPPED);
    assert_non_null(strstr(report_text(&f.report), "makes no progress"));
    finish(&f);
}

static void what_has_no_lock_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {{"G2R.LCK.U32.C0 R3, g [0x4].U32;\nRET;\n", "a lock of the parameters"},
                 {"R2G.UNL.U32.U32 g [0x4], R3;\nRET;\n", "a lock of the parameters"},
                 {"G2R.LCK.U16.C0 R3, g [A1+0x8].U16;\nRET;\n", "a lock of less than a word"}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        struct report report = {0};
        struct module *module = NULL;
        const int length = snprintf(text, sizeof text, "code for sm_13\nFunction : k\n.params 8\n%s", cases[i].text);
        assert_int_equal(native_load("test.sass", text, (size_t)length, &module, &report), STATUS_INVALID);
        if (!strstr(report_text(&report), cases[i].message))
            fail_msg("%s", report_text(&report));
        report_free(&report);
    }
}

/* A machine that names an instruction set runs native code of that one only; one of PTX runs each as what it is. */
static void native_code_of_another_isa_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *isa;
        bool runs;
    } cases[] = {{"ptx", true},     {"fermi", true},  {"tesla", false},
                 {"native", false}, {"sm_75", false}, {"sm_90", false}};
    static const char text[] = "code for sm_20\nFunction : k\n.params 8\nEXIT;\n";
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[128], message[128];
        struct fixture f;
        snprintf(settings, sizeof settings, "base: gtx480\nsm.count: 2\nisa: %s\n", cases[i].isa);
        snprintf(message, sizeof message, "test.sass: error: native code for sm_20, which isa: %s does not run",
                 cases[i].isa);
        fixture_open(&f, settings, WORDS);
        const enum status status = device_load(f.device, "test.sass", text, sizeof text - 1, &f.program, &f.report);
        assert_int_equal(status, cases[i].runs ? STATUS_OK : STATUS_INVALID);
        if (!cases[i].runs && !strstr(report_text(&f.report), message))
            fail_msg("%s", report_text(&f.report));
        finish(&f);
    }
}

/* Code for one minor number runs on those above it of the same major number. */
static void code_runs_on_later_minors_of_its_major(void **state) {
    (void)state;
    assert_true(isa_runs(ISA_SM_86, 86) && isa_runs(ISA_SM_86, 80) && isa_runs(ISA_SM_89, 86));
    assert_true(isa_runs(ISA_NATIVE, 86) && isa_runs(ISA_TESLA, 13) && isa_runs(ISA_PTX, 90));
    assert_false(isa_runs(ISA_SM_86, 89) || isa_runs(ISA_SM_86, 75) || isa_runs(ISA_SM_90, 89));
    assert_false(isa_runs(ISA_NATIVE, 90) || isa_runs(ISA_FERMI, 13) || isa_runs(ISA_TESLA, 20));
}

/* ---- counting ---- */

/* Parts issue, but they are no instructions: LD_LDU is one, and so is an addition that takes shared memory. */
static void parts_are_no_instructions(void **state) {
    (void)state;
    struct fixture f;
    native_open(&f, NULL,
                "code for sm_20\nFunction : k\n.params 8\nMOV R1, c [0x0] [0x20];\n"
                "LD_LDU.32.32 R2, R3, [R1], [R1+0x4];\nDADD R2, R2, R2;\nST.64 [R1+0x8], R2;\nEXIT;\n",
                WORDS);
    native_launch(&f, 1, 32, false, (const uint32_t[]){(uint32_t)f.buffer, 0});
    assert_int_equal(f.result.stats.warp_instructions, 5);
    assert_int_equal(f.result.stats.thread_instructions, 5 * 32);
    assert_int_equal(f.result.stats.active_lanes, 5 * 32);
    assert_int_equal(f.result.stats.lane_slots, 5 * 32);
    const struct module *module = program_module(f.program);
    unsigned parts = 0;
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        parts += (module->code[pc].flags & FLAG_PART) != 0;
    assert_int_equal(module->code_count - parts, 5);
    assert_string_equal(inst_name(module, &module->code[1]), "LD_LDU");
    /* nor are they in what is said by line */
    struct arena arena = {0};
    unsigned lines, instructions = 0;
    uint64_t issues = 0;
    const struct line_stats *all = lines_collect(module, f.result.instructions, NULL, &arena, &lines);
    for (unsigned i = 0; i < lines; i++)
        instructions += all[i].instructions, issues += all[i].sum.issues;
    assert_int_equal(instructions, 5);
    assert_int_equal(issues, f.result.stats.warp_instructions);
    arena_free(&arena);
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_listing_of_if_then_else),
        cmocka_unit_test(the_listing_of_a_loop),
        cmocka_unit_test(the_listing_of_break_and_continue),
        cmocka_unit_test(the_listing_of_tesla),
        cmocka_unit_test(instructions_of_fermi),
        cmocka_unit_test(instructions_of_tesla),
        cmocka_unit_test(one_thread_at_a_time_has_a_lock),
        cmocka_unit_test(locks_go_by_the_order_of_lanes),
        cmocka_unit_test(a_loop_of_locks_is_an_atomic),
        cmocka_unit_test(a_lock_that_is_kept_stops_who_waits_for_it),
        cmocka_unit_test(what_has_no_lock_is_refused),
        cmocka_unit_test(native_code_of_another_isa_is_refused),
        cmocka_unit_test(code_runs_on_later_minors_of_its_major),
        cmocka_unit_test(a_unanimous_branch_moves_all_or_none),
        cmocka_unit_test(calls_share_registers),
        cmocka_unit_test(blocks_work_together),
        cmocka_unit_test(memory_in_all_widths),
        cmocka_unit_test(continue_and_break_in_nested_loops),
        cmocka_unit_test(an_indirect_branch_leads_to_what_its_table_says),
        cmocka_unit_test(parts_are_no_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

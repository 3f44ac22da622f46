/* SPDX-License-Identifier: Apache-2.0 */
/* math TYPE COUNT SEED [NAME...]: math functions of OpenCL C on the simulated device, against MPFR.
 * COUNT random inputs a function beyond combinations of special values; of one half every one when COUNT is 10,000 or more.
 * A line for every function, tabs between: name, type, limit, worst error in ulp, inputs, failures, worst input. */
#include "math.h"

#include "compile/compile.h"
#include "device/device.h"
#include "machine/machine.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))
enum { BLOCK = 256, REFERENCE_BITS = 128 };
enum { BUFFER_X, BUFFER_Y, BUFFER_Z, BUFFER_N, BUFFER_R, BUFFER_S, BUFFER_M, BUFFER_COUNT };

struct session {
    const struct float_type *type;
    unsigned type_index, count, capacity; /* capacity: elements of the buffers */
    uint64_t seed;
    const char *option; /* of the build: -cl-..., NULL: none */
    bool is_relaxed;    /* the option leaves open what is no number, and the sign of zero */
    struct machine machine;
    struct device *device;
    struct program *program;
    uint64_t address[BUFFER_COUNT];
    mpfr_t x, y, z, r, s, got, exact;
};

/* What one function came to. */
struct verdict {
    double worst;
    unsigned inputs, failures;
    struct math_arguments at;
    uint64_t got; /* there */
};

/* ---- on the device ---- */

static const char *form_call(enum form form) {
    static const char *const calls[] = {
        [FORM_X] = "r[i] = %s(x[i])",
        [FORM_XY] = "r[i] = %s(x[i], y[i])",
        [FORM_XYZ] = "r[i] = %s(x[i], y[i], z[i])",
        [FORM_XN] = "r[i] = %s(x[i], n[i])",
        [FORM_N] = "r[i] = %s(((global BITS *)x)[i])",
        [FORM_XS] = "REAL t; r[i] = %s(x[i], &t); s[i] = t",
        [FORM_XM] = "int t; r[i] = %s(x[i], &t); m[i] = t",
        [FORM_XYM] = "int t; r[i] = %s(x[i], y[i], &t); m[i] = t",
        [FORM_XI] = "m[i] = %s(x[i])",
    };
    return calls[form];
}

static const char *source_build(const struct session *session, struct arena *arena) {
    const char *text = arena_printf(arena,
                                    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                                    "#define divide(x, y) ((x) / (y))\n"
                                    "typedef %s REAL;\ntypedef %s BITS;\n",
                                    session->type->name, session->type->bits_name);
    for (unsigned f = 0; f < math_function_count; f++) {
        if (math_functions[f].limit[session->type_index] == ABSENT)
            continue;
        char call[128];
        snprintf(call, sizeof call, form_call(math_functions[f].form), math_functions[f].name);
        text = arena_printf(
            arena,
            "%skernel void test_%s(global REAL *x, global REAL *y, global REAL *z, global int *n, "
            "global REAL *r, global REAL *s, global int *m) {\n    size_t i = get_global_id(0);\n    %s;\n}\n",
            text, math_functions[f].name, call);
    }
    return text;
}

static enum status session_open(struct session *session, struct arena *arena, struct report *report) {
    struct compiled compiled;
    const struct compile_options options = {.no_line_info = true,
                                            .extra = &session->option,
                                            .extra_count = session->option != NULL};
    const char *text = source_build(session, arena);
    enum status status =
        compile_text(&(struct compile_source){"math.cl", text, strlen(text)}, &options, arena, &compiled, report);
    if (status == STATUS_OK)
        status = machine_open(&session->machine, NULL, report);
    if (status == STATUS_OK)
        status = device_create(&session->device, &session->machine, report);
    if (status == STATUS_OK)
        status = device_load(session->device, "math.cl", compiled.ptx, compiled.ptx_bytes, &session->program, report);
    for (unsigned i = 0; status == STATUS_OK && i < BUFFER_COUNT; i++)
        status = device_alloc(session->device, "buffer", (uint64_t)session->capacity * 8, &session->address[i], report);
    mpfr_inits2(REFERENCE_BITS, session->x, session->y, session->z, session->r, session->s, session->got,
                session->exact, (mpfr_ptr)NULL);
    return status;
}

static void *buffer(struct session *session, unsigned which, unsigned i, unsigned bytes) {
    return (char *)device_memory(session->device, session->address[which], (uint64_t)session->capacity * 8) +
           (size_t)i * bytes;
}

static enum status function_launch(struct session *session, unsigned f, unsigned count, struct report *report) {
    char name[64];
    struct launch_result result = {0};
    snprintf(name, sizeof name, "test_%s", math_functions[f].name);
    struct launch launch = {.program = session->program,
                            .kernel = module_find(program_module(session->program), name),
                            .grid = {count / BLOCK, 1, 1},
                            .block = {BLOCK, 1, 1},
                            .params = session->address,
                            .work_dim = 1};
    enum status status = device_launch(session->device, &launch, &result, report);
    launch_result_free(&result);
    return status;
}

/* ---- the judgement ---- */

/* |got - exact| in units of the last place of the exact value; infinity counts as the first number beyond the type. */
static double ulp_error(struct session *session, mpfr_t got, mpfr_t exact) {
    const struct float_type *type = session->type;
    if (mpfr_nan_p(exact) || mpfr_nan_p(got))
        return mpfr_nan_p(exact) && mpfr_nan_p(got) ? 0.0 : INFINITY;
    if (mpfr_inf_p(exact) || (mpfr_zero_p(exact) && mpfr_zero_p(got)))
        return mpfr_equal_p(exact, got) && mpfr_signbit(exact) == mpfr_signbit(got) ? 0.0 : INFINITY;
    const long least = 3 - type->top - type->digits;
    long unit = least;
    if (!mpfr_zero_p(exact)) {
        const long exponent = mpfr_get_exp(exact) > type->top ? type->top : mpfr_get_exp(exact);
        unit = exponent - type->digits < least ? least : exponent - type->digits;
    }
    if (mpfr_inf_p(got))
        mpfr_set_si_2exp(got, mpfr_signbit(got) ? -1 : 1, type->top, MPFR_RNDN);
    if (mpfr_regular_p(exact) && mpfr_get_exp(exact) > type->top)
        mpfr_set_si_2exp(exact, mpfr_signbit(exact) ? -1 : 1, type->top, MPFR_RNDN);
    mpfr_sub(exact, got, exact, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, -unit, MPFR_RNDN);
    return fabs(mpfr_get_d(exact, MPFR_RNDN));
}

/* Where either zero is right: OpenCL leaves open which zero is the larger. */
static bool zero_sign_open(const char *name) {
    static const char *const names[] = {"fmax", "fmin", "maxmag", "minmag", "fdim"};
    for (unsigned i = 0; i < COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static double value_error(struct session *session, unsigned f, uint64_t bits, mpfr_t reference) {
    const double limit = math_functions[f].limit[session->type_index];
    math_decode(session->got, bits, session->type);
    mpfr_set(session->exact, reference, MPFR_RNDN);
    if (limit == EXACT)
        math_round(session->exact, session->type);
    if (mpfr_zero_p(session->exact) && mpfr_zero_p(session->got) &&
        (session->is_relaxed || zero_sign_open(math_functions[f].name)))
        return 0.0;
    return ulp_error(session, session->got, session->exact);
}

static bool integer_right(unsigned f, int32_t got, long expected, mpfr_srcptr x) {
    const enum form form = math_functions[f].form;
    if (form == FORM_XYM) /* the sign and at least seven bits of the quotient */
        return (labs(got) & 0x7f) == (labs(expected) & 0x7f) && (got == 0 || (got < 0) == (expected < 0));
    if (form == FORM_XM && strcmp(math_functions[f].name, "lgamma_r") == 0)
        return expected == 0 || got == expected;
    return got == expected || (form == FORM_XM && !mpfr_number_p(x)); /* frexp of no number leaves it open */
}

/* Whether the specification says anything about a function there. */
static bool in_domain(unsigned f, mpfr_srcptr x) {
    const char *name = math_functions[f].name;
    const bool trigonometric =
        strcmp(name, "half_sin") == 0 || strcmp(name, "half_cos") == 0 || strcmp(name, "half_tan") == 0;
    return !trigonometric || (mpfr_number_p(x) && mpfr_cmpabs_ui(x, 65536) <= 0);
}

/* Whether all that a function is given and gives is a number. */
static bool is_finite(const struct session *session, enum form form) {
    const bool has_y = form == FORM_XY || form == FORM_XYM || form == FORM_XYZ;
    return form != FORM_N && mpfr_number_p(session->x) && (!has_y || mpfr_number_p(session->y)) &&
           (form != FORM_XYZ || mpfr_number_p(session->z)) && (form == FORM_XI || mpfr_number_p(session->r));
}

static uint64_t bits_at(struct session *session, unsigned which, unsigned i) {
    uint64_t bits = 0;
    memcpy(&bits, buffer(session, which, i, session->type->bytes), session->type->bytes);
    return bits;
}

static void input_judge(struct session *session, unsigned f, unsigned i, const struct math_arguments *a,
                        struct verdict *verdict) {
    const enum form form = math_functions[f].form;
    const double limit = math_functions[f].limit[session->type_index];
    long m = 0;
    double error = 0.0;
    math_decode(session->x, a->x, session->type);
    math_decode(session->y, a->y, session->type);
    math_decode(session->z, a->z, session->type);
    if (!in_domain(f, session->x))
        return;
    math_reference(f, session->type, session->r, session->s, &m, session->x, session->y, session->z, a->n);
    if (session->is_relaxed && !is_finite(session, form))
        return;
    const uint64_t got = form == FORM_XI ? 0 : bits_at(session, BUFFER_R, i);
    if (form != FORM_XI)
        error = value_error(session, f, got, session->r);
    if (form == FORM_XS)
        error = fmax(error, value_error(session, f, bits_at(session, BUFFER_S, i), session->s));
    if (form == FORM_XM || form == FORM_XYM || form == FORM_XI) {
        int32_t second;
        memcpy(&second, buffer(session, BUFFER_M, i, 4), 4);
        if (!integer_right(f, second, m, session->x))
            error = INFINITY;
    }
    verdict->inputs++;
    if (error > verdict->worst || verdict->inputs == 1) {
        verdict->worst = error;
        verdict->at = *a;
        verdict->got = got;
    }
    if (limit != NONE && error > limit) {
        if (verdict->failures++ < 8 && getenv("HEDDLE_TEST_VERBOSE"))
            printf("# %s %s(%#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ", %d) = %#" PRIx64 ", %g ulp\n",
                   session->type->name, math_functions[f].name, a->x, a->y, a->z, a->n, got, error);
    }
}

static enum status function_test(struct session *session, unsigned f, struct report *report) {
    const struct math_function *function = &math_functions[f];
    const bool unary = function->form != FORM_XY && function->form != FORM_XYM && function->form != FORM_XYZ &&
                       function->form != FORM_XN;
    const bool all = unary && session->type->bytes == 2 && session->count >= 10000;
    struct math_inputs inputs = {.type = session->type,
                                 .form = function->form,
                                 .is_power = strstr(function->name, "pow") || strcmp(function->name, "rootn") == 0};
    rng_seed(&inputs.rng, session->seed ^ (uint64_t)f << 32);
    unsigned count = all ? 65536 : math_special_count(&inputs) + session->count;
    count = (count + BLOCK - 1) / BLOCK * BLOCK;
    struct math_arguments *arguments = calloc(count, sizeof *arguments);
    for (unsigned i = 0; i < count; i++) {
        struct math_arguments *a = &arguments[i];
        if (all)
            a->x = i;
        else
            math_input(&inputs, i, a);
        memcpy(buffer(session, BUFFER_X, i, session->type->bytes), &a->x, session->type->bytes);
        memcpy(buffer(session, BUFFER_Y, i, session->type->bytes), &a->y, session->type->bytes);
        memcpy(buffer(session, BUFFER_Z, i, session->type->bytes), &a->z, session->type->bytes);
        memcpy(buffer(session, BUFFER_N, i, 4), &a->n, 4);
    }
    struct verdict verdict = {0};
    enum status status = function_launch(session, f, count, report);
    for (unsigned i = 0; status == STATUS_OK && i < count; i++)
        input_judge(session, f, i, &arguments[i], &verdict);
    free(arguments);
    if (status == STATUS_OK)
        printf("%s\t%s\t%g\t%.9g\t%u\t%u\t%#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %d -> %#" PRIx64 "\n", function->name,
               session->type->name, function->limit[session->type_index], verdict.worst, verdict.inputs,
               verdict.failures, verdict.at.x, verdict.at.y, verdict.at.z, verdict.at.n, verdict.got);
    fflush(stdout);
    return status;
}

static bool is_wanted(const char *name, int count, char **names) {
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return count == 0;
}

int main(int argc, char **argv) {
    struct session session = {0};
    struct arena arena = {0};
    struct report report = {0};
    if (argc > 1 && argv[1][0] == '-') {
        session.option = argv[1];
        session.is_relaxed = strcmp(argv[1], "-cl-fast-relaxed-math") == 0;
        argc--;
        argv++;
    }
    if (argc < 4)
        return fprintf(stderr, "math [-cl-OPTION] TYPE COUNT SEED [NAME...]\n"), 2;
    while (session.type_index < FLOAT_TYPE_COUNT && strcmp(float_types[session.type_index].name, argv[1]) != 0)
        session.type_index++;
    if (session.type_index == FLOAT_TYPE_COUNT)
        return fprintf(stderr, "no type %s\n", argv[1]), 2;
    session.type = &float_types[session.type_index];
    session.count = (unsigned)strtoul(argv[2], NULL, 10);
    session.seed = strtoull(argv[3], NULL, 10);
    session.capacity = session.count + 65536 + BLOCK;
    enum status status = session_open(&session, &arena, &report);
    for (unsigned f = 0; status == STATUS_OK && f < math_function_count; f++)
        if (math_functions[f].limit[session.type_index] != ABSENT &&
            is_wanted(math_functions[f].name, argc - 4, argv + 4))
            status = function_test(&session, f, &report);
    if (status != STATUS_OK)
        fputs(report_text(&report), stderr);
    mpfr_clears(session.x, session.y, session.z, session.r, session.s, session.got, session.exact, (mpfr_ptr)NULL);
    mpfr_free_cache();
    if (session.device)
        device_destroy(session.device);
    machine_close(&session.machine);
    report_free(&report);
    arena_free(&arena);
    return status == STATUS_OK ? 0 : 2;
}

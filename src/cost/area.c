/* SPDX-License-Identifier: Apache-2.0 */
/* Area from bits and ports. A cell grows with its ports in both directions, a word line and a bit line for each; an array
 * has decoders, sense amplifiers and drivers along its edges:
 *     area of a bank = ports^2 x (cell x bits + edge x sqrt(bits))
 * with two constants, fitted by least squares of the relative error to the seven areas that [000 ch. 7] had from CACTI 4.2
 * at 90 nm. A third, the area of a flip-flop, is that of its registers. Caches are counted as CACTI holds them: data in
 * lines of 8 bytes at least, and the tag beside them. */
#include "cost/cost.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"

#define FUNG "Fung 2008, table 7.1"
#define TARJAN "Tarjan 2009, table 1"
#define NARASIMAN "Narasiman, section 4.5"
#define ROGERS "Rogers 2012, section 5.7"
#define VARIABLE "Rogers 2015, table 2"

/* Bits by the fields, so that a structure is found again; then what the table prints. */
static const struct cost_published published[] = {
    {FUNG, "warp-update registers", 752, 752, 0.0080, 0},
    {FUNG, "PC-warp LUT", 4032, 4032, 0.2633, 0},
    {FUNG, "warp pool", 45312, 44928, 0.6194, 0},
    {FUNG, "warp allocator", 896, 896, 0.0342, 0},
    {FUNG, "MHeap LUT", 3968, 4992, 0.4945, 0},
    {FUNG, "max-heap", 3712, 3712, 0.2159, 0},
    {FUNG, "register file decoders", 262144, 0, 0.722, 0},
    {FUNG, "register file in one array", 262144, 0, 3.863, 0},
    {FUNG, "register file in eight banks", 262144, 0, 4.585, 0},
    {TARJAN, "memory divergence table", 128, 128, 0, 0},
    {TARJAN, "memory divergence table", 2048, 2048, 0, 0},
    {TARJAN, "slip counters", 256, 256, 0, 0},
    {TARJAN, "slip counters", 4096, 4096, 0, 0},
    {TARJAN, "slip-limit masks", 32, 32, 0, 0},
    {TARJAN, "slip-limit masks", 512, 128, 0, 0},
    {TARJAN, "maximum slip", 8, 8, 0, 0},
    {NARASIMAN, "active mask copy", 256, 256, 0, 0},
    {NARASIMAN, "branch mask buffers", 512, 512, 0, 0},
    {NARASIMAN, "in-flight bits", 1024, 1024, 0, 0},
    {ROGERS, "victim tag array", 20480, 20480, 0, 0}, /* 0.026 mm² at 55 nm */
    {ROGERS, "owners of lines", 1280, 1280, 0, 0},
    {VARIABLE, "gang table", 7168, 0, 0, 0.026},
    {VARIABLE, "instruction buffers", 32768, 0, 0, 0.103}, /* of eight slices, then of four */
    {VARIABLE, "instruction buffers", 16384, 0, 0, 0.052},
    {VARIABLE, "L0 instruction caches", 16384, 0, 0, 0.052},
    {VARIABLE, "L0 instruction caches", 8192, 0, 0, 0.026},
    {VARIABLE, "scoreboards", 14400, 0, 0, 0.154},
    {VARIABLE, "scoreboards", 7200, 0, 0, 0.077},
};

const struct cost_published *cost_find_published(const struct cost_structure *structure) {
    const uint64_t bits =
        structure->kind == COST_SPLIT ? structure->entries * structure->arrays[0].bits : cost_bits(structure);
    for (unsigned i = 0; i < sizeof published / sizeof *published; i++)
        if (strcmp(published[i].name, structure->name) == 0 && published[i].bits == bits)
            return &published[i];
    return NULL;
}

/* ---- what the two constants are multiplied with ---- */

struct terms {
    double cell, edge;
};

static void add_bank(struct terms *terms, double banks, double bits, unsigned ports) {
    terms->cell += banks * ports * ports * bits;
    terms->edge += banks * ports * ports * sqrt(bits);
}

static struct terms terms_of(const struct cost_structure *structure) {
    enum { LINE_BITS = 64 };
    struct terms terms = {0};
    const struct cost_array *first = &structure->arrays[0];
    if (structure->kind == COST_SPLIT) {
        const double bits = (double)structure->entries * first->bits;
        struct terms whole = {0};
        add_bank(&whole, 1, bits, first->reads + first->writes);
        add_bank(&terms, first->banks, bits / first->banks, first->reads + first->writes);
        return (struct terms){terms.cell - whole.cell, terms.edge - whole.edge};
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct cost_array *array = &structure->arrays[i];
        uint64_t bits = array->bits;
        if (structure->kind == COST_CACHE)
            bits = structure->tag_bits + bits_round_up(bits - structure->tag_bits, LINE_BITS);
        add_bank(&terms, array->banks, (double)(structure->entries * bits), array->reads + array->writes);
    }
    return terms;
}

double cost_area_mm2(const struct cost_model *model, const struct cost_structure *structure) {
    const struct terms terms = terms_of(structure);
    const double square_micrometres = structure->kind == COST_REGISTERS
                                          ? model->flipflop * (double)cost_bits(structure)
                                          : model->cell * terms.cell + model->edge * terms.edge;
    return square_micrometres * 1e-6;
}

/* A latch of 2.1 square micrometres and half as much around it, a flip-flop that is searched of 3.6 and twice as much [ISCA 2015, table 2]. */
double cost_cells_mm2(const struct cost_structure *structure) {
    const double latch = 2.1 * 1.5, flipflop = 3.6 * 3;
    return (structure->kind == COST_REGISTERS ? flipflop : latch) * 1e-6 * (double)cost_bits(structure);
}

/* ---- the fit ---- */

/* Least squares of (model / published - 1): linear in both constants. left_out: a point that does not count. */
static void fit(struct cost_model *model, const struct cost_structure *points, unsigned left_out) {
    double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
    for (unsigned i = 0; i < COST_POINTS; i++) {
        if (i == left_out)
            continue;
        const struct terms terms = terms_of(&points[i]);
        const double area = cost_find_published(&points[i])->area_mm2 * 1e6;
        const double cell = terms.cell / area, edge = terms.edge / area;
        aa += cell * cell, ab += cell * edge, bb += edge * edge, a += cell, b += edge;
    }
    const double determinant = aa * bb - ab * ab;
    model->cell = (a * bb - b * ab) / determinant;
    model->edge = (b * aa - a * ab) / determinant;
}

/* The structures of table 7.1 that CACTI was asked for, on the machine of the study, and its register files: 8192
 * registers, two read ports and one write port, in one array and in eight. */
static void fill_points(struct arena *arena, struct cost_structure points[COST_POINTS], double *flipflop) {
    const struct cost_shape shape = {.warps = 24, .warp_size = 32, .threads = 768, .lanes = 8, .registers = 8192};
    struct cost cost = {.arena = arena};
    unsigned count = 0;
    cost_formation(&shape, &(struct cost_formation){.sorts = true}, &cost);
    for (unsigned i = 0; i < cost.count; i++) {
        if (cost.items[i].kind == COST_REGISTERS)
            *flipflop = cost_find_published(&cost.items[i])->area_mm2 * 1e6 / (double)cost_bits(&cost.items[i]);
        else if (cost.items[i].kind != COST_SPLIT)
            points[count++] = cost.items[i];
    }
    struct cost files = {.arena = arena};
    cost_add(&files, COST_MEMORY, "register file in one array", "", 8192, (struct cost_array){1, 32, 2, 1});
    cost_add(&files, COST_MEMORY, "register file in eight banks", "", 1024, (struct cost_array){8, 32, 2, 1});
    points[count++] = files.items[0];
    points[count] = files.items[1];
}

void cost_fit(struct cost_model *model, struct cost_point points[COST_POINTS]) {
    struct arena arena = {0};
    struct cost_structure structures[COST_POINTS];
    fill_points(&arena, structures, &model->flipflop);
    fit(model, structures, COST_POINTS);
    for (unsigned i = 0; i < COST_POINTS; i++) {
        struct cost_model others = *model;
        fit(&others, structures, i);
        points[i] = (struct cost_point){.name = structures[i].name,
                                        .published_mm2 = cost_find_published(&structures[i])->area_mm2,
                                        .fitted_mm2 = cost_area_mm2(model, &structures[i]),
                                        .left_out_mm2 = cost_area_mm2(&others, &structures[i])};
    }
    arena_free(&arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "study/calibrate.h"

#include <math.h>
#include <string.h>

#include "study/rows.h"

enum key_kind { SAME, DIFFERS, GROWS, SHRINKS, SECTOR, SLICES, NOTHING };

static const struct {
    const char *key;
    enum key_kind kind;
    double factor;
} keys[CALIBRATE_ROWS] = {
#define ROW(name, key, kind, factor) {key, kind, factor},
#include "study/calibrate.def"
#undef ROW
};

const char *const calibrate_row_names[CALIBRATE_ROWS] = {
#define ROW(name, key, kind, factor) #name,
#include "study/calibrate.def"
#undef ROW
};

/* ---- reading ---- */

enum { COLUMNS = 5 };

static enum status read_row(struct arena *arena, const char *const fields[COLUMNS], const char *where,
                            struct calibrate_values *out, struct report *report) {
    double value, spread;
    unsigned row = 0;
    if (strcmp(fields[0], "gpu") == 0) {
        out->gpu = rows_plain(arena, fields[4]);
        return STATUS_OK;
    }
    while (row < CALIBRATE_ROWS && strcmp(calibrate_row_names[row], fields[0]) != 0)
        row++;
    if (row == CALIBRATE_ROWS)
        return report_add(report, STATUS_INVALID, "%s: '%s' is not a measurement that is known", where, fields[0]);
    if (!rows_number(fields[1], &value) || !rows_number(fields[2], &spread))
        return report_add(report, STATUS_INVALID, "%s: '%s' and '%s' must be numbers, a value and its spread", where,
                          fields[1], fields[2]);
    if (out->rows[row].unit)
        return report_add(report, STATUS_INVALID, "%s: '%s' is given twice", where, fields[0]);
    out->rows[row].value = value > 0 ? value : NAN, out->rows[row].spread = spread,
    out->rows[row].unit = rows_plain(arena, fields[3]);
    return STATUS_OK;
}

enum status calibrate_parse(struct arena *arena, const char *name, const char *text, size_t length,
                            struct calibrate_values *out, struct report *report) {
    *out = (struct calibrate_values){.name = name, .gpu = "a GPU without a name"};
    for (unsigned i = 0; i < CALIBRATE_ROWS; i++)
        out->rows[i].value = NAN;
    struct rows rows = {.name = name, .at = text, .end = text + length};
    const char *fields[COLUMNS];
    unsigned count = 0;
    for (bool found = true; found; count += found) {
        enum status status = rows_next(&rows, arena, fields, COLUMNS, &found, report);
        if (!status && found)
            status = read_row(arena, fields, arena_printf(arena, "%s:%u", name, rows.line), out, report);
        if (status)
            return status;
    }
    if (!count)
        return report_add(report, STATUS_INVALID, "%s: no rows of name, value, spread, unit, how", name);
    return STATUS_OK;
}

/* ---- keys ---- */

static double number_of(const struct machine *base, const char *key) {
    const struct param_description *param = param_find(&base->params, key);
    const char *field = (const char *)base->params.values + param->offset;
    return param->kind == PARAM_U64 ? (double)*(const uint64_t *)(const void *)field
                                    : (double)*(const uint32_t *)(const void *)field;
}

static const char *key_of(struct arena *arena, const struct machine *base, enum calibrate_row row) {
    if (keys[row].kind != SECTOR)
        return keys[row].key;
    const char *sector = arena_printf(arena, "%ssector_bytes", keys[row].key);
    return number_of(base, sector) > 0 ? sector : arena_printf(arena, "%sline_bytes", keys[row].key);
}

static double after_of(const struct machine *base, enum calibrate_row row, double before, double card, double beside) {
    switch (keys[row].kind) {
    case DIFFERS: return before + (card - beside) * keys[row].factor;
    case GROWS: return before * card / beside;
    case SHRINKS: return before * beside / card;
    case SLICES: return card / (number_of(base, "dram.chips") * number_of(base, "l2.slices"));
    case SAME:
    case SECTOR:
    case NOTHING: break;
    }
    return card * keys[row].factor;
}

static struct calibrate_key no_key(const char *reason) { return (struct calibrate_key){.reason = reason}; }

/* Of the base, in GB/s, at most. */
static double dram_peak(const struct machine *base) {
    const double bytes = number_of(base, "dram.chips") * number_of(base, "dram.burst_bytes");
    return bytes / number_of(base, "dram.burst_clocks") * number_of(base, "clock.dram") * 1e-6;
}

struct calibrate_key calibrate_key(struct arena *arena, const struct machine *base, const struct calibrate_values *card,
                                   const struct calibrate_values *beside, enum calibrate_row row) {
    const double measured = card->rows[row].value, there = beside ? beside->rows[row].value : NAN;
    const bool compares = keys[row].kind == DIFFERS || keys[row].kind == GROWS || keys[row].kind == SHRINKS;
    if (isnan(measured))
        return no_key("not measured, or not seen");
    if (keys[row].kind == NOTHING)
        return no_key("several keys decide it together");
    if (compares && isnan(there))
        return no_key(beside ? "not measured on the base" : "needs the same programs on the base (--beside)");
    if (row == CALIBRATE_l2_fetch_bytes && !(measured > card->rows[CALIBRATE_l1_fetch_bytes].value))
        return no_key("the L1 asks for no less at a time");
    if (row == CALIBRATE_bandwidth_dram && there < 0.8 * dram_peak(base))
        return no_key("the base's SMs do not fill its DRAM");
    struct calibrate_key out = {.key = key_of(arena, base, row)};
    out.before = number_of(base, out.key);
    out.after = after_of(base, row, out.before, measured, there);
    /* A sector as large as the line is none. */
    const char *line = keys[row].kind == SECTOR ? arena_printf(arena, "%sline_bytes", keys[row].key) : NULL;
    if (line && strcmp(line, out.key) != 0 && measured >= number_of(base, line))
        out.after = 0;
    /* What differs by less than measurements are good for is the base's. */
    if (compares && fabs(measured / there - 1) < 0.005)
        out.after = out.before;
    out.after = round(out.after < 1 && out.before >= 1 ? 1 : out.after < 0 ? 0 : out.after);
    out.text = arena_printf(arena, "%.0f", out.after);
    return out;
}

/* An L1 of another size has the base's sets, and ways to match, where that goes. */
static const char *ways_line(struct arena *arena, const struct machine *base, const struct calibrate_key *size) {
    const double ways = number_of(base, "l1.ways") * size->after / size->before;
    if (!(size->before > 0) || ways < 1 || ways != floor(ways) || size->after == size->before)
        return "";
    return arena_printf(arena, "l1.ways: {value: %.0f, origin: \"derived: as many sets as the base has\"}\n", ways);
}

char *calibrate_machine(struct arena *arena, const struct machine *base, const struct calibrate_values *card,
                        const struct calibrate_values *beside, size_t *length) {
    const char *text =
        arena_printf(arena,
                     "about: \"%s, measured by heddle calibrate\"\nbase: %s\norigin: measured by heddle calibrate\n",
                     card->gpu, base->file ? base->file : base->name);
    for (unsigned i = 0; i < CALIBRATE_ROWS; i++) {
        const struct calibrate_key key = calibrate_key(arena, base, card, beside, (enum calibrate_row)i);
        if (!key.key)
            continue;
        /* The driver was asked, nothing was measured. */
        const bool asked = i == CALIBRATE_sms || i == CALIBRATE_clock_mhz || i == CALIBRATE_l2_bytes;
        const char *other = beside && !isnan(beside->rows[i].value)
                                ? arena_printf(arena, "; %.6g on the base", beside->rows[i].value)
                                : "";
        text = arena_printf(arena, "%s%s: {value: %s, origin: \"%s: %s %.6g %s, spread %.1f %%%s\"}\n", text, key.key,
                            key.text, asked ? "vendor: by the driver" : "measured", calibrate_row_names[i],
                            card->rows[i].value, card->rows[i].unit, 100 * card->rows[i].spread, other);
        if (i == CALIBRATE_l1_bytes)
            text = arena_printf(arena, "%s%s", text, ways_line(arena, base, &key));
    }
    *length = strlen(text);
    return arena_strdup(arena, text);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/overview.h"

#include <math.h>
#include <string.h>

/* In pixels: columns of id, title, strip, numbers and the two marks; a line for each experiment. */
#define WIDTH 900
#define ID_X 14
#define TITLE_X 50
#define TITLE_LETTERS 40 /* in a line of a title; there are two */
#define STRIP_X 322
#define STRIP_WIDTH 270
#define NUMBERS_X 612
#define TREND_X 784
#define MAGNITUDE_X 844
#define ROW 36
#define GROUP 34
#define TOP 92 /* for the heading */
#define BOTTOM 60
#define REACH 3 /* tolerances to either side; what is further has an arrow at the edge */

static double strip_x(double tolerances) {
    return STRIP_X + STRIP_WIDTH / 2.0 + tolerances * STRIP_WIDTH / 2 / (REACH + 0.3);
}

/* How far ours is from what was published, in tolerances: an exact value that is missed is as far as can be. */
static double distance(const struct experiment_value *value) {
    const double difference = value->ours.mean - value->published, allowed = experiment_allowed(value);
    if (value->absent)
        return -HUGE_VAL;
    if (difference == 0)
        return 0;
    return allowed > 0 ? difference / allowed : difference > 0 ? HUGE_VAL : -HUGE_VAL;
}

static void draw_number(struct plot_text *out, const struct experiment_value *value, double y, bool headline) {
    const double at = distance(value), size = headline ? 5 : 2.6, allowed = experiment_allowed(value);
    const char *style = value->is_within ? "in" : "out";
    if (fabs(at) > REACH) {
        const double x = strip_x(at > 0 ? REACH : -REACH), tip = at > 0 ? size * 1.8 : -size * 1.8;
        plot_add(out, "<path class=\"%s%s\" d=\"M%.1f %.1fV%.1fL%.1f %.1fZ\"/>\n", style, headline ? "" : " small", x,
                 y - size, y + size, x + tip, y);
        return;
    }
    if (headline && value->ours.half > 0 && allowed > 0) {
        const double low = fmax(at - value->ours.half / allowed, -REACH - 0.3);
        const double high = fmin(at + value->ours.half / allowed, REACH + 0.3);
        plot_add(out, "<path class=\"whisker\" d=\"M%.1f %.1fH%.1f\"/>\n", strip_x(low), y, strip_x(high));
    }
    plot_add(out, "<circle class=\"%s%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", style, headline ? "" : " small",
             strip_x(at), y, size);
}

static void draw_strip(struct plot_text *out, const struct experiment *e, double y) {
    const struct experiment_value *headline = experiment_headline(e);
    if (e->magnitude == MARK_NONE) {
        plot_add_text(out, strip_x(0), y + 4, "class=\"faint\" text-anchor=\"middle\"", "no number in print");
        return;
    }
    plot_add(out, "<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n", strip_x(-1),
             y - ROW / 2.0 + 4, strip_x(1) - strip_x(-1), ROW - 8);
    plot_add(out, "<path class=\"axis\" d=\"M%.1f %.1fv%d\"/>\n", strip_x(0), y - ROW / 2.0 + 4, ROW - 8);
    plot_add(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", strip_x(-REACH), y, strip_x(REACH));
    for (unsigned i = 0; i < e->numbers.count; i++)
        if (experiment_is_judged(&e->numbers.items[i]) && &e->numbers.items[i] != headline)
            draw_number(out, &e->numbers.items[i], y, false);
    draw_number(out, headline, y, true);
}

/* A tick on a disc, a cross in a ring, or a dash: not by colour alone. */
static void draw_mark(struct plot_text *out, enum mark mark, bool is_fit, double x, double y) {
    if (mark == MARK_YES)
        plot_add(out,
                 "<circle class=\"in\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/>"
                 "<path class=\"tick\" d=\"M%.1f %.1fl3 3.6l6 -7\"/>\n",
                 x, y, x - 4.5, y);
    else if (mark == MARK_NO)
        plot_add(out,
                 "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/>"
                 "<path class=\"ring\" d=\"M%.1f %.1fl7 7m0 -7l-7 7\"/>\n",
                 x, y, x - 3.5, y - 3.5);
    else
        plot_add_text(out, x, y + 4, "text-anchor=\"middle\"", "–");
    if (is_fit)
        plot_add_text(out, x + 12, y + 4, "class=\"faint\"", "fit");
}

/* Over two lines where it is long, broken at a space. */
static void draw_title(struct plot_text *out, const char *title, double y) {
    size_t cut = strlen(title);
    if (cut > TITLE_LETTERS)
        for (cut = TITLE_LETTERS; cut > TITLE_LETTERS / 2 && title[cut] != ' '; cut--)
            ;
    plot_add_text(out, TITLE_X, title[cut] ? y - 3 : y + 4, "", arena_strndup(out->arena, title, cut));
    if (title[cut])
        plot_add_text(out, TITLE_X, y + 12, "", title + cut + (title[cut] == ' '));
}

static void draw_row(struct plot_text *out, const struct experiment *e, double y) {
    const struct experiment_value *headline = experiment_headline(e);
    plot_add_text(out, ID_X, y + 4, "class=\"title\"", e->id);
    draw_title(out, e->title, y);
    if (e->state == EXPERIMENT_INCOMPLETE) {
        plot_add_text(out, strip_x(0), y + 4, "class=\"faint\" text-anchor=\"middle\"", "incomplete");
        return;
    }
    draw_strip(out, e, y);
    if (headline && e->magnitude != MARK_NONE) {
        plot_add_text(out, NUMBERS_X, y - 3, "class=\"faint\"",
                      experiment_number(out->arena, headline->published, headline->unit));
        plot_add_text(out, NUMBERS_X, y + 12, "", experiment_ours(out->arena, headline));
    }
    draw_mark(out, e->trend, false, TREND_X, y);
    draw_mark(out, e->magnitude, e->is_fit, MAGNITUDE_X, y);
}

/* ---- the whole ---- */

static bool is_shown(const struct experiment *e) { return e->published != NULL; }

/* Whether an experiment before it is of the same document. */
static bool is_repeated(const struct experiment *experiments, unsigned at) {
    for (unsigned i = 0; i < at; i++)
        if (is_shown(&experiments[i]) &&
            strcmp(experiment_document(&experiments[i]), experiment_document(&experiments[at])) == 0)
            return true;
    return false;
}

static void draw_heading(struct plot_text *out) {
    const char *middle = "class=\"faint\" text-anchor=\"middle\"";
    plot_add_text(out, ID_X, 26, "class=\"heading\"", "Published results and Heddle's");
    plot_add_text(out, strip_x(0), TOP - 32, middle, "published");
    plot_add_text(out, strip_x(-2), TOP - 32, middle, "lower");
    plot_add_text(out, strip_x(2), TOP - 32, middle, "higher");
    for (int i = -REACH; i <= REACH; i++)
        plot_add_text(out, strip_x(i), TOP - 14, middle, arena_printf(out->arena, i ? "%+d" : "%d", i));
    plot_add_text(out, NUMBERS_X, TOP - 32, "class=\"faint\"", "headline: published,");
    plot_add_text(out, NUMBERS_X, TOP - 14, "", "and ours");
    plot_add_text(out, TREND_X, TOP - 14, middle, "trend");
    plot_add_text(out, MAGNITUDE_X, TOP - 14, middle, "magnitude");
}

static void draw_legend(struct plot_text *out, double y) {
    static const char *const lines[] = {
        "Distance from the published number in tolerances; the band is what is allowed. Large: the row's headline; "
        "small: its other "
        "numbers in print;",
        "an arrow: further than three tolerances; a bar through the dot: the 95 % interval of several inputs.",
        "Trend: every published order and sign holds. Magnitude: every published number is within its tolerance."};
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        plot_add_text(out, ID_X, y + 16 * i, "class=\"faint\"", lines[i]);
}

/* "Trend 25 of 34 rows, magnitude 11 of 28 with numbers in print; size medium." */
static void draw_counts(struct plot_text *out, const struct experiment *experiments, unsigned count) {
    unsigned trends[MARK_YES + 1] = {0}, magnitudes[MARK_YES + 1] = {0};
    for (unsigned i = 0; i < count; i++) {
        trends[experiments[i].trend]++;
        magnitudes[experiments[i].magnitude]++;
    }
    plot_add_text(out, ID_X, 46, "class=\"faint\"",
                  arena_printf(out->arena, "trend: %u of %u rows; magnitude: %u of %u with", trends[MARK_YES],
                               trends[MARK_YES] + trends[MARK_NO], magnitudes[MARK_YES],
                               magnitudes[MARK_YES] + magnitudes[MARK_NO]));
    plot_add_text(out, ID_X, 62, "class=\"faint\"",
                  arena_printf(out->arena, "numbers in print; at size %s", count ? experiments->size : ""));
}

char *overview_svg(const struct experiment *experiments, unsigned count, struct arena *arena, size_t *length) {
    struct plot_text out = {.arena = arena};
    double height = TOP + BOTTOM, y = TOP;
    for (unsigned i = 0; i < count; i++)
        if (is_shown(&experiments[i]))
            height += is_repeated(experiments, i) ? ROW : ROW + GROUP;
    plot_add_head(&out, "heddle-overview", WIDTH, height);
    plot_add_style(&out, "heddle-overview",
                   ".faint{fill:#666}.band{fill:#0072b2;fill-opacity:.13}.in{fill:#0072b2}.out{fill:#d55e00}"
                   ".small{fill-opacity:.5}.ring{fill:none;stroke:#d55e00;stroke-width:1.8}"
                   ".tick{fill:none;stroke:#fff;stroke-width:2}",
                   ".faint{fill:#a4a7ad}.band{fill:#56b4e9;fill-opacity:.2}.in{fill:#56b4e9}.out{fill:#ff8c42}"
                   ".ring{stroke:#ff8c42}.tick{stroke:#16181c}");
    draw_heading(&out);
    draw_counts(&out, experiments, count);
    for (unsigned first = 0; first < count; first++) {
        if (!is_shown(&experiments[first]) || is_repeated(experiments, first))
            continue;
        const char *document = experiment_document(&experiments[first]);
        plot_add_text(&out, ID_X, y + 22, "class=\"title\"", document);
        plot_add(&out, "<path class=\"axis\" d=\"M%d %.1fH%d\"/>\n", ID_X, y + GROUP - 4.0, WIDTH - ID_X);
        y += GROUP;
        for (unsigned i = first; i < count; i++)
            if (is_shown(&experiments[i]) && strcmp(experiment_document(&experiments[i]), document) == 0) {
                draw_row(&out, &experiments[i], y + ROW / 2.0);
                y += ROW;
            }
    }
    draw_legend(&out, y + 20);
    plot_add(&out, "</svg>\n");
    *length = out.count;
    *ARENA_PUSH(arena, &out) = '\0';
    return out.items;
}

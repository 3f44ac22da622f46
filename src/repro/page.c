/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/page.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "machine/model.h"
#include "repro/overview.h"

struct page {
    bool html;
    struct arena *arena;
    char *items;
    unsigned count, capacity;
};

static void put(struct page *page, const char *text) {
    for (; *text; text++)
        *ARENA_PUSH(page->arena, page) = *text;
}

/* One of two spellings. */
static void put_either(struct page *page, const char *markdown, const char *html) {
    put(page, page->html ? html : markdown);
}

/* Plain text with `code` in it; in a table it has no line breaks and no bars. */
static void put_text(struct page *page, const char *text, size_t length, bool in_table) {
    bool code = false;
    for (size_t i = 0; i < length && text[i]; i++) {
        const char itself[] = {text[i], 0};
        switch (text[i]) {
        case '&': put_either(page, "&", "&amp;"); break;
        case '<': put_either(page, code ? "<" : "&lt;", "&lt;"); break;
        case '|': put_either(page, in_table ? "\\|" : "|", "|"); break;
        case '\n': put(page, in_table ? " " : "\n"); break;
        case '`':
            code = !code;
            put_either(page, "`", code ? "<code>" : "</code>");
            break;
        default: put(page, itself);
        }
    }
    put_either(page, "", code ? "</code>" : "");
}

/* Empty lines separate paragraphs. */
static void put_paragraphs(struct page *page, const char *text) {
    while (*(text += strspn(text, "\n"))) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        const char *next = text + length;
        while (length && text[length - 1] == '\n')
            length--;
        put_either(page, "\n", "<p>");
        put_text(page, text, length, false);
        put_either(page, "\n", "</p>\n");
        text = next;
    }
}

/* What the address of a section ends in, as Markdown's readers make it of a heading. */
static const char *anchor(struct page *page, const char *id) {
    char *out = arena_strdup(page->arena, id);
    for (char *c = out; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return out;
}

/* ---- tables ---- */

/* link: where the first cell leads to, or NULL. */
static void put_row(struct page *page, const char *const *cells, unsigned count, const char *link) {
    put_either(page, "|", "<tr>");
    for (unsigned i = 0; i < count; i++) {
        put_either(page, " ", "<td>");
        if (!i && link)
            put(page, page->html ? arena_printf(page->arena, "<a href=\"#%s\">%s</a>", link, cells[i])
                                 : arena_printf(page->arena, "[%s](#%s)", cells[i], link));
        else
            put_text(page, cells[i], strlen(cells[i]), true);
        put_either(page, " |", "</td>");
    }
    put_either(page, "\n", "</tr>\n");
}

static void begin_table(struct page *page, const char *const *heading, unsigned count) {
    put_either(page, "\n", "<div class=\"wide\"><table>\n");
    put_row(page, heading, count, NULL);
    for (unsigned i = 0; i < count; i++)
        put_either(page, i ? "---|" : "|---|", "");
    put_either(page, "\n", "");
}

static void end_table(struct page *page) { put_either(page, "", "</table></div>\n"); }

/* ---- experiments ---- */

static const char *held(const struct experiment *e, struct arena *arena) {
    unsigned holds = 0;
    for (unsigned i = 0; i < e->check_count; i++)
        holds += e->checks[i].outcome == OUTCOME_YES;
    return e->check_count ? arena_printf(arena, "%u of %u checks hold", holds, e->check_count) : "–";
}

/* By its headline; by its checks where there is none. */
static void put_overview(struct page *page, const struct experiment *e) {
    const bool complete = e->state != EXPERIMENT_INCOMPLETE;
    const struct experiment_value *value = experiment_headline(e);
    const char *state = complete ? "study" : "incomplete";
    const bool judged = e->state == EXPERIMENT_JUDGED;
    const char *cells[] = {e->id,
                           e->title,
                           value && value->is_published ? experiment_number(page->arena, value->published, value->unit)
                                                        : "–",
                           !complete ? "–"
                           : value   ? experiment_ours(page->arena, value)
                                     : held(e, page->arena),
                           complete && value && value->is_published ? experiment_deviation(page->arena, value) : "–",
                           judged ? experiment_trend(e) : state,
                           judged ? experiment_magnitude(e) : ""};
    put_row(page, cells, 7, anchor(page, e->id));
}

static const char *tolerance(struct page *page, const struct experiment_value *value) {
    const char *fit = value->fit ? arena_printf(page->arena, "; a fit: %s", value->fit) : "";
    if (!value->is_published)
        return "";
    if (value->absent)
        return arena_printf(page->arena, "there is none: %s", value->absent);
    if (value->unjudged)
        return arena_printf(page->arena, "not judged: %s", value->unjudged);
    if (value->kind == TOLERANCE_PERCENT)
        return arena_printf(page->arena, "± %g %% of it%s", value->tolerance, fit);
    return strcmp(value->unit, "%") == 0 ? arena_printf(page->arena, "± %g points%s", value->tolerance, fit)
           : value->tolerance > 0        ? arena_printf(page->arena, "± %g%s", value->tolerance, fit)
                                         : arena_printf(page->arena, "exact%s", fit);
}

static void put_values(struct page *page, const struct experiment *e) {
    static const char *const heading[] = {"value", "ours", "published", "deviation", "tolerance", ""};
    if (!e->numbers.count)
        return;
    begin_table(page, heading, 6);
    for (unsigned i = 0; i < e->numbers.count; i++) {
        const struct experiment_value *value = &e->numbers.items[i];
        const char *cells[] = {value->name,
                               experiment_ours(page->arena, value),
                               value->is_published ? experiment_number(page->arena, value->published, value->unit) : "",
                               experiment_deviation(page->arena, value),
                               tolerance(page, value),
                               experiment_within(value)};
        put_row(page, cells, 6, NULL);
    }
    end_table(page);
}

/* Of an order the difference that it was told from. */
static const char *outcome(struct page *page, const struct experiment_check *check) {
    if (!check->is_order)
        return experiment_outcome(check);
    return arena_printf(page->arena, "%s: %.3g ± %.2g", experiment_outcome(check), check->difference.mean,
                        check->difference.half);
}

static void put_checks(struct page *page, const struct experiment *e) {
    static const char *const heading[] = {"check", "holds"};
    if (!e->check_count)
        return;
    begin_table(page, heading, 2);
    for (unsigned i = 0; i < e->check_count; i++)
        put_row(page, (const char *const[]){e->checks[i].name, outcome(page, &e->checks[i])}, 2, NULL);
    end_table(page);
}

/* Where its machines are not those of the document's other experiments. */
static void put_differences(struct page *page, const struct experiment *e) {
    static const char *const heading[] = {"differs from the document's other rows in", "because"};
    if (!e->difference_count)
        return;
    begin_table(page, heading, 2);
    for (unsigned i = 0; i < e->difference_count; i++)
        put_row(page,
                (const char *const[]){arena_printf(page->arena, "`%s`", e->differences[i].key),
                                      e->differences[i].reason},
                2, NULL);
    end_table(page);
}

static void put_readings(struct page *page, const struct experiment *e) {
    if (!e->readings->count)
        return;
    put_paragraphs(page, "Readings of the document that were tried:");
    for (unsigned i = 0; i < e->readings->count; i++) {
        const struct yaml_node *row = e->readings->items[i];
        const char *cells[READING_CELLS_MAX];
        for (unsigned k = 0; k < row->count; k++)
            cells[k] = row->items[k]->text;
        if (i)
            put_row(page, cells, row->count, NULL);
        else
            begin_table(page, cells, row->count);
    }
    end_table(page);
}

static void put_figures(struct page *page, const struct experiment *e) {
    for (unsigned i = 0; i < e->figure_count; i++)
        if (page->html)
            put(page, e->figures[i].svg);
        else
            put(page,
                arena_printf(page->arena, "\n![%s](" PAGE_FIGURES "/%s)\n", e->figures[i].title, e->figures[i].file));
}

static void put_experiment(struct page *page, const struct experiment *e) {
    const char *source = *e->source ? arena_printf(page->arena, " (%s)", e->source) : "";
    put(page, page->html ? arena_printf(page->arena, "<h2 id=\"%s\">%s</h2>\n", anchor(page, e->id), e->id)
                         : arena_printf(page->arena, "\n## %s\n", e->id));
    const char *marks =
        e->state == EXPERIMENT_STUDY ? "a study"
        : e->state == EXPERIMENT_INCOMPLETE
            ? "incomplete"
            : arena_printf(page->arena, "trend %s, magnitude %s", experiment_trend(e), experiment_magnitude(e));
    put_paragraphs(page, arena_printf(page->arena, "%s%s: %s.", e->title, source, marks));
    if (e->published)
        put_paragraphs(page, arena_printf(page->arena, "Published: %s", e->published));
    if (e->state == EXPERIMENT_INCOMPLETE) {
        put_paragraphs(page, e->reason);
        return;
    }
    put_values(page, e);
    put_checks(page, e);
    put_differences(page, e);
    put_figures(page, e);
    put_readings(page, e);
    put_paragraphs(page, e->discussion);
}

/* ---- the whole ---- */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Reproduction</title>\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:58rem;margin:2rem auto;padding:0 "
    "1rem;color:#222;background:#fff}\n"
    "h2{margin-top:3rem;border-bottom:1px solid #ccc}\na{color:#0063a0}\n.wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;margin:1rem 0;font-size:14px}\n"
    "td{border-bottom:1px solid #ddd;padding:.3rem .7rem .3rem 0;vertical-align:top}\n"
    "tr:first-child td{font-weight:600;border-bottom:2px solid #999}\nsvg{max-width:100%;height:auto;display:block}\n"
    "@media (prefers-color-scheme:dark){body{color:#ddd;background:#16181c}h2{border-color:#444}a{color:#6cb6ee}"
    "td{border-color:#333}}\n</style>\n</head>\n<body>\n";

static const char *more(struct page *page, unsigned count, const char *what) {
    return count ? arena_printf(page->arena, "; %s: %u", what, count) : "";
}

static void put_introduction(struct page *page, const struct experiment *experiments, unsigned count,
                             const char *size) {
    unsigned states[EXPERIMENT_INCOMPLETE + 1] = {0}, trends[MARK_YES + 1] = {0}, magnitudes[MARK_YES + 1] = {0};
    unsigned fits = 0;
    for (const struct experiment *e = experiments; e < experiments + count; e++) {
        states[e->state]++;
        trends[e->trend] += e->state == EXPERIMENT_JUDGED;
        magnitudes[e->magnitude] += e->state == EXPERIMENT_JUDGED;
        fits += e->is_fit && e->magnitude == MARK_YES;
    }
    put_either(page, "# Reproduction\n", "<h1>Reproduction</h1>\n");
    put_paragraphs(
        page, arena_printf(
                  page->arena,
                  "Published results beside Heddle's own, at size %s, by model `%s`. Written by `heddle repro`, the "
                  "discussions with it: they stand in the experiments' files in `repro/`. `tools/check repro` fails "
                  "where the model of the tree gives other numbers, but for rows that `" PAGE_FIGURES
                  "/old-rows.txt` names.\n\n"
                  "Two marks for each row. Trend: every published order and sign holds; where close values are "
                  "compared, the 95 %% interval of their difference over several inputs has to leave no doubt, and is "
                  "called noise where it does. Magnitude: every published number is within its tolerance, which is "
                  "that of the experiment's file, and ± 10 points for percentages, ± 20 %% of the number else; – where "
                  "no number is in print. Kernels and inputs are not the authors'.\n\n"
                  "Trend: %u of %u rows. Magnitude: %u of %u rows with numbers in print%s%s%s.",
                  size, model_hash(), trends[MARK_YES], trends[MARK_YES] + trends[MARK_NO], magnitudes[MARK_YES],
                  magnitudes[MARK_YES] + magnitudes[MARK_NO], more(page, fits, "of these fitted to what is in print"),
                  more(page, states[EXPERIMENT_STUDY], "studies of our own"),
                  more(page, states[EXPERIMENT_INCOMPLETE], "incomplete")));
}

/* The picture of all. */
static void put_picture(struct page *page, const struct experiment *experiments, unsigned count) {
    size_t length;
    if (page->html)
        put(page, overview_svg(experiments, count, page->arena, &length));
    else
        put(page, "\n![every published headline beside ours, in tolerances, with both marks](" PAGE_FIGURES
                  "/" PAGE_OVERVIEW ")\n");
}

static struct page make(bool html, const struct experiment *experiments, unsigned count, const char *size,
                        struct arena *arena) {
    static const char *const heading[] = {"id",        "experiment", "published", "measured",
                                          "deviation", "trend",      "magnitude"};
    struct page page = {.html = html, .arena = arena};
    put_either(&page, "", head);
    put_introduction(&page, experiments, count, size);
    put_picture(&page, experiments, count);
    begin_table(&page, heading, 7);
    for (unsigned i = 0; i < count; i++)
        put_overview(&page, &experiments[i]);
    end_table(&page);
    for (unsigned i = 0; i < count; i++)
        put_experiment(&page, &experiments[i]);
    put_either(&page, "", "</body>\n</html>\n");
    return page;
}

enum status page_write_figures(const struct experiment *experiments, unsigned count, const char *folder,
                               struct arena *arena, struct report *report) {
    const char *figures = file_join(arena, folder, PAGE_FIGURES);
    enum status status = STATUS_OK;
    if (!folder_make(arena, figures))
        return report_add(report, STATUS_SYSTEM, "-o: %s: %s", figures, strerror(errno));
    for (const struct experiment *e = experiments; !status && e < experiments + count; e++)
        for (unsigned i = 0; !status && e->state != EXPERIMENT_INCOMPLETE && i < e->figure_count; i++)
            status = file_write(file_join(arena, figures, e->figures[i].file), e->figures[i].svg,
                                e->figures[i].svg_length, report);
    return status;
}

enum status page_write(const struct experiment *experiments, unsigned count, const char *size, const char *folder,
                       struct arena *arena, struct report *report) {
    static const char *const names[] = {"reproduction.md", "reproduction.html"};
    size_t length;
    const char *picture = overview_svg(experiments, count, arena, &length);
    enum status status =
        file_write(file_join(arena, file_join(arena, folder, PAGE_FIGURES), PAGE_OVERVIEW), picture, length, report);
    for (unsigned html = 0; !status && html < 2; html++) {
        const struct page page = make(html, experiments, count, size, arena);
        status = file_write(file_join(arena, folder, names[html]), page.items, page.count, report);
    }
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/page.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "device/compile_process.h"
#include "device/model.h"

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

/* Paragraphs are parted by empty lines. */
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
        holds += e->checks[i].holds;
    return e->check_count ? arena_printf(arena, "%u of %u checks hold", holds, e->check_count) : "–";
}

/* By the first value that was published, of a study by its first; by its checks where there is none. */
static void put_overview(struct page *page, const struct experiment *e) {
    const bool complete = e->verdict != VERDICT_INCOMPLETE;
    const struct experiment_value *value = NULL;
    for (unsigned i = 0; !value && i < e->value_count; i++)
        value = e->values[i].is_published || !e->published ? &e->values[i] : NULL;
    const char *cells[] = {e->id,
                           e->title,
                           value && e->published ? experiment_number(page->arena, value->published, value->unit)
                           : e->published        ? e->published
                                                 : "–",
                           !complete ? "–"
                           : value   ? experiment_number(page->arena, value->ours, value->unit)
                                     : held(e, page->arena),
                           complete && value ? experiment_deviation(page->arena, value) : "–",
                           experiment_verdict(e)};
    put_row(page, cells, 6, anchor(page, e->id));
}

static const char *tolerance(struct page *page, const struct experiment_value *value) {
    if (value->kind == TOLERANCE_NONE)
        return "";
    if (value->kind == TOLERANCE_PERCENT)
        return arena_printf(page->arena, "± %g %% of it", value->tolerance);
    return strcmp(value->unit, "%") == 0 ? arena_printf(page->arena, "± %g points", value->tolerance)
           : value->tolerance > 0        ? arena_printf(page->arena, "± %g", value->tolerance)
                                         : "exact";
}

static void put_values(struct page *page, const struct experiment *e) {
    static const char *const heading[] = {"value", "ours", "published", "deviation", "tolerance", ""};
    if (!e->value_count)
        return;
    begin_table(page, heading, 6);
    for (unsigned i = 0; i < e->value_count; i++) {
        const struct experiment_value *value = &e->values[i];
        const char *cells[] = {value->name,
                               experiment_number(page->arena, value->ours, value->unit),
                               value->is_published ? experiment_number(page->arena, value->published, value->unit) : "",
                               experiment_deviation(page->arena, value),
                               tolerance(page, value),
                               value->kind == TOLERANCE_NONE ? ""
                               : value->is_within            ? "within"
                                                             : "outside"};
        put_row(page, cells, 6, NULL);
    }
    end_table(page);
}

static void put_checks(struct page *page, const struct experiment *e) {
    static const char *const heading[] = {"check", "holds"};
    if (!e->check_count)
        return;
    begin_table(page, heading, 2);
    for (unsigned i = 0; i < e->check_count; i++)
        put_row(page, (const char *const[]){e->checks[i].name, e->checks[i].holds ? "yes" : "no"}, 2, NULL);
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
    put_paragraphs(page, arena_printf(page->arena, "%s%s: %s.", e->title, source, experiment_verdict(e)));
    if (e->published)
        put_paragraphs(page, arena_printf(page->arena, "Published: %s", e->published));
    if (e->verdict == VERDICT_INCOMPLETE) {
        put_paragraphs(page, e->reason);
        return;
    }
    put_values(page, e);
    put_checks(page, e);
    put_figures(page, e);
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
    unsigned counts[VERDICT_INCOMPLETE + 1] = {0};
    for (unsigned i = 0; i < count; i++)
        counts[experiments[i].verdict]++;
    put_either(page, "# Reproduction\n", "<h1>Reproduction</h1>\n");
    put_paragraphs(
        page, arena_printf(page->arena,
                           "Published results beside Heddle's own, at size %s, by model `%s`, which may be older than "
                           "the tree: `tools/check docs` says so. Written by `heddle "
                           "repro`, the discussions with it: they stand in the "
                           "experiments' files in `repro/`.\n\n"
                           "Reproduced: every check holds, and every value with a tolerance is within it. Order only: "
                           "every check holds, some value is outside. Study: nothing was published. Kernels "
                           "and inputs are not the authors'.\n\n"
                           "%u reproduced, %u order only, %u not reproduced%s%s.",
                           size, model_hash(), counts[VERDICT_REPRODUCED], counts[VERDICT_ORDER_ONLY],
                           counts[VERDICT_NOT_REPRODUCED], more(page, counts[VERDICT_STUDY], "studies of our own"),
                           more(page, counts[VERDICT_INCOMPLETE], "incomplete")));
}

static struct page make(bool html, const struct experiment *experiments, unsigned count, const char *size,
                        struct arena *arena) {
    static const char *const heading[] = {"id", "experiment", "published", "measured", "deviation", "verdict"};
    struct page page = {.html = html, .arena = arena};
    put_either(&page, "", head);
    put_introduction(&page, experiments, count, size);
    begin_table(&page, heading, 6);
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
        for (unsigned i = 0; !status && e->verdict != VERDICT_INCOMPLETE && i < e->figure_count; i++)
            status = file_write(file_join(arena, figures, e->figures[i].file), e->figures[i].svg,
                                e->figures[i].svg_length, report);
    return status;
}

enum status page_write(const struct experiment *experiments, unsigned count, const char *size, const char *folder,
                       struct arena *arena, struct report *report) {
    static const char *const names[] = {"reproduction.md", "reproduction.html"};
    enum status status = STATUS_OK;
    for (unsigned html = 0; !status && html < 2; html++) {
        const struct page page = make(html, experiments, count, size, arena);
        status = file_write(file_join(arena, folder, names[html]), page.items, page.count, report);
    }
    return status;
}

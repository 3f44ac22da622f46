/* SPDX-License-Identifier: Apache-2.0 */
/* heddle report: results in one page for a browser (report/), with the analyses of `heddle why` that belong to them. */
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/html.h"
#include "result/compare.h"
#include "result/parts.h"
#include "result/read.h"
#include "study/why.h"
#ifdef HEDDLE_REPORT_PAGE
#include <heddle_report_page.h>
#else
static const unsigned char report_page[1]; /* made with Node.js, which was not there */
#endif

#define PLACE "<!--RESULTS-->"

static const struct option options[] = {
    {"output", 'o', "FILE", "the page, '-' for standard output; default report.html"},
    OPTION_END,
};

struct documents {
    struct arena *arena;
    struct {
        const char *name;
        json_t *json;
    } results[COMPARE_MAX], analyses[COMPARE_MAX];
    unsigned result_count, analysis_count;
};

static enum status add_document(struct documents *documents, const char *path, struct report *report) {
    json_t *json = NULL;
    enum status status = result_load(documents->arena, path, &json, report);
    const bool is_analysis = !status && strcmp(result_schema(json), WHY_SCHEMA) == 0;
    if (!status && !is_analysis)
        status = result_check(path, json, report);
    unsigned *count = is_analysis ? &documents->analysis_count : &documents->result_count;
    if (!status && *count == COMPARE_MAX)
        status = report_add(report, STATUS_INVALID, "%s: a report holds at most %u %s", path, (unsigned)COMPARE_MAX,
                            is_analysis ? "analyses" : "results");
    if (status) {
        json_decref(json);
        return status;
    }
    if (is_analysis)
        documents->analyses[*count].name = path, documents->analyses[*count].json = json;
    else
        documents->results[*count].name = path, documents->results[*count].json = json;
    ++*count;
    return STATUS_OK;
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* An analysis is of the run that has its launch file, its machine and its cycles. */
static bool is_of(const json_t *analysis, const json_t *result) {
    const char *file = text_of(json_object_get(result, "host"), "launch_file");
    return strcmp(text_of(analysis, "machine"), text_of(json_object_get(result, "machine"), "name")) == 0 &&
           json_equal(json_object_get(analysis, "cycles"),
                      json_object_get(json_object_get(result, "total"), "cycles")) &&
           (!*file || strcmp(file_name(file), file_name(text_of(analysis, "launch"))) == 0);
}

static void put_document(FILE *page, const char *kind, const char *attribute, const char *text, const json_t *json) {
    fprintf(page, "<script type=\"application/json\" class=\"%s\" data-%s=\"", kind, attribute);
    html_put_attribute(page, text);
    fputs("\">", page);
    html_put_json(page, json);
    fputs("</script>\n", page);
}

/* Each belongs to a result. */
static enum status check_analyses(const struct documents *documents, struct report *report) {
    for (unsigned k = 0; k < documents->analysis_count; k++) {
        const json_t *analysis = documents->analyses[k].json;
        unsigned i = 0;
        while (i < documents->result_count && !is_of(analysis, documents->results[i].json))
            i++;
        if (i == documents->result_count)
            return report_add(report, STATUS_INVALID,
                              "%s: none of the results is the run that it analyses: %s on %s, %lld cycles",
                              documents->analyses[k].name, text_of(analysis, "launch"), text_of(analysis, "machine"),
                              (long long)json_integer_value(json_object_get(analysis, "cycles")));
    }
    return STATUS_OK;
}

static void put_documents(const struct documents *documents, FILE *page) {
    for (unsigned i = 0; i < documents->result_count; i++) {
        json_t *name = result_text(documents->arena, documents->results[i].name);
        put_document(page, "result", "name", json_string_value(name), documents->results[i].json);
        json_decref(name);
    }
    for (unsigned k = 0; k < documents->analysis_count; k++)
        for (unsigned i = 0; i < documents->result_count; i++)
            if (is_of(documents->analyses[k].json, documents->results[i].json))
                put_document(page, "why", "result", arena_printf(documents->arena, "%u", i),
                             documents->analyses[k].json);
}

static enum status write_page(const struct documents *documents, const char *path, struct report *report) {
    const char *begin = (const char *)report_page, *place = memmem(begin, sizeof report_page, PLACE, strlen(PLACE));
    if (!place)
        return report_add(report, STATUS_SYSTEM,
                          "this program has no report page in it, because Node.js was not there when it was built: "
                          "apt-get install nodejs, then 'cmake --preset release' and build again");
    const char *rest = place + strlen(PLACE);
    struct output page;
    output_begin(&page);
    if (page.to) {
        fwrite(begin, 1, (size_t)(place - begin), page.to);
        put_documents(documents, page.to);
        fwrite(rest, 1, sizeof report_page - (size_t)(rest - begin), page.to);
    }
    return output_end(&page, STATUS_OK, path, "the page", report);
}

static int report_main(struct arguments *arguments) {
    struct report report = {0};
    struct documents documents = {.arena = &arguments->arena};
    const char *given = arguments_value(arguments, "output"), *path = given ? given : "report.html";
    enum status status = check_writable(&arguments->arena, "output", path, &report);
    for (unsigned i = 0; !status && i < arguments->operand_count; i++)
        status = add_document(&documents, arguments->operands[i], &report);
    if (!status && !documents.result_count)
        status = report_add(&report, STATUS_INVALID, "a report needs a result: 'heddle run LAUNCH -o RESULT.json'");
    if (!status)
        status = check_analyses(&documents, &report);
    if (!status)
        status = write_page(&documents, path, &report);
    if (!status && strcmp(path, "-") != 0)
        print(stdout, "%s: %u result%s; open it in a browser\n", path, documents.result_count,
              documents.result_count == 1 ? "" : "s");
    for (unsigned i = 0; i < documents.result_count; i++)
        json_decref(documents.results[i].json);
    for (unsigned i = 0; i < documents.analysis_count; i++)
        json_decref(documents.analyses[i].json);
    return finish(status, &report);
}

const struct command command_report = {
    .name = "report",
    .operands = "RESULT.json [...]",
    .summary = "Make one page for a browser of up to eight results: where the time went, line by line",
    .text = "The page is one file and needs no network. Analyses of 'heddle why LAUNCH -o why.json' may be given along "
            "with the results they belong to; the page then shows what costs most. docs/report.md says how to "
            "read it.",
    .manual =
        "On it are a summary in words, where the cycles went by launch and SM, what happened over time, source "
        "and instructions side by side, the control flow with the branches that diverged, memory, the configuration "
        "with the origin of every value, and the results compared.",
    .examples = "heddle run examples/collatz -o r.json && heddle report r.json -o r.html",
    .options = options,
    .operands_min = 1,
    .operands_max = 2 * COMPARE_MAX,
    .main = report_main,
};

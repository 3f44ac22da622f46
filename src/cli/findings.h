/* SPDX-License-Identifier: Apache-2.0 */
/* What `heddle check` and `heddle exec --check` have in common: kinds, limits, and findings shown and written. */
#ifndef HEDDLE_CLI_FINDINGS_H
#define HEDDLE_CLI_FINDINGS_H

#include <jansson.h>

#include "check/check.h"
#include "check/document.h"
#include "cli/commands.h"

/* Of the options `only` and `limit`, by the names that the command gives them. */
enum status findings_options(struct arguments *arguments, const char *only, const char *limit,
                             struct check_options *out, struct report *report);
/* The options `sarif` and `html`, whose files must be such as can be written, and `suppress`, read. */
#define OPTION_SARIF                                                                                                   \
    { "sarif", 0, "FILE", "write the findings as SARIF 2.1.0, for services that show them beside the lines" }
#define OPTION_HTML                                                                                                    \
    { "html", 0, "FILE", "write a page for a browser: each finding beside the source" }
#define OPTION_SUPPRESS                                                                                                \
    { "suppress", 0, "FILE", "leave out known findings: a file with lines of KIND KERNEL FILE:LINE, each a pattern" }
enum status findings_files(struct arguments *arguments, struct suppressions *known, struct report *report);
/* Where they go; each may be NULL. */
struct findings_order {
    FILE *to;           /* as text */
    const char *output; /* as JSON */
    const char *sarif, *html;
    const char *folder; /* files that are not found from the folder at hand are found from this one */
    const struct suppressions *known;
};
/* STATUS_WRONG: there is an error among them. */
enum status findings_show(struct arguments *arguments, json_t *document, const struct findings_order *order,
                          struct report *report);

#endif

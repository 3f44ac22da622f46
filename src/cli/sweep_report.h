/* SPDX-License-Identifier: Apache-2.0 */
/* heddle sweep report: a study as one page (share/heddle/sweep.html). */
#ifndef HEDDLE_CLI_SWEEP_REPORT_H
#define HEDDLE_CLI_SWEEP_REPORT_H

#include "store/collect.h"

enum status sweep_report(const struct collection *collection, const char *path, struct arena *arena,
                         struct report *report);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Pages for a browser that hold their data: a frame with a place in it. */
#ifndef HEDDLE_CLI_HTML_H
#define HEDDLE_CLI_HTML_H

#include <jansson.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"

/* Data within a script: no '<' is left in them that could end it. */
void html_put_json(FILE *to, const json_t *data);
/* Text in an attribute's double quotes. */
void html_put_attribute(FILE *to, const char *text);
/* All of it: the frame `name` of share/heddle with the data where `place` stands in it. */
enum status html_write(const char *name, const char *place, const json_t *data, const char *path, struct arena *arena,
                       struct report *report);

#endif

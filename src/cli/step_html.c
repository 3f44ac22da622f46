/* SPDX-License-Identifier: Apache-2.0 */
/* heddle step --html: the issues as data in a page that shows them (share/heddle/step.html). */
#include <jansson.h>

#include "base/bits.h"
#include "cli/commands.h"
#include "cli/html.h"
#include "cli/step.h"
#include "result/lines.h"

enum { SOURCE_AROUND = 3 };

static json_t *threads_json(uint32_t lanes, const uint16_t *threads) {
    json_t *out = json_array();
    for (unsigned lane = 0; lane < LANES_MAX; lane++)
        json_array_append_new(out, json_integer(lanes >> lane & 1 ? threads[lane] : -1));
    return out;
}

static json_t *pc_json(uint32_t pc) { return json_integer(pc == NO_PC ? -1 : (json_int_t)pc); }

static json_t *step_json(const struct recorded_step *step) {
    json_t *out = json_object(), *next = json_array(), *rows = json_array(), *others = json_array();
    json_object_set_new(out, "cycle", json_integer((json_int_t)step->cycle));
    json_object_set_new(out, "sm", json_integer(step->sm));
    json_object_set_new(out, "block", json_integer((json_int_t)step->block));
    json_object_set_new(out, "pc", pc_json(step->pc));
    json_object_set_new(out, "threads", threads_json(step->lanes, step->threads));
    for (unsigned lane = 0; lane < LANES_MAX; lane++)
        json_array_append_new(next, step->lanes >> lane & 1 ? pc_json(step->next[lane]) : json_null());
    json_object_set_new(out, "next", next);
    json_object_set_new(out, "diverged", json_boolean(step->diverged));
    for (unsigned i = 0; i < step->row_count; i++)
        json_array_append_new(rows, json_pack("{s:s, s:o, s:o, s:o}", "what", step->rows[i].what, "pc",
                                              pc_json(step->rows[i].pc), "until", pc_json(step->rows[i].until),
                                              "threads", threads_json(step->rows[i].lanes, step->rows[i].threads)));
    json_object_set_new(out, "rows", rows);
    for (unsigned i = 0; i < step->other_count; i++)
        json_array_append_new(others,
                              json_pack("{s:I, s:i, s:o, s:i, s:s}", "block", (json_int_t)step->others[i].block, "warp",
                                        (int)step->others[i].warp, "pc", pc_json(step->others[i].pc), "lanes",
                                        (int)bits_count(step->others[i].lanes), "wait", step_wait(&step->others[i])));
    json_object_set_new(out, "others", others);
    return out;
}

/* Text of a source is not always UTF-8. */
static json_t *text_json(const char *text) {
    json_t *out = json_string(text);
    return out ? out : json_string("");
}

static void add_instruction(struct step_view *view, uint32_t pc, json_t *code, json_t *files) {
    const struct module *module = view->run->module;
    const char *key = arena_printf(view->arena, "%u", (unsigned)pc);
    if (pc >= module->code_count || json_object_get(code, key))
        return;
    unsigned file;
    uint32_t line;
    lines_of(module, pc, &file, &line);
    const char *name = lines_file_name(module, file);
    json_object_set_new(code, key,
                        json_pack("{s:o, s:o, s:i}", "text", text_json(step_instruction(view, pc)), "file",
                                  text_json(name), "line", (int)line));
    json_t *lines = json_object_get(files, name);
    if (!lines)
        json_object_set_new(files, name, lines = json_object());
    for (uint32_t n = line > SOURCE_AROUND ? line - SOURCE_AROUND : 1; n <= line + SOURCE_AROUND; n++)
        json_object_set_new(lines, arena_printf(view->arena, "%u", (unsigned)n),
                            text_json(source_line(&view->sources, file, n)));
}

/* The instructions that were issued, or that threads stand at, by PC, with their lines. */
static void add_code(struct step_view *view, json_t *root) {
    json_t *code = json_object(), *files = json_object();
    for (unsigned i = 0; i < view->steps->count; i++) {
        const struct recorded_step *step = &view->steps->items[i];
        add_instruction(view, step->pc, code, files);
        for (BITS_EACH(lane, step->lanes))
            add_instruction(view, step->next[lane], code, files);
        for (unsigned k = 0; k < step->row_count; k++) {
            add_instruction(view, step->rows[k].pc, code, files);
            add_instruction(view, step->rows[k].until, code, files);
        }
    }
    json_object_set_new(root, "code", code);
    json_object_set_new(root, "files", files);
}

enum status step_html(struct step_view *view, const char *path, struct report *report) {
    json_t *root = json_object(), *steps = json_array();
    json_object_set_new(root, "title", text_json(view->title));
    json_object_set_new(root, "more", json_boolean(view->steps->full));
    for (unsigned i = 0; i < view->steps->count; i++)
        json_array_append_new(steps, step_json(&view->steps->items[i]));
    json_object_set_new(root, "steps", steps);
    add_code(view, root);
    const enum status status = html_write("step.html", "/*STEPS*/", root, path, view->arena, report);
    json_decref(root);
    if (!status)
        print(stdout, "%s: %u issues; open it in a browser\n", path, view->steps->count);
    return status;
}

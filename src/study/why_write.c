/* SPDX-License-Identifier: Apache-2.0 */
/* The document of `heddle why`. */
#include "study/why.h"

#include <string.h>

#include "result/lines.h"
#include "result/timed.h"

static json_t *lines_json(const struct why *why, const struct why_part *part) {
    json_t *list = json_array();
    for (unsigned i = 0; i < part->line_count; i++) {
        const struct why_line *line = &part->lines[i];
        json_t *one = json_object();
        json_object_set_new(one, "file", json_string(lines_file_name(why->base->module, line->file)));
        json_object_set_new(one, "line", json_integer(line->line));
        json_object_set_new(one, "share", json_real(line->share));
        json_object_set_new(one, "waits_for", json_string(line->wait));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *part_json(const struct why *why, const struct why_part *part) {
    json_t *out = json_object();
    json_object_set_new(out, "name", json_string(part->ideal->name));
    json_object_set_new(out, "title", json_string(part->ideal->title));
    json_object_set_new(out, "settings", json_string(part->ideal->settings));
    json_object_set_new(out, "ran", json_boolean(!part->status));
    if (part->status) {
        json_object_set_new(out, "message", json_string(part->message));
        return out;
    }
    json_object_set_new(out, "cycles", result_count(part->cycles));
    json_object_set_new(out, "gain", json_real(part->gain));
    json_object_set_new(out, "own_gain", json_real(part->own));
    json_object_set_new(out, "as_it_is", json_boolean(part->as_it_is));
    json_object_set_new(out, "same_memory", json_boolean(part->same_memory));
    json_object_set_new(out, "act", json_string(part->act));
    json_object_set_new(out, "lines", lines_json(why, part));
    return out;
}

static json_t *grid_json(const struct why_grid *grid) {
    return json_pack("{s:i, s:i, s:i, s:o, s:o, s:f}", "sms", (int)grid->sms, "launches", (int)grid->launches,
                     "too_small", (int)grid->small, "fewest_blocks", result_count(grid->fewest), "most_blocks",
                     result_count(grid->most), "idle", grid->idle);
}

static json_t *units_json(const struct why *why) {
    const struct why_units *units = &why->units;
    return json_pack("{s:s, s:s, s:f, s:b, s:s, s:i, s:s}", "name", units->kind->name, "title", units->kind->title,
                     "taken", units->taken, "limit", (int)why_units_are_the_limit(units), "file",
                     lines_file_name(why->base->module, units->file), "line", (int)units->line, "act",
                     units->kind->act);
}

static json_t *limits_json(const struct why *why) {
    static const unsigned parts[WHY_LIMITS] = {IDEAL_registers, IDEAL_room};
    static const char *const takes[WHY_LIMITS] = {"registers_per_thread", "shared_bytes_per_block"};
    json_t *list = json_array();
    for (unsigned i = 0; i < WHY_LIMITS; i++) {
        const struct why_limit *limit = &why->limits[i];
        if (limit->launches)
            json_array_append_new(list, json_pack("{s:s, s:i, s:s, s:i, s:i, s:i, s:s}", "part", ideals[parts[i]].name,
                                                  "launches", (int)limit->launches, "kernel", limit->kernel, takes[i],
                                                  (int)limit->takes, "warps", (int)limit->warps, "warps_without",
                                                  (int)limit->without, "next", limit->next));
    }
    return list;
}

static json_t *spills_json(const struct why *why) {
    const struct why_spills *spills = &why->spills;
    json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "warp_instructions", result_count(spills->instructions),
                            "spilled", result_count(spills->of_kind[WHY_LOCAL_SPILL]), "unclear",
                            result_count(spills->of_kind[WHY_LOCAL_UNCLEAR]), "of_program",
                            result_count(spills->of_kind[WHY_LOCAL_PROGRAM]), "transactions",
                            result_count(spills->transactions), "spilled_transactions", result_count(spills->spilled));
    if (!spills->kernel)
        return out;
    json_object_set_new(out, "kernel", json_string(spills->kernel));
    json_object_set_new(out, "registers_per_thread", json_integer(spills->registers));
    json_object_set_new(out, "file", json_string(lines_file_name(why->base->module, spills->file)));
    json_object_set_new(out, "line", json_integer(spills->line));
    return out;
}

char *why_write(struct why *why, struct arena *arena, size_t *length) {
    json_t *root = json_object(), *parts = json_array(), *order = json_array();
    json_object_set_new(root, "schema", json_string(WHY_SCHEMA));
    json_object_set_new(root, "heddle", json_string(HEDDLE_VERSION));
    json_object_set_new(root, "launch", json_string(why->base->file->name));
    json_object_set_new(root, "machine", json_string(why->base->machine->name));
    json_object_set_new(root, "cycles", result_count(why->cycles));
    json_object_set_new(root, "issued", json_real(why->issued));
    json_object_set_new(root, "grid", grid_json(&why->grid));
    json_object_set_new(root, "units", units_json(why));
    json_object_set_new(root, "limits", limits_json(why));
    json_object_set_new(root, "spills", spills_json(why));
    for (unsigned i = 0; i < IDEAL_COUNT; i++)
        json_array_append_new(parts, part_json(why, &why->parts[why->order[i]]));
    for (unsigned i = 0; i < why->worth; i++)
        json_array_append_new(order, json_string(why->parts[why->order[i]].ideal->name));
    json_object_set_new(root, "order", order);
    json_object_set_new(root, "parts", parts);
    *length = json_dumpb(root, NULL, 0, JSON_INDENT(2));
    char *text = arena_alloc(arena, *length + 2);
    json_dumpb(root, text, *length, JSON_INDENT(2));
    text[(*length)++] = '\n';
    json_decref(root);
    return text;
}

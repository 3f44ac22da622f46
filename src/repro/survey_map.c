/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/survey_map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "result/plot_axes.h"

/* In pixels. */
#define FIELD_WIDTH 34
#define FIELD_HEIGHT 19
#define MARGIN 16
#define HEADING 56 /* title and legend */
#define PANEL_GAP 26
#define FULL 2.0 /* the ratio from which on a colour is as strong as it gets, and below its inverse */
#define SLANT 60 /* degrees; 0.87 is its sine */

struct map_names {
    const char **items;
    unsigned count, capacity;
};

struct map {
    const struct survey_fields *fields;
    struct map_names panels, rows, columns;
    double left, names, width, height;
    struct plot_text out;
};

static unsigned find(struct arena *arena, struct map_names *names, const char *name) {
    unsigned i = 0;
    while (i < names->count && strcmp(names->items[i], name) != 0)
        i++;
    if (i == names->count)
        *ARENA_PUSH(arena, names) = name;
    return i;
}

static double panel_height(const struct map *map) {
    return PANEL_GAP + map->names + FIELD_HEIGHT * (double)map->rows.count + PANEL_GAP;
}

/* Blue above 1 and orange below, the stronger the further; grey where there is no number: why stands in its title. */
static void draw_field(struct map *map, const struct survey_field *field, double x, double y) {
    struct plot_text *out = &map->out;
    const double away = field->ratio >= 1 ? field->ratio - 1 : field->ratio > 0 ? 1 / field->ratio - 1 : 0;
    const double share = fmin(away / (FULL - 1), 1);
    char label[32];
    if (field->ratio > 0) {
        plot_add(out, "<rect class=\"bar c%u\" fill-opacity=\"%.2f\"", field->ratio < 1 ? 1U : 0U, share);
    } else {
        plot_add(out, "<g><title>");
        plot_add_escaped(out, field->row);
        plot_add(out, ", ");
        plot_add_escaped(out, field->column);
        plot_add(out, ": ");
        plot_add_escaped(out, field->reason && *field->reason ? field->reason : "no result");
        plot_add(out, "</title><rect class=\"none\" fill=\"#999\" fill-opacity=\"0.55\"");
    }
    plot_add(out, " x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>%s\n", x + 0.5, y + 0.5, FIELD_WIDTH - 1,
             FIELD_HEIGHT - 1, field->ratio > 0 ? "" : "</g>");
    snprintf(label, sizeof label, field->ratio < 9.995 ? "%.2f" : "%.1f", field->ratio);
    if (field->ratio > 0)
        plot_add_text(out, x + FIELD_WIDTH / 2.0, y + FIELD_HEIGHT - 5.0,
                      share > 0.55 ? "class=\"on\" text-anchor=\"middle\"" : "text-anchor=\"middle\"", label);
}

static void draw_panel(struct map *map, unsigned panel, double top) {
    struct plot_text *out = &map->out;
    const double fields = top + PANEL_GAP + map->names;
    plot_add_text(out, MARGIN, top + 14, "class=\"title\"", map->panels.items[panel]);
    for (unsigned c = 0; c < map->columns.count; c++)
        names_draw(out, map->columns.items[c], map->left + FIELD_WIDTH * (c + 0.5), fields - 6, SLANT, "start");
    for (unsigned r = 0; r < map->rows.count; r++)
        plot_add_text(out, map->left - 8, fields + FIELD_HEIGHT * (r + 1) - 5.0, "text-anchor=\"end\"",
                      map->rows.items[r]);
    for (unsigned i = 0; i < map->fields->count; i++) {
        const struct survey_field *field = &map->fields->items[i];
        if (strcmp(field->panel, map->panels.items[panel]) == 0)
            draw_field(map, field, map->left + FIELD_WIDTH * (double)find(out->arena, &map->columns, field->column),
                       fields + FIELD_HEIGHT * (double)find(out->arena, &map->rows, field->row));
    }
}

static void draw_legend(struct map *map, double y) {
    static const struct {
        const char *style, *name;
    } entries[] = {{"class=\"bar c0\"", "faster"},
                   {"class=\"bar c1\"", "slower"},
                   {"fill=\"#999\" fill-opacity=\"0.55\"", "refused, failed or not run; the field's title says why"}};
    double x = MARGIN;
    for (unsigned i = 0; i < 3; i++) {
        plot_add(&map->out, "<rect %s x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>\n", entries[i].style, x,
                 y - 10);
        plot_add_text(&map->out, x + 17, y, "", entries[i].name);
        x += 34 + LETTER * (double)strlen(entries[i].name);
    }
}

char *survey_map_svg(const struct survey_fields *fields, const char *title, struct arena *arena, size_t *length) {
    struct map map = {.fields = fields, .out = {.arena = arena}};
    for (unsigned i = 0; i < fields->count; i++) {
        find(arena, &map.panels, fields->items[i].panel);
        find(arena, &map.rows, fields->items[i].row);
        find(arena, &map.columns, fields->items[i].column);
        if (map.panels.count > SURVEY_MAP_PANELS_MAX || map.rows.count > SURVEY_MAP_ROWS_MAX ||
            map.columns.count > SURVEY_MAP_COLUMNS_MAX)
            return NULL;
    }
    const double slanted = LETTER * (double)names_longest(map.columns.items, map.columns.count);
    map.left = MARGIN + LETTER * (double)names_longest(map.rows.items, map.rows.count) + 8;
    map.names = slanted * 0.87 + 10;
    map.width = map.left + FIELD_WIDTH * (double)map.columns.count + slanted / 2 + MARGIN;
    map.height = HEADING + panel_height(&map) * map.panels.count;
    plot_add_head(&map.out, "heddle-survey", (unsigned)map.width, map.height);
    plot_add_text(&map.out, MARGIN, 24, "class=\"heading\"", title);
    draw_legend(&map, 46);
    for (unsigned p = 0; p < map.panels.count; p++)
        draw_panel(&map, p, HEADING + panel_height(&map) * p);
    plot_add(&map.out, "</svg>\n");
    *length = map.out.count;
    *ARENA_PUSH(arena, &map.out) = '\0';
    return map.out.items;
}

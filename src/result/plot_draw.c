/* SPDX-License-Identifier: Apache-2.0 */
#include "result/plot_draw.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void plot_add(struct plot_text *out, const char *format, ...) {
    va_list list;
    char piece[512];
    va_start(list, format);
    const int length = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    for (int i = 0; i < length && (size_t)i < sizeof piece - 1; i++)
        *ARENA_PUSH(out->arena, out) = piece[i];
}

void plot_add_escaped(struct plot_text *out, const char *text) {
    while (*text) {
        const unsigned bytes = text_plain_bytes(text);
        const char *begin = text;
        text += bytes ? bytes : 1;
        switch (bytes ? *begin : 0) {
        case 0: plot_add(out, "\uFFFD"); break; /* XML has no place for it */
        case '<': plot_add(out, "&lt;"); break;
        case '&': plot_add(out, "&amp;"); break;
        case '"': plot_add(out, "&quot;"); break;
        default:
            for (; begin < text; begin++)
                *ARENA_PUSH(out->arena, out) = *begin;
        }
    }
}

void plot_add_text(struct plot_text *out, double x, double y, const char *attributes, const char *text) {
    plot_add(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    plot_add_escaped(out, text);
    plot_add(out, "</text>\n");
}

static void add_rules(struct plot_text *out, const char *kind, const char *rules) {
    for (const char *end; (end = strchr(rules, '}')); rules = end + 1)
        plot_add(out, ".%s %.*s\n", kind, (int)(end + 1 - rules), rules);
}

void plot_add_style(struct plot_text *out, const char *kind, const char *light, const char *dark) {
    plot_add(out, "<style>\n");
    add_rules(out, kind, light);
    plot_add(out, "@media (prefers-color-scheme:dark){\n");
    add_rules(out, kind, dark);
    plot_add(out, "}\n</style>\n");
}

static const char *with_colours(struct arena *arena, const char *rules, const char *const colours[PLOT_COLOURS]) {
    for (unsigned s = 0; s < PLOT_COLOURS; s++)
        rules = arena_printf(arena, "%s.line.c%u{stroke:%s}.outline.c%u{stroke:%s}.bar.c%u{fill:%s}", rules, s,
                             colours[s], s, colours[s], s, colours[s]);
    return rules;
}

void plot_add_head(struct plot_text *out, const char *kind, unsigned width, double height) {
    /* Okabe and Ito's colours, which all eyes can tell apart; lighter ones where the ground is dark */
    static const char *const light[PLOT_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#b5478f", "#b07d00", "#3a96c9",
                                                    "#444444", "#8a6d3b", "#5b2a86", "#7a9a01", "#e07b91", "#6b8e9f"};
    static const char *const dark[PLOT_COLOURS] = {"#56b4e9", "#ff8c42", "#2fd0a0", "#e38cc3", "#f0c24b", "#9ad4f5",
                                                   "#d0d0d0", "#c9a66b", "#a98be0", "#b8d24a", "#ffb3c1", "#a9c4d0"};
    static const char rules[] = "text{font:12px system-ui,sans-serif;fill:#333}"
                                ".heading{font-size:15px;font-weight:600}.title{font-weight:600}"
                                ".unit{font-weight:400}.ground{fill:#fff}.grid{stroke:#e4e4e4;fill:none}"
                                ".axis{stroke:#888;fill:none}.line{fill:none;stroke-width:1.8;stroke-linejoin:round}"
                                ".dashed{stroke-dasharray:5 4}.outline{fill:none;stroke:#888;stroke-width:1.2}"
                                ".on{fill:#fff}.whisker{stroke:#222;stroke-width:1.2;fill:none}";
    static const char dark_rules[] = "text{fill:#ddd}.ground{fill:#16181c}.grid{stroke:#32353b}.axis{stroke:#8a8d93}"
                                     ".on{fill:#16181c}.whisker{stroke:#eee}";
    plot_add(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"%s\" style=\"color-scheme:light dark\" viewBox=\"0 0 "
             "%u %.0f\" width=\"%u\" height=\"%.0f\">\n",
             kind, width, height, width, height);
    plot_add_style(out, kind, with_colours(out->arena, rules, light), with_colours(out->arena, dark_rules, dark));
    plot_add(out, "<rect class=\"ground\" width=\"%u\" height=\"%.0f\"/>\n", width, height);
}

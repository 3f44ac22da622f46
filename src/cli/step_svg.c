/* SPDX-License-Identifier: Apache-2.0 */
/* heddle step --svg: the issues as a picture, lanes across, one below another. */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "cli/commands.h"
#include "cli/step.h"
#include "result/lines.h"
#include "result/plot_draw.h"

/* In pixels of the drawing. */
enum { LANE = 6, ROW = 13, LEFT = 48, MARGIN = 12, MARKS = 26, TOP = 58, LETTER = 6, WARP_NAME = 58, BOTTOM = 56 };
enum { INSTRUCTION_MAX = 40, WARPS_NAMED = PLOT_COLOURS };

struct picture {
    struct step_view *view;
    struct plot_text out;
    unsigned warp_size;
    unsigned pc_width, text_width, line_width, block_width; /* characters of each column; block: 0 where there is one */
    bool one_file;
    bool *met; /* by step: threads issue together that issued apart before */
    unsigned diverged_count, met_count;
    unsigned warps;  /* that issue, a bit each */
    bool more_warps; /* those that share a colour with one of the first */
};

/* Where a lane begins, and how far down so many rows reach. */
static double across(unsigned lane) { return (double)LEFT + (double)LANE * lane; }
static double down(double rows) { return (double)TOP + (double)ROW * rows; }

static unsigned digits(uint64_t value) {
    unsigned count = 1;
    for (; value >= 10; value /= 10)
        count++;
    return count;
}

static void grow(unsigned *width, size_t by) { *width = by > *width ? (unsigned)by : *width; }

static const char *line_text(const struct picture *picture, uint32_t pc) {
    unsigned file;
    uint32_t line;
    lines_of(picture->view->run->module, pc, &file, &line);
    return picture->one_file ? arena_printf(picture->view->arena, "%u", (unsigned)line) : step_where(picture->view, pc);
}

static const char *short_instruction(const struct picture *picture, uint32_t pc) {
    const char *text = step_instruction(picture->view, pc);
    return strlen(text) <= INSTRUCTION_MAX ? text
                                           : arena_printf(picture->view->arena, "%.*s..", INSTRUCTION_MAX - 2, text);
}

static void add_warps(struct picture *picture, const struct recorded_step *step) {
    for (BITS_EACH(lane, step->lanes)) {
        const unsigned warp = step_warp(step, lane);
        if (warp >= WARPS_NAMED)
            picture->more_warps = true;
        else
            picture->warps |= 1u << warp;
    }
}

/* The lanes of a step whose threads issued in another one. */
static uint32_t lanes_in(const struct recorded_step *step, const struct recorded_step *other) {
    uint32_t found = 0;
    if (other->block != step->block)
        return 0;
    for (BITS_EACH(lane, step->lanes))
        for (BITS_EACH(place, other->lanes))
            if (other->threads[place] == step->threads[lane])
                found |= 1u << lane;
    return found;
}

/* Threads issue together that issued apart before: not all were in the last issue that had any of them. */
static bool meets(const struct steps *steps, unsigned at) {
    uint32_t found = 0;
    for (unsigned i = at; !found && i-- > 0;)
        found = lanes_in(&steps->items[at], &steps->items[i]);
    return found && found != steps->items[at].lanes;
}

static void measure(struct picture *picture) {
    const struct steps *steps = picture->view->steps;
    const struct module *module = picture->view->run->module;
    unsigned first_file = 0, file;
    uint32_t line;
    picture->warp_size = steps->items[0].warp_size;
    picture->one_file = true;
    lines_of(module, steps->items[0].pc, &first_file, &line);
    for (unsigned i = 0; i < steps->count; i++) {
        lines_of(module, steps->items[i].pc, &file, &line);
        picture->one_file &= file == first_file;
        if (steps->items[i].block != steps->items[0].block)
            grow(&picture->block_width, 5); /* "block" */
        add_warps(picture, &steps->items[i]);
    }
    picture->pc_width = 2, picture->text_width = 11, picture->line_width = 4;
    picture->met = ARENA_ARRAY(picture->view->arena, bool, steps->count);
    for (unsigned i = 0; i < steps->count; i++) {
        const struct recorded_step *step = &steps->items[i];
        if (picture->block_width)
            grow(&picture->block_width, digits(step->block));
        grow(&picture->pc_width, digits(step->pc));
        grow(&picture->text_width, strlen(short_instruction(picture, step->pc)));
        grow(&picture->line_width, strlen(line_text(picture, step->pc)));
        picture->met[i] = meets(steps, i);
        picture->met_count += picture->met[i], picture->diverged_count += step->diverged;
    }
}

/* Runs of neighbouring lanes of one colour, as one line of dashes: a lane is 1 wide. */
static void draw_lanes(struct picture *picture, const struct recorded_step *step, unsigned row) {
    uint32_t rest = step->lanes;
    while (rest) {
        const unsigned colour = step_warp(step, bits_first(rest)) % PLOT_COLOURS;
        unsigned end = 0;
        plot_add(&picture->out, "<path class=\"line cells c%u\" d=\"M0 %u.5", colour, row);
        for (unsigned lane = 0; lane < LANES_MAX; lane++) {
            if (!(rest >> lane & 1) || step_warp(step, lane) % PLOT_COLOURS != colour)
                continue;
            unsigned last = lane;
            while (last + 1 < LANES_MAX && rest >> (last + 1) & 1 && step_warp(step, last + 1) % PLOT_COLOURS == colour)
                last++;
            if (lane > end)
                plot_add(&picture->out, "m%u 0", lane - end);
            plot_add(&picture->out, "h%u", last + 1 - lane);
            for (end = last + 1; lane < last; lane++)
                rest &= ~(1u << lane);
            rest &= ~(1u << last);
        }
        plot_add(&picture->out, "\"/>\n");
    }
}

static void draw_cells(struct picture *picture) {
    const struct steps *steps = picture->view->steps;
    struct plot_text *out = &picture->out;
    plot_add(out, "<g transform=\"translate(%d %d) scale(%d %d)\">\n<path class=\"off cells\" d=\"M0 .5", LEFT, TOP,
             LANE, ROW);
    for (unsigned i = 0; i < steps->count; i++)
        plot_add(out, "%sh%u", i ? arena_printf(out->arena, "m-%u 1", picture->warp_size) : "", picture->warp_size);
    plot_add(out, "\"/>\n");
    for (unsigned i = 0; i < steps->count; i++)
        draw_lanes(picture, &steps->items[i], i);
    /* between lanes: thin, between quarters of a warp: wider */
    for (unsigned quarter = 0; quarter < 2; quarter++) {
        plot_add(out, "<path class=\"gap%s\" d=\"", quarter ? " quarter" : "");
        for (unsigned lane = 1; lane < picture->warp_size; lane++)
            if ((lane % 8 == 0) == quarter)
                plot_add(out, "M%u 0v%u", lane, steps->count);
        plot_add(out, "\"/>\n");
    }
    plot_add(out, "</g>\n");
}

/* A fork that opens or closes downwards, as time goes. */
static void draw_marks(struct picture *picture, const struct recorded_step *step, unsigned at) {
    const double x = across(picture->warp_size), y = down(at + 0.5);
    if (picture->met[at])
        plot_add(&picture->out, "<path class=\"mark\" d=\"M%.0f %.1fl3 4v5m3-9l-3 4\"/>\n", x + 4, y - 4.5);
    if (step->diverged)
        plot_add(&picture->out, "<path class=\"mark\" d=\"M%.0f %.1fv5l-3 4m3-4l3 4\"/>\n", x + 16, y - 4.5);
}

static void draw_words(struct picture *picture) {
    const struct steps *steps = picture->view->steps;
    struct plot_text *out = &picture->out;
    struct arena *arena = out->arena;
    const double x = across(picture->warp_size) + (double)MARKS;
    const char *block = picture->block_width ? arena_printf(arena, "%*s ", (int)picture->block_width, "block") : "";
    plot_add_text(out, LEFT - 8, TOP - 5, "class=\"dim\" text-anchor=\"end\"", "cycle");
    for (unsigned lane = 0; lane < picture->warp_size; lane += 8)
        plot_add_text(out, across(lane), TOP - 5, "class=\"dim\"", arena_printf(arena, "%u", lane));
    plot_add_text(out, x, TOP - 5, "class=\"dim\"",
                  arena_printf(arena, "%s%*s %-*s %*s", block, (int)picture->pc_width, "PC", (int)picture->text_width,
                               "instruction", (int)picture->line_width, "line"));
    for (unsigned i = 0; i < steps->count; i++) {
        const struct recorded_step *step = &steps->items[i];
        const double y = down(i + 1.0) - 3;
        if (i && step->cycle == steps->items[i - 1].cycle && step->sm == steps->items[i - 1].sm)
            plot_add(out, "<path class=\"axis\" d=\"M%d %.1fv%d\"/>\n", LEFT - 4, y - (double)ROW - 6, ROW + 5);
        else
            plot_add_text(out, LEFT - 8, y, "text-anchor=\"end\"",
                          arena_printf(arena, "%llu", (unsigned long long)step->cycle));
        block = picture->block_width
                    ? arena_printf(arena, "%*llu ", (int)picture->block_width, (unsigned long long)step->block)
                    : "";
        plot_add_text(out, x, y, "",
                      arena_printf(arena, "%s%*u %-*s %*s", block, (int)picture->pc_width, (unsigned)step->pc,
                                   (int)picture->text_width, short_instruction(picture, step->pc),
                                   (int)picture->line_width, line_text(picture, step->pc)));
        draw_marks(picture, step, i);
    }
}

/* What colours and marks mean: warps first, as many as a line has room for. */
static void draw_legend(struct picture *picture, unsigned width) {
    struct plot_text *out = &picture->out;
    const double top = down(picture->view->steps->count) + 20;
    const unsigned room = (width - MARGIN) / WARP_NAME;
    const bool named = !picture->more_warps && bits_count(picture->warps) <= room;
    double x = MARGIN;
    for (unsigned warp = 0; named && warp < WARPS_NAMED; warp++) {
        if (!(picture->warps >> warp & 1))
            continue;
        plot_add(out, "<rect class=\"bar c%u\" x=\"%.0f\" y=\"%.1f\" width=\"9\" height=\"9\"/>\n", warp, x, top - 8);
        plot_add_text(out, x + 13, top, "", arena_printf(out->arena, "warp %u", warp));
        x += (double)WARP_NAME;
    }
    if (!named)
        plot_add_text(out, MARGIN, top, "",
                      arena_printf(out->arena, "a colour for each warp, again after %d", PLOT_COLOURS));
    plot_add(out, "<path class=\"mark\" d=\"M%d %.1fv5l-3 4m3-4l3 4\"/>\n", MARGIN + 3, top + 11);
    plot_add_text(out, MARGIN + 13, top + 19, "", "lanes diverge");
    plot_add(out, "<path class=\"mark\" d=\"M%d %.1fl3 4v5m3-9l-3 4\"/>\n", MARGIN + 108, top + 11);
    plot_add_text(out, MARGIN + 121, top + 19, "", "threads issue together that issued apart before");
}

/* The picture in words, for those who do not see it. */
static void describe(struct picture *picture) {
    const struct steps *steps = picture->view->steps;
    struct plot_text *out = &picture->out;
    plot_add(out, "<title>");
    plot_add_escaped(out, picture->view->title);
    plot_add(out,
             "</title>\n<desc>%u issues, one below another, from cycle %llu to %llu; their active lanes in the colours "
             "of warps. Lanes diverge in %u of them; in %u threads issue together that issued apart before.</desc>\n",
             steps->count, (unsigned long long)steps->items[0].cycle,
             (unsigned long long)steps->items[steps->count - 1].cycle, picture->diverged_count, picture->met_count);
}

enum status step_svg(struct step_view *view, const char *path, struct report *report) {
    struct picture picture = {.view = view, .out = {.arena = view->arena}};
    struct plot_text *out = &picture.out;
    measure(&picture);
    const unsigned letters = (picture.block_width ? picture.block_width + 1 : 0) + picture.pc_width + 1 +
                             picture.text_width + 1 + picture.line_width;
    unsigned width = LEFT + LANE * picture.warp_size + MARKS + LETTER * letters + MARGIN;
    grow(&width, 2 * MARGIN + 8 * strlen(view->title));
    plot_add_head(out, "heddle-steps", width, down(view->steps->count) + (double)BOTTOM);
    plot_add_style(out, "heddle-steps",
                   "text{font:10px ui-monospace,monospace;white-space:pre}.heading{font:600 13px system-ui,sans-serif}"
                   ".dim{opacity:.7}.cells{stroke-width:.8}.off{stroke:#ececec;fill:none}"
                   ".gap{stroke:#fff;stroke-width:.15}.quarter{stroke-width:.3}"
                   ".mark{stroke:#333;stroke-width:1.3;fill:none}",
                   ".off{stroke:#282b31}.gap{stroke:#16181c}.mark{stroke:#ddd}");
    describe(&picture);
    plot_add_text(out, MARGIN, 22, "class=\"heading\"", view->title);
    draw_cells(&picture);
    draw_words(&picture);
    draw_legend(&picture, width);
    plot_add(out, "</svg>\n");
    const enum status status = write_output(path, out->items, out->count, "the picture", report);
    if (!status && strcmp(path, "-") != 0)
        print(stdout, "%s: %u issues\n", path, view->steps->count);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* heddle step on a terminal: one issue at a time, by keys. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/step.h"
#include "result/lines.h"

enum { SOURCE_AROUND = 3, ROWS_SHOWN = 8, OTHERS_SHOWN = 8, KEY_RIGHT = 1000, KEY_LEFT, KEY_END };

struct screen {
    struct step_view *view;
    unsigned at, height, width;
    const char *note;
};

/* A line, cut where the terminal ends. */
static void line(struct screen *screen, const char *text) {
    unsigned width = 0;
    char *shown = arena_strdup(screen->view->arena, text);
    for (char *at = shown; *at; at++) {
        const bool begins = ((unsigned char)*at & 0xc0) != 0x80; /* a character of UTF-8 */
        if (*at == '\t' || *at == '\n')
            *at = ' ';
        if (begins && width++ == screen->width) {
            *at = '\0';
            break;
        }
    }
    print_text(stdout, shown);
    fputs("\033[K\r\n", stdout);
}

static void show_source(struct screen *screen, const struct recorded_step *step) {
    struct step_view *view = screen->view;
    unsigned file;
    uint32_t number;
    lines_of(view->run->module, step->pc, &file, &number);
    for (uint32_t n = number > SOURCE_AROUND ? number - SOURCE_AROUND : 1; n <= number + SOURCE_AROUND; n++)
        line(screen, arena_printf(view->arena, "%s %5u  %s", n == number ? ">" : " ", (unsigned)n,
                                  source_line(&view->sources, file, n)));
}

static void show_others(struct screen *screen, const struct recorded_step *step) {
    struct step_view *view = screen->view;
    for (unsigned i = 0; i < step->other_count && i < OTHERS_SHOWN; i++)
        line(screen, arena_printf(view->arena, "  %s", step_other(view, step, &step->others[i])));
    if (step->other_count > OTHERS_SHOWN)
        line(screen, arena_printf(view->arena, "  and %u more", step->other_count - OTHERS_SHOWN));
}

static void draw(struct screen *screen) {
    struct step_view *view = screen->view;
    const struct recorded_step *step = &view->steps->items[screen->at];
    const char *outcome = step_outcome(view, step);
    fputs("\033[H", stdout);
    line(screen, view->title);
    line(screen, arena_printf(view->arena, "issue %u of %u%s   cycle %s   SM %u   block %llu   warp %u", screen->at + 1,
                              view->steps->count, view->steps->full ? " (more follow)" : "",
                              with_commas(view->arena, step->cycle), (unsigned)step->sm,
                              (unsigned long long)step->block, step_warp(step, bits_first(step->lanes))));
    line(screen, "");
    line(screen, arena_printf(view->arena, "PC %-5u %s   %s", (unsigned)step->pc, step_where(view, step->pc),
                              step_instruction(view, step->pc)));
    line(screen, arena_printf(view->arena, "lanes    %s   %u of %u", step_lanes(view, step->lanes, step->threads),
                              bits_count(step->lanes), (unsigned)step->warp_size));
    line(screen, arena_printf(view->arena, "then     %s%s", *outcome ? outcome : "all go on with the next instruction",
                              step->diverged ? ": they diverge" : ""));
    line(screen, "");
    show_source(screen, step);
    line(screen, "");
    for (unsigned i = 0; i < step->row_count && i < ROWS_SHOWN; i++)
        line(screen,
             arena_printf(view->arena, "         %s   %s", step_lanes(view, step->rows[i].lanes, step->rows[i].threads),
                          step_row(view, &step->rows[i])));
    if (step->row_count > ROWS_SHOWN)
        line(screen, arena_printf(view->arena, "         and %u more", step->row_count - ROWS_SHOWN));
    if (step->other_count)
        line(screen, "others:");
    show_others(screen, step);
    fputs("\033[J", stdout);
    printf("\033[%u;1H\033[7m%s\033[0m\033[K", screen->height,
           screen->note ? screen->note : "\u2192 next  \u2190 back  d next divergence  w warp  p PC  c cycle  q quit");
    fflush(stdout);
}

static int read_key(void) {
    unsigned char c;
    if (read(STDIN_FILENO, &c, 1) != 1)
        return KEY_END;
    unsigned char more[2];
    if (c != 27)
        return c;
    if (read(STDIN_FILENO, &more[0], 1) != 1 || more[0] != '[' || read(STDIN_FILENO, &more[1], 1) != 1)
        return 0;
    return more[1] == 'C' || more[1] == 'B' ? KEY_RIGHT : more[1] == 'D' || more[1] == 'A' ? KEY_LEFT : 0;
}

/* A number typed at the foot of the screen; false: none. */
static bool ask(struct screen *screen, const char *what, uint64_t *out) {
    char text[24] = "";
    unsigned length = 0;
    for (;;) {
        printf("\033[%u;1H\033[7m%s: %s\033[0m\033[K", screen->height, what, text);
        fflush(stdout);
        const int key = read_key();
        if (key == '\r' || key == '\n')
            return text_to_u64(text, out);
        if ((key == 127 || key == 8) && length)
            text[--length] = '\0';
        else if (key >= '0' && key <= '9' && length + 1 < sizeof text)
            text[length++] = (char)key, text[length] = '\0';
        else if (key == KEY_END || key == 0)
            return false;
    }
}

enum seek { SEEK_DIVERGENCE, SEEK_WARP, SEEK_PC, SEEK_CYCLE };

static bool is_there(const struct recorded_step *step, enum seek seek, uint64_t wanted) {
    switch (seek) {
    case SEEK_DIVERGENCE: return step->diverged;
    case SEEK_PC: return step->pc == wanted;
    case SEEK_CYCLE: return step->cycle >= wanted;
    case SEEK_WARP: break;
    }
    for (BITS_EACH(lane, step->lanes))
        if (step_warp(step, lane) == wanted)
            return true;
    return false;
}

static void go(struct screen *screen, enum seek seek, uint64_t wanted) {
    const struct steps *steps = screen->view->steps;
    for (unsigned i = seek == SEEK_CYCLE ? 0 : screen->at + 1; i < steps->count; i++)
        if (is_there(&steps->items[i], seek, wanted)) {
            screen->at = i;
            return;
        }
    screen->note = "no such issue from here on; any key goes on";
}

static void act(struct screen *screen, int key) {
    uint64_t wanted = 0;
    screen->note = NULL;
    if ((key == KEY_RIGHT || key == 'n' || key == ' ' || key == '\r') && screen->at + 1 < screen->view->steps->count)
        screen->at++;
    else if ((key == KEY_LEFT || key == 'b') && screen->at)
        screen->at--;
    else if (key == 'd')
        go(screen, SEEK_DIVERGENCE, 0);
    else if (key == 'w' && ask(screen, "warp", &wanted))
        go(screen, SEEK_WARP, wanted);
    else if (key == 'p' && ask(screen, "PC", &wanted))
        go(screen, SEEK_PC, wanted);
    else if (key == 'c' && ask(screen, "cycle", &wanted))
        go(screen, SEEK_CYCLE, wanted);
}

static void measure(struct screen *screen) {
    struct winsize size = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    screen->width = size.ws_col ? size.ws_col : 80;
    screen->height = size.ws_row ? size.ws_row : 24;
}

void step_screen(struct step_view *view) {
    struct termios before, raw;
    struct screen screen = {.view = view};
    struct arena *kept = view->arena, scratch = {0};
    if (tcgetattr(STDIN_FILENO, &before))
        return;
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG); /* Ctrl-C is a key: the terminal must be given back */
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    fputs("\033[?1049h\033[?25l\033[2J", stdout);
    view->arena = &scratch; /* texts of one screen */
    for (int key = 0; key != 'q' && key != 3 && key != 4 && key != KEY_END; act(&screen, key)) {
        measure(&screen);
        draw(&screen);
        arena_free(&scratch);
        key = read_key();
    }
    view->arena = kept;
    arena_free(&scratch);
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

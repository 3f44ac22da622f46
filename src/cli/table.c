/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"
#include "cli/commands.h"
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 110, ELASTIC_MIN = 24, ELASTIC_MAX = 72 };

void table_add(struct table *table, const char *text) { *ARENA_PUSH(table->arena, table) = text; }

/* fallback: what is not a terminal has. */
static unsigned terminal_width(FILE *to, unsigned fallback) {
    struct winsize size;
    if (isatty(fileno(to)) && ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col;
    return fallback;
}

/* The first `width` characters, the last replaced when something is left out. */
static const char *cut(struct arena *arena, const char *text, unsigned width) {
    if (text_width(text) <= width)
        return text;
    unsigned seen = 0;
    const char *end = text;
    for (; *end; end++) {
        seen += ((unsigned char)*end & 0xc0) != 0x80;
        if (seen == width)
            break;
    }
    return arena_printf(arena, "%.*s…", (int)(end - text), text);
}

static void print_cell(FILE *to, const char *text, unsigned width, bool left, bool last) {
    unsigned used = text_width(text), blanks = used < width ? width - used : 0;
    if (left)
        print(to, "  %s%*s", text, last ? 0 : (int)blanks, "");
    else
        print(to, "  %*s%s", (int)blanks, "", text);
}

/* Columns that are shown. */
static unsigned choose_columns(const struct table *table, const unsigned widths[], unsigned terminal) {
    unsigned shown = (1u << table->columns) - 1, all = 0;
    for (unsigned column = 0; column < table->columns; column++) {
        const bool cut = (int)column == table->elastic && widths[column] > ELASTIC_MIN;
        all += (cut ? ELASTIC_MIN : widths[column]) + 2;
    }
    for (unsigned column = table->columns; column-- > 0 && all > terminal;)
        if (table->optional >> column & 1) {
            shown &= ~(1u << column);
            all -= widths[column] + 2;
        }
    return shown;
}

void table_print(const struct table *table, FILE *to) {
    unsigned widths[TABLE_COLUMNS_MAX] = {0}, all = 0, last = 0;
    for (unsigned i = 0; i < table->count; i++) {
        unsigned width = text_width(table->items[i]), column = i % table->columns;
        widths[column] = width > widths[column] ? width : widths[column];
    }
    const unsigned terminal = terminal_width(to, WIDTH_DEFAULT);
    const unsigned shown = choose_columns(table, widths, terminal_width(to, UINT_MAX));
    for (unsigned column = 0; column < table->columns; column++)
        if (shown >> column & 1) {
            all += widths[column] + 2;
            last = column;
        }
    if (table->elastic >= 0) {
        unsigned *elastic = &widths[table->elastic], others = all - *elastic;
        unsigned room = terminal > others + ELASTIC_MIN ? terminal - others : ELASTIC_MIN;
        room = room < ELASTIC_MAX ? room : ELASTIC_MAX;
        *elastic = *elastic < room ? *elastic : room;
    }
    for (unsigned i = 0; i < table->count; i++) {
        unsigned column = i % table->columns;
        if (!(shown >> column & 1))
            continue;
        const char *text =
            (int)column == table->elastic ? cut(table->arena, table->items[i], widths[column]) : table->items[i];
        print_cell(to, text, widths[column], table->left >> column & 1, column == last);
        if (column == last)
            fputc('\n', to);
    }
}

void text_wrap(const char *text, unsigned indent, FILE *to) {
    const unsigned width = terminal_width(to, WIDTH_DEFAULT);
    unsigned column = indent;
    for (bool begun = false;; text++) {
        const unsigned blanks = begun ? 0 : (unsigned)strspn(text, " ");
        const unsigned length = blanks + (unsigned)strcspn(text + blanks, " \n");
        if (begun && column + 1 + length > width) {
            print(to, "\n%*s", (int)indent, "");
            column = indent;
        } else if (begun) {
            fputc(' ', to);
            column++;
        }
        print(to, "%.*s", (int)length, text);
        column += length;
        text += length;
        begun = *text != '\n';
        if (!*text)
            break;
        if (!begun) {
            print(to, "\n%*s", (int)indent, "");
            column = indent;
        }
    }
    fputc('\n', to);
}

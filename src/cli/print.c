/* SPDX-License-Identifier: Apache-2.0 */
/* How the program prints, and how it ends: no control character of a stranger reaches the terminal. */
#include <stdarg.h>
#include <stdio.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"

void print_text(FILE *to, const char *text) {
    while (*text) {
        const char *begin = text;
        for (unsigned bytes; *text && (bytes = text_plain_bytes(text)) != 0;)
            text += bytes;
        fwrite(begin, 1, (size_t)(text - begin), to);
        if (*text)
            fprintf(to, "\\x%02x", (unsigned char)*text++);
    }
}

void print(FILE *to, const char *format, ...) {
    struct output all;
    va_list arguments;
    output_begin(&all);
    va_start(arguments, format);
    if (all.to)
        vfprintf(all.to, format, arguments);
    va_end(arguments);
    if (output_close(&all))
        print_text(to, all.text);
    output_free(&all);
}

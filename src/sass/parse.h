/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the text parser share: a cursor on one line of the listing. */
#ifndef HEDDLE_SASS_PARSE_H
#define HEDDLE_SASS_PARSE_H

#include "sass/native.h"
#include "sass/turing.h"

struct native_parser {
    struct native_program *program;
    struct report *report;
    const char *at, *line_start;
    uint32_t line;
    bool failed; /* something was refused; the rest is read for more */
};

/* Places of addresses as they are read: names of variables are looked up when all are known. */
struct parse_links {
    struct parse_link {
        struct native_link link;
        const char *name;
        uint32_t line;
    } * items;
    unsigned count, capacity;
};
struct parse_variables {
    struct native_variable *items;
    unsigned count, capacity;
    struct {
        uint8_t *items;
        unsigned count, capacity;
    } init; /* of the last */
    struct parse_links links;
    struct parse_links *all; /* by variable */
    unsigned all_capacity;
};

/* .variable, .init, .pointer before the functions; false: the line is none of these. */
bool parse_variable_line(struct native_parser *parser, struct parse_variables *variables);
/* .address behind its word. */
void parse_address_line(struct native_parser *parser, struct parse_links *links);
/* The variables are complete. */
void parse_end_variables(struct native_parser *parser, struct parse_variables *variables);
/* Links in the banks of a kernel; refused where the bank does not have the place. */
void parse_end_links(struct native_parser *parser, struct parse_links *links, struct native_kernel *kernel);

/* Code of sm_75 to sm_90 as it is read, and what stands before it. */
struct parse_words {
    struct {
        struct turing_word *items;
        unsigned count, capacity;
    } code;
    struct {
        uint32_t *items;
        unsigned count, capacity;
    } lines;
    struct {
        struct native_place *items;
        unsigned count, capacity;
    } places;
    struct {
        struct native_label *items;
        unsigned count, capacity;
    } labels;
    struct {
        const char **items;
        unsigned count, capacity;
    } files;
    struct {
        struct native_constant *items;
        unsigned count, capacity;
    } constants;
    struct native_place place; /* of what follows */
};
/* .file, .symbol before the functions; .registers and the like behind one: false: the line is none of these. */
bool parse_turing_head(struct native_parser *parser, struct parse_words *words);
bool parse_turing_directive(struct native_parser *parser, struct parse_words *words, struct native_kernel *kernel);
/* An instruction, or the name of a function that begins. */
void parse_turing_line(struct native_parser *parser, struct parse_words *words);
/* The function is complete; all that stands before them is. */
void parse_end_words(struct native_parser *parser, struct parse_words *words, struct native_kernel *kernel,
                     bool has_params);
void parse_end_head(struct native_parser *parser, const struct parse_words *words);

/* native_parse into a program that is empty but may have its arena. */
enum status parse_program(const char *name, const char *text, struct native_program *out, struct report *report);

/* Adds "file:line:column: error: ..." for the place of the cursor. */
enum status parse_refuse(struct native_parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));

void parse_blanks(struct native_parser *parser);
/* The character behind blanks, if it is next. */
bool parse_character(struct native_parser *parser, char character);
/* A word that ends where no letter, digit or underscore follows. */
bool parse_word(struct native_parser *parser, const char *word);
/* [-]0x12 or [-]12; false: no number is next, or it has more than 63 bits. */
bool parse_number(struct native_parser *parser, int64_t *out);
bool parse_digits(struct native_parser *parser, unsigned *out);

/* A line with an instruction; last: the one before it, NULL: it is the first of its kernel. */
void parse_inst(struct native_parser *parser, const struct native_inst *last, struct native_inst *inst);
/* The operands of `inst` behind its mnemonic, by its row's shape; false: refused. */
bool parse_operands(struct native_parser *parser, struct native_inst *inst);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of our own in listings for what a file of native code holds beside it: variables and places of their addresses.
 *   .variable BYTES NAME          .init WORD ...          .pointer OFFSET BYTES NAME ADDED          before all functions
 *   .address BANK OFFSET BYTES NAME ADDED          behind the function whose bank it is; BANK code, low, high: in its code */
#include "sass/parse.h"

#include <string.h>

#include "base/bits.h"

enum { VARIABLE_BYTES_MAX = INT32_MAX };

static const char *parse_name(struct native_parser *parser) {
    parse_blanks(parser);
    const size_t length = strcspn(parser->at, " \t\r\n");
    if (!length) {
        parse_refuse(parser, "expected the name of a variable");
        return NULL;
    }
    const char *name = arena_strndup(&parser->program->arena, parser->at, length);
    parser->at += length;
    return name;
}

/* OFFSET BYTES NAME ADDED, behind the place before it. */
static void parse_link(struct native_parser *parser, struct parse_links *links, uint32_t bank) {
    int64_t offset, bytes, addend;
    if (!parse_number(parser, &offset) || offset < 0 || offset > VARIABLE_BYTES_MAX || offset % 4 ||
        !parse_number(parser, &bytes) || (bytes != 4 && bytes != 8)) {
        parse_refuse(parser, "expected an offset that 4 divides, and 4 or 8 bytes");
        return;
    }
    const char *name = parse_name(parser);
    if (!name)
        return;
    if (!parse_number(parser, &addend) || (bytes == 4 && (addend < INT32_MIN || addend > INT32_MAX))) {
        parse_refuse(parser, "expected a number that is added to the address");
        return;
    }
    const struct native_link *last = links->count ? &links->items[links->count - 1].link : NULL;
    if (last && (bank < last->bank || (bank == last->bank && (uint32_t)offset < last->offset + last->bytes))) {
        parse_refuse(parser, "places of addresses stand in the order of banks and offsets, each once");
        return;
    }
    *ARENA_PUSH(&parser->program->arena, links) = (struct parse_link){
        .link = {.bank = bank, .offset = (uint32_t)offset, .bytes = (uint32_t)bytes, .addend = addend},
        .name = name,
        .line = parser->line};
}

void parse_address_line(struct native_parser *parser, struct parse_links *links) {
    int64_t bank = parse_word(parser, "code")   ? NATIVE_CODE
                   : parse_word(parser, "low")  ? NATIVE_CODE_LOW
                   : parse_word(parser, "high") ? NATIVE_CODE_HIGH
                                                : 0;
    if (!bank && (!parse_number(parser, &bank) || bank < 0 || bank > 31))
        parse_refuse(parser, ".address: expected a bank from 0 to 31, or code, low or high");
    else
        parse_link(parser, links, (uint32_t)bank);
}

static void end_variable(struct native_parser *parser, struct parse_variables *variables) {
    if (!variables->count)
        return;
    struct native_variable *variable = &variables->items[variables->count - 1];
    while (variables->init.count && !variables->init.items[variables->init.count - 1])
        variables->init.count--;
    variable->init = variables->init.items, variable->init_bytes = variables->init.count;
    if (variable->init_bytes > variable->byte_count)
        parse_refuse(parser, "'%s' has more bytes of values than the %llu of its own", variable->name,
                     (unsigned long long)variable->byte_count);
    variables->all[variables->count - 1] = variables->links;
    memset(&variables->init, 0, sizeof variables->init);
    variables->links = (struct parse_links){0};
}

/* .reference NAME: a texture or a surface, whose handle the variable holds. */
static void parse_variable(struct native_parser *parser, struct parse_variables *variables, bool is_reference) {
    int64_t bytes = NATIVE_REFERENCE_BYTES;
    end_variable(parser, variables);
    if (is_reference && parser->program->isa != NATIVE_TURING) {
        parse_refuse(parser, ".reference: only code of sm_75 to sm_90 has them");
        return;
    }
    if (!is_reference && (!parse_number(parser, &bytes) || bytes < 0 || bytes > VARIABLE_BYTES_MAX)) {
        parse_refuse(parser, ".variable: expected a number of bytes up to %d", VARIABLE_BYTES_MAX);
        return;
    }
    const char *name = parse_name(parser);
    if (!name)
        return;
    struct native_variable *variable = ARENA_PUSH(&parser->program->arena, variables);
    *variable = (struct native_variable){.name = name, .is_reference = is_reference, .byte_count = (uint64_t)bytes};
    variables->all = arena_grow(&parser->program->arena, variables->all, variables->count - 1, &variables->all_capacity,
                                sizeof *variables->all);
}

static void parse_init(struct native_parser *parser, struct parse_variables *variables) {
    int64_t word;
    for (parse_blanks(parser); *parser->at && *parser->at != '\n'; parse_blanks(parser)) {
        if (!parse_number(parser, &word) || word < INT32_MIN || word > UINT32_MAX) {
            parse_refuse(parser, ".init: expected words of 32 bits");
            return;
        }
        for (unsigned i = 0; i < 4; i++)
            *ARENA_PUSH(&parser->program->arena, &variables->init) = (uint8_t)((uint64_t)word >> (8 * i));
    }
}

bool parse_variable_line(struct native_parser *parser, struct parse_variables *variables) {
    const bool is_reference = parse_word(parser, "reference");
    if (is_reference || parse_word(parser, "variable")) {
        parse_variable(parser, variables, is_reference);
        return true;
    }
    const bool init = parse_word(parser, "init");
    if (!init && !parse_word(parser, "pointer"))
        return false;
    if (!variables->count)
        parse_refuse(parser, "this must follow a line '.variable'");
    else if (init)
        parse_init(parser, variables);
    else
        parse_link(parser, &variables->links, 0);
    return true;
}

/* Names to numbers. */
static struct native_link *look_up(struct native_parser *parser, const struct parse_links *links) {
    const struct native_program *program = parser->program;
    struct native_link *out = ARENA_ARRAY(&parser->program->arena, struct native_link, links->count);
    for (unsigned i = 0; i < links->count; i++) {
        unsigned variable = 0;
        while (variable < program->variable_count &&
               strcmp(program->variables[variable].name, links->items[i].name) != 0)
            variable++;
        if (variable == program->variable_count && program->isa == NATIVE_TURING) {
            out[i] = links->items[i].link; /* of a function, or in shared memory */
            out[i].variable = NATIVE_NO_VARIABLE;
            out[i].symbol = links->items[i].name;
            continue;
        }
        if (variable == program->variable_count) {
            parser->line = links->items[i].line;
            parser->at = parser->line_start;
            parse_refuse(parser, "there is no variable '%s'", links->items[i].name);
            return out;
        }
        out[i] = links->items[i].link;
        out[i].variable = variable;
    }
    return out;
}

void parse_end_variables(struct native_parser *parser, struct parse_variables *variables) {
    enum { NAMES_MAX = 4096 };
    struct native_program *program = parser->program;
    end_variable(parser, variables);
    program->variables = variables->items, program->variable_count = variables->count;
    if (program->variable_count > NAMES_MAX)
        parse_refuse(parser, "more than %d variables", NAMES_MAX);
    for (unsigned i = 0; i < program->variable_count && !parser->failed; i++) {
        struct native_variable *variable = &program->variables[i];
        for (unsigned k = 0; k < i; k++)
            if (strcmp(program->variables[k].name, variable->name) == 0)
                parse_refuse(parser, "there are two variables '%s'", variable->name);
        variable->links = look_up(parser, &variables->all[i]);
        variable->link_count = variables->all[i].count;
        for (unsigned k = 0; k < variable->link_count; k++) {
            const struct native_link *link = &variable->links[k];
            if (!range_within(link->offset, link->bytes, variable->byte_count))
                parse_refuse(parser, "an address at 0x%x ends behind '%s'", (unsigned)link->offset, variable->name);
            for (uint32_t at = link->offset; at < link->offset + link->bytes && at < variable->init_bytes; at++)
                if (variable->init[at])
                    parse_refuse(parser, "'%s' has a value where an address stands", variable->name);
        }
    }
}

/* In an instruction with a number, which is 0, and has no other link. */
static void check_code_link(struct native_parser *parser, const struct native_kernel *kernel, unsigned which) {
    const struct native_link *link = &kernel->links[which];
    if (parser->program->isa == NATIVE_TURING) {
        if (!native_takes_address(parser->program, kernel, link))
            parse_refuse(parser, "'%s' has no instruction at 0x%x that takes such an address", kernel->name,
                         (unsigned)link->offset);
        return;
    }
    const struct native_operand *number = native_number_at(parser->program->isa, kernel, link->offset);
    bool fits = link->bytes == 4 && number && number->value == 0;
    for (unsigned i = which; i-- > 0 && kernel->links[i].bank >= NATIVE_CODE;)
        fits &= kernel->links[i].offset != link->offset;
    if (!fits)
        parse_refuse(parser, "'%s' has no MOV32I or IADD32I with a number of 0 for an address of 4 bytes at 0x%x",
                     kernel->name, (unsigned)link->offset);
}

/* A handle in bank 0, of which a listing has nothing. */
static bool is_handle(const struct native_program *program, const struct native_link *link) {
    return program->isa == NATIVE_TURING && link->bank == 0 && link->bytes == 4 &&
           link->variable != NATIVE_NO_VARIABLE && program->variables[link->variable].is_reference;
}

void parse_end_links(struct native_parser *parser, struct parse_links *links, struct native_kernel *kernel) {
    kernel->links = look_up(parser, links), kernel->link_count = links->count;
    for (unsigned i = 0; i < kernel->link_count && !parser->failed; i++) {
        const struct native_link *link = &kernel->links[i];
        const struct native_bank *bank = NULL;
        if (link->bank >= NATIVE_CODE) {
            check_code_link(parser, kernel, i);
            continue;
        }
        for (unsigned k = 0; k < kernel->bank_count; k++)
            if (kernel->banks[k].number == link->bank)
                bank = &kernel->banks[k];
        uint64_t value = 0;
        if (is_handle(parser->program, link))
            continue;
        if (bank && range_within(link->offset, link->bytes, bank->byte_count))
            memcpy(&value, bank->bytes + link->offset, link->bytes);
        else
            value = 1;
        if (value)
            parse_refuse(parser, "'%s' has no c[0x%x][0x%x] of %u bytes of 0 for an address", kernel->name,
                         (unsigned)link->bank, (unsigned)link->offset, (unsigned)link->bytes);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What clang adds for its own use: everything that host code names. Kernels of other parts are among it, as functions. */
static const char used_by_host[] = "__clang_gpu_used_external";

static bool begins_name(char c) { return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%'; }
static bool is_in_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* A piece of the text: a name or a word with a dot, something to pass over, or one character. */
struct piece {
    const char *text;
    size_t length;
    enum { PIECE_END, PIECE_NAME, PIECE_WORD, PIECE_PASSED, PIECE_LETTER } kind;
};

static struct piece next_piece(const char *at) {
    struct piece piece = {at, 1, PIECE_LETTER};
    if (!*at) {
        piece.kind = PIECE_END, piece.length = 0;
    } else if (*at == '"') {
        const char *end = strchr(at + 1, '"');
        piece.kind = PIECE_PASSED, piece.length = end ? (size_t)(end - at) + 1 : strlen(at);
    } else if (at[0] == '/' && at[1] == '/') {
        piece.kind = PIECE_PASSED, piece.length = strcspn(at, "\n");
    } else if (isdigit((unsigned char)*at)) {
        piece.kind = PIECE_PASSED;
        while (is_in_name(at[piece.length]))
            piece.length++;
    } else if (begins_name(*at) || *at == '.') {
        piece.kind = *at == '.' ? PIECE_WORD : PIECE_NAME;
        while (is_in_name(at[piece.length]))
            piece.length++;
    } else if (isspace((unsigned char)*at)) {
        piece.kind = PIECE_PASSED;
    }
    return piece;
}

static bool is_piece(const struct piece *piece, const char *text) {
    return strlen(text) == piece->length && strncmp(piece->text, text, piece->length) == 0;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(((const struct part_symbol *)a)->name, ((const struct part_symbol *)b)->name);
}

static struct part_symbol *find_symbol(const struct part_symbols *symbols, const struct piece *piece) {
    char name[1024];
    if (!symbols->count || piece->kind != PIECE_NAME || piece->length >= sizeof name)
        return NULL;
    memcpy(name, piece->text, piece->length);
    name[piece->length] = 0;
    const struct part_symbol key = {.name = name};
    return bsearch(&key, symbols->items, symbols->count, sizeof key, compare_names);
}

/* ---- what is declared ---- */

/* One declaration outside of functions, as far as it has been read. */
struct part_declaration {
    enum part_linkage linkage;
    bool is_function, is_kernel, is_variable, is_named;
    unsigned round; /* depth of ( ) */
};

static void read_word(struct part_declaration *d, const struct piece *piece) {
    if (is_piece(piece, ".visible"))
        d->linkage = PART_VISIBLE;
    else if (is_piece(piece, ".weak") || is_piece(piece, ".common"))
        d->linkage = PART_WEAK;
    else if (is_piece(piece, ".extern"))
        d->linkage = PART_EXTERN;
    else if (is_piece(piece, ".func"))
        d->is_function = true;
    else if (is_piece(piece, ".entry"))
        d->is_function = d->is_kernel = true;
    else if (is_piece(piece, ".global") || is_piece(piece, ".const") || is_piece(piece, ".shared"))
        d->is_variable |= d->round == 0;
}

static void add_symbol(struct arena *arena, struct part_symbols *symbols, const struct part_declaration *d,
                       const struct piece *piece) {
    for (unsigned i = 0; i < symbols->count; i++) { /* a declaration, and then what it declares */
        struct part_symbol *old = &symbols->items[i];
        if (is_piece(piece, old->name)) {
            old->linkage = old->linkage == PART_EXTERN ? d->linkage : old->linkage;
            old->is_kernel |= d->is_kernel;
            return;
        }
    }
    *ARENA_PUSH(arena, symbols) = (struct part_symbol){.name = arena_strndup(arena, piece->text, piece->length),
                                                       .linkage = d->linkage,
                                                       .is_kernel = d->is_kernel};
}

struct part_symbols parts_symbols(struct arena *arena, const char *ptx) {
    struct part_symbols symbols = {0};
    struct part_declaration d = {0};
    unsigned depth = 0; /* of { } */
    for (struct piece piece = next_piece(ptx); piece.kind != PIECE_END; piece = next_piece(piece.text + piece.length)) {
        const char letter = piece.kind == PIECE_LETTER ? *piece.text : 0;
        depth += letter == '{';
        if (letter == '}' && depth && --depth == 0 && d.is_function)
            d = (struct part_declaration){0};
        if (depth)
            continue;
        d.round += letter == '(';
        d.round -= letter == ')' && d.round;
        if (letter == ';')
            d = (struct part_declaration){0};
        if (piece.kind == PIECE_WORD)
            read_word(&d, &piece);
        if (piece.kind == PIECE_NAME && d.round == 0 && !d.is_named && (d.is_function || d.is_variable)) {
            d.is_named = true;
            add_symbol(arena, &symbols, &d, &piece);
        }
    }
    if (symbols.count)
        qsort(symbols.items, symbols.count, sizeof *symbols.items, compare_names);
    for (struct piece piece = next_piece(ptx); piece.kind != PIECE_END; piece = next_piece(piece.text + piece.length)) {
        struct part_symbol *symbol = find_symbol(&symbols, &piece);
        if (piece.kind == PIECE_NAME && is_piece(&piece, used_by_host))
            piece.length = strcspn(piece.text, ";");
        else if (symbol)
            symbol->uses++;
    }
    return symbols;
}

/* ---- names ---- */

/* A declaration of which nothing more than its name is used: where it ends, or NULL. */
static const char *passed_over(const struct part_symbols *symbols, const char *line) {
    const char *end = strchr(line, ';');
    if (!end)
        return NULL;
    for (struct piece piece = next_piece(line); piece.text < end; piece = next_piece(piece.text + piece.length)) {
        if (piece.kind == PIECE_NAME && is_piece(&piece, used_by_host))
            return end + 1;
        const struct part_symbol *symbol = find_symbol(symbols, &piece);
        if (symbol)
            return symbol->linkage == PART_EXTERN && symbol->uses == 1 ? end + 1 : NULL;
    }
    return NULL;
}

char *parts_own_names(struct arena *arena, const char *ptx, const struct part_symbols *symbols, const char *tag) {
    const size_t more = strlen(tag) + 1;
    size_t room = strlen(ptx) + 1;
    for (unsigned i = 0; i < symbols->count; i++)
        room += symbols->items[i].uses * more;
    char *out = arena_alloc(arena, room), *to = out;
    unsigned depth = 0;
    for (struct piece piece = next_piece(ptx); piece.kind != PIECE_END; piece = next_piece(piece.text + piece.length)) {
        depth += piece.kind == PIECE_LETTER && *piece.text == '{';
        depth -= piece.kind == PIECE_LETTER && *piece.text == '}' && depth;
        const bool begins_line = piece.text == ptx || piece.text[-1] == '\n';
        const char *behind = depth == 0 && begins_line && *piece.text == '.' ? passed_over(symbols, piece.text) : NULL;
        if (behind) {
            piece.length = (size_t)(behind - piece.text);
            continue;
        }
        memcpy(to, piece.text, piece.length);
        to += piece.length;
        const struct part_symbol *symbol = find_symbol(symbols, &piece);
        if (symbol && symbol->linkage == PART_LOCAL) {
            *to++ = '$';
            memcpy(to, tag, more - 1);
            to += more - 1;
        }
    }
    *to = 0;
    return out;
}

/* ---- for the host's linker ---- */

/* What the device has of its own. */
static bool is_provided(const char *name) {
    return strcmp(name, "vprintf") == 0 || strcmp(name, "__assertfail") == 0 || strcmp(name, "malloc") == 0 ||
           strcmp(name, "free") == 0 || strcmp(name, "__cuda_syscall_aligned_malloc") == 0;
}

char *parts_source(struct arena *arena, const struct part_symbols *symbols, const char *reg) {
    char *out = arena_printf(
        arena,
        "void __cudaHeddleRegisterPart(void *, void *, void *, void *);\n"
        "__attribute__((visibility(\"hidden\"))) void %s(void *globals, void *wrapper, void *id, void *call)\n"
        "{\n    __cudaHeddleRegisterPart(globals, wrapper, id, call);\n}\n",
        reg);
    for (unsigned i = 0; i < symbols->count; i++) {
        const struct part_symbol *symbol = &symbols->items[i];
        if (symbol->is_kernel || symbol->linkage == PART_LOCAL || is_provided(symbol->name) ||
            (symbol->linkage == PART_EXTERN && symbol->uses == 1))
            continue;
        out =
            symbol->linkage == PART_EXTERN
                ? arena_printf(
                      arena,
                      "%sextern const char p%u[] __asm__(\"device code %s\") __attribute__((visibility(\"hidden\")));\n"
                      "__attribute__((used)) static const char *const u%u = p%u;\n",
                      out, i, symbol->name, i, i)
                : arena_printf(arena,
                               "%sextern const char p%u[1] __asm__(\"device code %s\")%s;\nconst char p%u[1] = {0};\n",
                               out, i, symbol->name,
                               symbol->linkage == PART_WEAK ? " __attribute__((weak, visibility(\"hidden\")))"
                                                            : " __attribute__((visibility(\"hidden\")))",
                               i);
    }
    return out;
}

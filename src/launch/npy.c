/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/npy.h"
#include <stdio.h>
#include <string.h>

static const char magic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

struct npy_reader {
    const char *at, *end;
};

static void skip_blanks(struct npy_reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t'))
        r->at++;
}

static bool take(struct npy_reader *r, const char *word) {
    skip_blanks(r);
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool take_quoted(struct npy_reader *r, char *out, size_t size) {
    if (!take(r, "'"))
        return false;
    size_t length = 0;
    for (; r->at < r->end && *r->at != '\''; r->at++) {
        if (length + 1 >= size)
            return false;
        out[length++] = *r->at;
    }
    out[length] = 0;
    return take(r, "'");
}

static bool take_number(struct npy_reader *r, uint64_t *out) {
    skip_blanks(r);
    const char *start = r->at;
    *out = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*out, UINT64_C(10), out) ||
            __builtin_add_overflow(*out, (uint64_t)(*r->at - '0'), out))
            return false;
    return r->at > start;
}

static bool take_shape(struct npy_reader *r, struct npy *out) {
    out->count = 1;
    if (!take(r, "("))
        return false;
    while (!take(r, ")")) {
        uint64_t size;
        if (out->dimensions == NPY_DIMENSIONS_MAX || !take_number(r, &size) ||
            __builtin_mul_overflow(out->count, size, &out->count))
            return false;
        out->shape[out->dimensions++] = size;
        if (!take(r, ",")) {
            if (!take(r, ")"))
                return false;
            break;
        }
    }
    return true;
}

/* The header is a Python dict with exactly these three keys. */
static bool take_header(struct npy_reader *r, struct npy *out, bool *fortran) {
    bool have_descr = false, have_order = false, have_shape = false;
    if (!take(r, "{"))
        return false;
    while (!take(r, "}")) {
        char key[16];
        if (!take_quoted(r, key, sizeof key) || !take(r, ":"))
            return false;
        bool good = false;
        if (strcmp(key, "descr") == 0 && !have_descr)
            good = have_descr = take_quoted(r, out->descr, sizeof out->descr);
        else if (strcmp(key, "fortran_order") == 0 && !have_order) {
            *fortran = take(r, "True");
            good = have_order = *fortran || take(r, "False");
        } else if (strcmp(key, "shape") == 0 && !have_shape)
            good = have_shape = take_shape(r, out);
        if (!good)
            return false;
        if (!take(r, ",")) {
            if (!take(r, "}"))
                return false;
            break;
        }
    }
    return have_descr && have_order && have_shape;
}

bool npy_is(const void *bytes, size_t length) {
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

enum status npy_parse(const char *name, const void *bytes, size_t length, struct npy *out, struct report *report) {
    const unsigned char *data = bytes;
    *out = (struct npy){0};
    if (!npy_is(bytes, length) || length < 10)
        return report_add(report, STATUS_INVALID, "%s: not a .npy file: it does not start as NumPy writes them", name);
    unsigned version = data[6];
    size_t start = version == 1 ? 10 : 12;
    if (version < 1 || version > 3 || length < start)
        return report_add(report, STATUS_INVALID, "%s: .npy version %u is not known; save it again with numpy.save",
                          name, version);
    size_t header = data[8] | (size_t)data[9] << 8;
    if (version > 1)
        header |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (header > length - start)
        return report_add(report, STATUS_INVALID, "%s: cut off inside its header", name);
    struct npy_reader r = {(const char *)data + start, (const char *)data + start + header};
    bool fortran = false;
    if (!take_header(&r, out, &fortran))
        return report_add(report, STATUS_INVALID,
                          "%s: its header is not that of an array of plain numbers; save one with numpy.save", name);
    if (fortran && out->dimensions > 1)
        return report_add(report, STATUS_INVALID,
                          "%s: stored in Fortran order; save numpy.ascontiguousarray of it instead", name);
    out->data = data + start + header;
    out->data_bytes = length - start - header;
    return STATUS_OK;
}

const char *npy_descr(enum element element) {
    static const char *const descr[] = {"|i1", "|u1", "<i2", "<u2", "<f2", "<u2",
                                        "<i4", "<u4", "<f4", "<i8", "<u8", "<f8"};
    return descr[element];
}

bool npy_matches(const struct npy *npy, enum element element) {
    if (strcmp(npy->descr, npy_descr(element)) == 0)
        return true;
    return (element == ELEMENT_BF16 && strcmp(npy->descr, "|V2") == 0) ||
           (element == ELEMENT_U8 && strcmp(npy->descr, "|b1") == 0);
}

void npy_header(enum element element, uint64_t count, char header[NPY_HEADER_BYTES]) {
    memset(header, ' ', NPY_HEADER_BYTES);
    memcpy(header, magic, sizeof magic);
    header[6] = 1;
    header[7] = 0;
    header[8] = NPY_HEADER_BYTES - 10;
    header[9] = 0;
    char text[NPY_HEADER_BYTES];
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu,), }",
                          npy_descr(element), (unsigned long long)count);
    memcpy(header + 10, text, (size_t)length);
    header[NPY_HEADER_BYTES - 1] = '\n';
}

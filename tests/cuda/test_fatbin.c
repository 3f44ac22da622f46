/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries: which PTX is chosen, how it is packed, and what is refused in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <lz4.h>
#include <string.h>
#include <zstd.h>

#include "compile/fatbin.h"
#include "device/load.h"

enum { PLAIN = 0x11, LZ4 = 0x2011, ZSTD = 0x8011, PTX = 1, CUBIN = 2 };

struct builder {
    uint8_t data[8192];
    size_t bytes;
};

static void put(struct builder *b, const void *data, size_t bytes) {
    memcpy(b->data + b->bytes, data, bytes);
    b->bytes += bytes;
}

static void number(struct builder *b, uint64_t value, size_t bytes) { put(b, &value, bytes); }

static void begin(struct builder *b) {
    b->bytes = 0;
    number(b, 0xba55ed50, 4), number(b, 1, 2), number(b, 16, 2), number(b, 0, 8);
}

static void end(struct builder *b) {
    const uint64_t bytes = b->bytes - 16;
    memcpy(b->data + 8, &bytes, 8);
}

static void add(struct builder *b, unsigned kind, unsigned arch, unsigned flags, const char *text) {
    char packed[2048] = {0};
    size_t bytes = strlen(text) + 1;
    if (flags == LZ4)
        bytes = (size_t)LZ4_compress_default(text, packed, (int)bytes, sizeof packed);
    else if (flags == ZSTD)
        bytes = ZSTD_compress(packed, sizeof packed, text, bytes, 3);
    else
        memcpy(packed, text, bytes);
    const size_t padded = (bytes + 7) / 8 * 8;
    number(b, kind, 2), number(b, 0x101, 2), number(b, 64, 4), number(b, padded, 8);
    number(b, flags == PLAIN ? 0 : bytes, 4), number(b, 0, 4), number(b, 5, 2), number(b, 7, 2), number(b, arch, 4);
    number(b, 0, 4), number(b, 0, 4), number(b, flags, 8), number(b, 0, 8);
    number(b, flags == PLAIN ? 0 : strlen(text) + 1, 8);
    put(b, packed, padded);
}

static const struct fatbin_wish ptx;

static const char *read_it(struct builder *b, struct arena *arena, unsigned *arch) {
    struct fatbin out = {0};
    struct report report = {0};
    end(b);
    assert_int_equal(fatbin_bytes(b->data), b->bytes);
    assert_int_equal(fatbin_read(b->data, b->bytes, &ptx, arena, &out, &report), STATUS_OK);
    assert_int_equal(out.bytes, strlen(out.ptx));
    assert_int_equal(fatbin_arch(b->data, b->bytes), out.arch);
    if (arch)
        *arch = out.arch;
    report_free(&report);
    return out.ptx;
}

static void refuses(struct builder *b, size_t bytes, const char *words) {
    struct arena arena = {0};
    struct fatbin out = {0};
    struct report report = {0};
    assert_int_equal(fatbin_read(b->data, bytes, &ptx, &arena, &out, &report), STATUS_INVALID);
    assert_null(out.ptx);
    assert_non_null(strstr(report_text(&report), words));
    report_free(&report);
    arena_free(&arena);
}

#define LONG_TEXT "one two three four one two three four one two three four one two three four one two three four"

static void ptx_is_read_as_it_is_or_compressed(void **state) {
    static struct builder b;
    struct arena arena = {0};
    (void)state;
    const unsigned flags[] = {PLAIN, LZ4, ZSTD};
    for (unsigned i = 0; i < 3; i++) {
        begin(&b);
        add(&b, PTX, 75, flags[i], LONG_TEXT);
        assert_string_equal(read_it(&b, &arena, NULL), LONG_TEXT);
    }
    arena_free(&arena);
}

static void ptx_of_the_best_architecture_is_chosen(void **state) {
    static const struct {
        unsigned first, second, third, chosen;
    } cases[] = {{50, 60, 70, 70}, {70, 75, 80, 75}, {90, 80, 86, 80}, {120, 75, 60, 75}, {52, 90, 80, 52}};
    static struct builder b;
    struct arena arena = {0};
    unsigned arch = 0;
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&b);
        add(&b, CUBIN, 75, PLAIN, "native");
        add(&b, PTX, cases[i].first, PLAIN, "first");
        add(&b, PTX, cases[i].second, ZSTD, "second");
        add(&b, CUBIN, 90, ZSTD, "native");
        add(&b, PTX, cases[i].third, LZ4, "third, of many more bytes than the others are");
        read_it(&b, &arena, &arch);
        assert_int_equal(arch, cases[i].chosen);
    }
    arena_free(&arena);
}

static void native_code_alone_is_refused_by_name(void **state) {
    static struct builder b;
    (void)state;
    begin(&b);
    add(&b, CUBIN, 80, PLAIN, "native");
    add(&b, CUBIN, 90, ZSTD, "native");
    end(&b);
    refuses(&b, b.bytes, "native code for sm_80, native code for sm_90 only");
    assert_int_equal(fatbin_arch(b.data, b.bytes), 0);
    begin(&b);
    end(&b);
    refuses(&b, b.bytes, "the program has nothing only");
}

/* The same major and at most the minor; PTX where there is none, for at most that architecture. */
static void native_code_is_chosen_where_it_is_run(void **state) {
    static const struct {
        unsigned sm, natives[3], ptx[2], chosen;
        bool ptx_only, is_native;
    } cases[] = {{86, {75, 80, 86}, {75, 90}, 86, false, true},  {86, {75, 80, 89}, {75, 90}, 80, false, true},
                 {86, {75, 87, 90}, {75, 80}, 80, false, false}, {89, {86, 80, 89}, {75, 80}, 89, false, true},
                 {86, {75, 80, 86}, {80, 75}, 80, true, false},  {75, {80, 86, 90}, {80, 90}, 0, false, false},
                 {86, {75, 87, 90}, {87, 90}, 0, false, false}};
    static struct builder b;
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fatbin_wish wish = {.sm = cases[i].sm, .ptx_only = cases[i].ptx_only};
        struct arena arena = {0};
        struct report report = {0};
        struct fatbin out = {0};
        begin(&b);
        for (unsigned k = 0; k < 3; k++) {
            if (k < 2)
                add(&b, PTX, cases[i].ptx[k], PLAIN, "text");
            add(&b, CUBIN, cases[i].natives[k], k == 1 ? ZSTD : LZ4, "native");
        }
        end(&b);
        const enum status status = fatbin_read(b.data, b.bytes, &wish, &arena, &out, &report);
        assert_int_equal(status, cases[i].chosen ? STATUS_OK : STATUS_INVALID);
        assert_int_equal(out.arch, cases[i].chosen);
        assert_int_equal(out.is_native, cases[i].is_native);
        if (cases[i].is_native)
            assert_int_equal(out.bytes, sizeof "native");
        if (!cases[i].chosen)
            assert_non_null(strstr(report_text(&report), "native code for sm_90"));
        report_free(&report);
        arena_free(&arena);
    }
}

static void damage_is_refused(void **state) {
    static struct builder b;
    (void)state;
    begin(&b);
    add(&b, PTX, 75, ZSTD, LONG_TEXT);
    end(&b);
    refuses(&b, 3, "does not begin as one");
    refuses(&b, b.bytes - 1, "shorter than it says");
    b.data[16 + 64 + 6] ^= 0x55; /* inside what is packed */
    b.data[16 + 64 + 7] ^= 0x55;
    refuses(&b, b.bytes, "cannot be unpacked");
    b.data[16 + 4] = 63; /* a header too short for an entry */
    refuses(&b, b.bytes, "larger than the whole");
    b.data[0] ^= 1;
    refuses(&b, b.bytes, "does not begin as one");
    assert_int_equal(fatbin_bytes(b.data), 0);
    begin(&b);
    add(&b, PTX, 75, LZ4, LONG_TEXT);
    memset(b.data + 16 + 56, 0xff, 8); /* says that it is larger than anything */
    end(&b);
    refuses(&b, b.bytes, "than 1 GiB");
    begin(&b);
    add(&b, PTX, 75, LZ4, LONG_TEXT);
    b.data[16 + 56]--; /* a byte fewer than comes out of it */
    end(&b);
    refuses(&b, b.bytes, "cannot be unpacked");
}

static void what_heddle_cc_writes_is_read_back(void **state) {
    (void)state;
    static const char *const texts[] = {"", "x", "1234567", "12345678", ".version 8.5\n.target sm_80\n"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena arena = {0};
        struct report report = {0};
        struct fatbin out = {0};
        size_t bytes = 0;
        const char *data = fatbin_write(&arena, texts[i], 80, &bytes);
        assert_int_equal(fatbin_bytes(data), bytes);
        assert_int_equal(fatbin_read(data, bytes, &ptx, &arena, &out, &report), STATUS_OK);
        assert_string_equal(out.ptx, texts[i]);
        assert_int_equal(out.bytes, strlen(texts[i]));
        assert_int_equal(out.arch, 80);
        report_free(&report);
        arena_free(&arena);
    }
}

static void a_fat_binary_is_a_module(void **state) {
    (void)state;
    static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";
    struct builder b;
    begin(&b);
    add(&b, CUBIN, 86, PLAIN, "no cubin");
    add(&b, PTX, 75, ZSTD, text);
    end(&b);
    const struct device_module order = {.name = "k.fatbin", .text = (const char *)b.data, .length = b.bytes};
    struct report report = {0};
    struct module *module = NULL;
    assert_int_equal(load_for(&order, NULL, &module, &report), STATUS_OK);
    assert_non_null(module_find(module, "k"));
    assert_string_equal(module->name, "k.ptx");
    module_free(module);

    const struct device_module cut = {.name = "k.fatbin", .text = (const char *)b.data, .length = b.bytes - 1};
    assert_int_equal(load_for(&cut, NULL, &module, &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "k.fatbin: the program's fat binary is damaged"));
    report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_heddle_cc_writes_is_read_back),
        cmocka_unit_test(ptx_is_read_as_it_is_or_compressed),
        cmocka_unit_test(ptx_of_the_best_architecture_is_chosen),
        cmocka_unit_test(native_code_alone_is_refused_by_name),
        cmocka_unit_test(native_code_is_chosen_where_it_is_run),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(a_fat_binary_is_a_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

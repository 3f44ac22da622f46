/* SPDX-License-Identifier: Apache-2.0 */
/* Launches whose marks have blanks in them become what clang takes; all else stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "base/arena.h"
#include "compile/launches.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void marks_with_blanks_are_closed_up_in_their_place(void **state) {
    static const char *const pairs[][2] = {
        {"k << < 1, 2 >> > (p);", "k <<<  1, 2 >>>  (p);"},
        {"k<<  <g, b>>>(p);", "k<<<  g, b>>>(p);"},
        {"k<<<g, b>>\t>(p);", "k<<<g, b>>> (p);"},
        {"k << <n, (a >> b), m[2 >> c] >> >\n  ();", "k <<< n, (a >> b), m[2 >> c] >>> \n  ();"},
        {"a << < 1 >> > (); b << < 2 >> > ();", "a <<<  1 >>>  (); b <<<  2 >>>  ();"},
        {"f(\"))\"); t<2> << < dim3(1, 2), ')' >> > (x);", "f(\"))\"); t<2> <<<  dim3(1, 2), ')' >>>  (x);"},
        {"x = 1'000'000; k << < /* >>>( */ 1, 1 >> > ();", "x = 1'000'000; k <<<  /* >>>( */ 1, 1 >>>  ();"},
    };
    struct arena arena = {0};
    (void)state;
    for (unsigned i = 0; i < COUNT(pairs); i++) {
        const char *closed = launches_close(&arena, pairs[i][0]);
        assert_non_null(closed);
        assert_string_equal(closed, pairs[i][1]);
    }
    arena_free(&arena);
}

static void other_text_stays(void **state) {
    static const char *const texts[] = {
        "k<<<1, 2>>>(p);",
        "friend ostream &operator<< <T>(ostream &, A<B<C<T>> > (x));",
        "// k << < 1 >> > ();",
        "/* k << < 1 >> > (); */",
        "puts(\"k << < 1 >> > ();\\\"\");",
        "const char *s = R\"x(k << < 1 >> > ()\" )x\";",
        "int y = a << b; v<v<v<int>> > (z);",
        "k << < 1; f >> > ();",
        "k << <",
        "\"k << <",
        "",
    };
    struct arena arena = {0};
    (void)state;
    for (unsigned i = 0; i < COUNT(texts); i++)
        assert_null(launches_close(&arena, texts[i]));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_with_blanks_are_closed_up_in_their_place),
        cmocka_unit_test(other_text_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

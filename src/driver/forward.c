/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the driver's that are the runtime's under another name (forward.def). */
#include "driver/driver.h"

/* Rows declare the runtime's functions first, and are functions then. */
#define ALSO(name, second)
#define FORWARD_0(kind, need, name, version, other) RUNTIME(version, other, void);
#define FORWARD_1(kind, need, name, version, other, ...) RUNTIME(version, other, __VA_ARGS__);
#define FORWARD_2 FORWARD_1
#define FORWARD_3 FORWARD_1
#define FORWARD_4 FORWARD_1
#define FORWARD_5 FORWARD_1
#define FORWARD_6 FORWARD_1
#define FORWARD_7 FORWARD_1
#include "driver/forward.def"
#undef ALSO
#undef FORWARD_0
#undef FORWARD_1
#undef FORWARD_2
#undef FORWARD_3
#undef FORWARD_4
#undef FORWARD_5
#undef FORWARD_6
#undef FORWARD_7

#define API_CU_PLAIN API_CU
#define ALSO(name, second) CU_ALSO(name, second)
#define BODY(need, call)                                                                                               \
    {                                                                                                                  \
        BEGIN(need);                                                                                                   \
        return driver_end(call);                                                                                       \
    }
#define FORWARD_0(kind, need, name, version, other) API_CU_##kind(name, void) BODY(need, heddle_##version##_##other())
#define FORWARD_1(kind, need, name, version, other, A)                                                                 \
    API_CU_##kind(name, A a) BODY(need, heddle_##version##_##other(a))
#define FORWARD_2(kind, need, name, version, other, A, B)                                                              \
    API_CU_##kind(name, A a, B b) BODY(need, heddle_##version##_##other(a, b))
#define FORWARD_3(kind, need, name, version, other, A, B, C)                                                           \
    API_CU_##kind(name, A a, B b, C c) BODY(need, heddle_##version##_##other(a, b, c))
#define FORWARD_4(kind, need, name, version, other, A, B, C, D)                                                        \
    API_CU_##kind(name, A a, B b, C c, D d) BODY(need, heddle_##version##_##other(a, b, c, d))
#define FORWARD_5(kind, need, name, version, other, A, B, C, D, E)                                                     \
    API_CU_##kind(name, A a, B b, C c, D d, E e) BODY(need, heddle_##version##_##other(a, b, c, d, e))
#define FORWARD_6(kind, need, name, version, other, A, B, C, D, E, F)                                                  \
    API_CU_##kind(name, A a, B b, C c, D d, E e, F f) BODY(need, heddle_##version##_##other(a, b, c, d, e, f))
#define FORWARD_7(kind, need, name, version, other, A, B, C, D, E, F, G)                                               \
    API_CU_##kind(name, A a, B b, C c, D d, E e, F f, G g) BODY(need, heddle_##version##_##other(a, b, c, d, e, f, g))
#include "driver/forward.def"

/* SPDX-License-Identifier: Apache-2.0 */
/* Where the warps of a block meet in work-group collectives. In C, since OpenCL C allows such a variable only inside
 * a kernel; linked only where builtins.cl asks for it. */
typedef __attribute__((address_space(3))) unsigned long long slot;

__attribute__((loader_uninitialized)) static slot __heddle_slots[32];

__attribute__((always_inline)) slot *__heddle_collective(void) { return __heddle_slots; }

// SPDX-License-Identifier: Apache-2.0
// A program of several files, in C, C++ and CUDA.
#pragma once
enum { PARTS_COUNT = 40 };
#ifdef __cplusplus
extern "C" {
#endif
int parts_expected(int i);
void parts_first(int *data);
void parts_second(int *data);
#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: Apache-2.0
// Launches whose marks have blanks in them, in a file that a source includes.
#ifndef LAUNCH_MARKS_H
#define LAUNCH_MARKS_H

// clang-format off
__global__ void count(int *sum) { atomicAdd(sum, 1); }

static void count_from_header(int *sum)
{
    count<<  <2, 7>>  >(sum);
}
// clang-format on

#endif

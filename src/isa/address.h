/* SPDX-License-Identifier: Apache-2.0 */
/* The address map that a kernel sees. Everything fits 32 bits where the 32-bit target needs it:
 * windows of shared and local memory below GLOBAL_BASE, device memory from there up. */
#ifndef HEDDLE_ISA_ADDRESS_H
#define HEDDLE_ISA_ADDRESS_H

#include <stdint.h>

#define LOCAL_WINDOW UINT64_C(0x01000000)
#define SHARED_WINDOW UINT64_C(0x02000000)
#define WINDOW_BYTES UINT64_C(0x01000000)
/* Shared memory of the blocks of a cluster, block after block, as mapa names it; of those that addresses of shared memory are
 * counted from SHARED_WINDOW. */
#define CLUSTER_WINDOW UINT64_C(0x03000000)
#define CLUSTER_BLOCK_BYTES UINT64_C(0x00400000)
#define CLUSTER_BLOCKS_MAX 16
/* Parameters of the kernel, which nobody writes. */
#define PARAM_WINDOW UINT64_C(0x07000000)
#define GLOBAL_BASE UINT64_C(0x10000000)
/* As much device memory as 32-bit addresses tell. */
#define ADDRESS_32_BYTES (UINT32_MAX - GLOBAL_BASE)
/* What accesses are told apart by where more than one may touch the same memory: 32 bytes. */
#define SECTOR_SHIFT 5
/* A function's address as a value: not in any window, so that calling data or reading code faults. */
#define CODE_BASE UINT64_C(0x08000000)
#define CODE_ADDRESS(pc) (CODE_BASE + (uint64_t)(pc)*8)

#endif

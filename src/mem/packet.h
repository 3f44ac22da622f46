/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the SMs and the memory system. */
#ifndef HEDDLE_MEM_PACKET_H
#define HEDDLE_MEM_PACKET_H

#include <stdbool.h>
#include <stdint.h>

enum packet_kind { PACKET_READ, PACKET_WRITE, PACKET_ATOMIC };
struct packet {
    uint64_t address;
    uint64_t tag; /* the SM's: who waits */
    uint32_t sm;
    uint32_t bytes;
    uint32_t ticket, lanes; /* atomics */
    uint8_t kind;           /* enum packet_kind */
    uint8_t place;          /* writes: block whose store this is */
    uint8_t sectors;        /* 32 B parts of the 128 B line at `address` rounded down, bit 0 the first */
    bool row_hint;          /* reads: another of the same DRAM row follows soon */
    bool leaves_first;      /* the first of its set to leave the L2 */
    uint16_t slice;         /* on the way to it: the machine's, written when its SM's epoch is over (net_route) */
};

#endif

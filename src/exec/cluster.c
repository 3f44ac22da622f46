/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that share a cluster: which they are, and addresses in the shared memory of each. */
#include "base/bits.h"
#include "exec/state.h"

uint32_t exec_cluster_rank(const struct exec_launch *launch, const uint32_t place[3]) {
    uint32_t rank = 0;
    for (unsigned i = 3; i-- > 0;)
        rank = rank * exec_cluster_side(launch, i) + place[i] % exec_cluster_side(launch, i);
    return rank;
}

uint64_t exec_cluster_block(const struct exec_launch *launch, uint64_t cluster, uint32_t rank) {
    uint64_t block = 0, stride = 1;
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t side = exec_cluster_side(launch, i), clusters = launch->grid[i] / side;
        block += (cluster % clusters * side + rank % side) * stride;
        stride *= launch->grid[i];
        cluster /= clusters, rank /= side;
    }
    return block;
}

void exec_join_cluster(struct exec *const *blocks, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        blocks[i]->cluster = blocks, blocks[i]->cluster_count = count;
}

void exec_end_block(struct exec *exec) { exec->ended = true; }

/* Where those of a cluster's blocks begin, counted as addresses of shared memory are. */
#define FAR (CLUSTER_WINDOW - SHARED_WINDOW)

struct exec *exec_shared_owner(struct exec *exec, uint64_t address, uint32_t bytes, uint32_t *at) {
    struct exec *owner = exec;
    *at = (uint32_t)address;
    if (exec->cluster && address - FAR < exec->cluster_count * CLUSTER_BLOCK_BYTES) {
        const uint32_t rank = (uint32_t)((address - FAR) / CLUSTER_BLOCK_BYTES);
        if (exec->gang && rank != exec->rank) /* in time another SM's: exec/far.c */
            return NULL;
        owner = exec->cluster[rank];
        address = (address - FAR) % CLUSTER_BLOCK_BYTES, *at = (uint32_t)address;
    }
    return range_within(address, bytes, owner->shared_bytes) ? owner : NULL;
}

bool exec_shared_name(const struct exec *exec, uint32_t rank, uint32_t *address) {
    if (!exec->cluster)
        return rank == 0;
    const uint64_t offset = *address >= FAR ? (*address - FAR) % CLUSTER_BLOCK_BYTES : *address;
    *address = (uint32_t)(offset + FAR + rank * CLUSTER_BLOCK_BYTES);
    return rank < exec->cluster_count;
}

/* A cluster of one block has one name for its memory, so that mapa changes no address there. */
static bool map(struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    const struct row *rows = step->rows + step->dst_count;
    const uint64_t window = step->inst->space == SPACE_SHARED ? 0 : SHARED_WINDOW;
    uint64_t address = exec_read(exec, warp, &rows[0], lane) - window;
    const uint32_t rank = (uint32_t)exec_read(exec, warp, &rows[1], lane);
    if (rank >= CLUSTER_BLOCKS_MAX)
        return exec_fail(exec, warp, lane, step, "mapa: a cluster has no block %u", (unsigned)rank);
    if (exec->cluster || rank) {
        if (address >= FAR)
            address = (address - FAR) % CLUSTER_BLOCK_BYTES;
        address += FAR + rank * CLUSTER_BLOCK_BYTES;
    }
    exec_write(exec, warp, &step->rows[0], lane, address + window);
    return true;
}

static void tell_rank(struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    const uint64_t window = step->inst->space == SPACE_SHARED ? 0 : SHARED_WINDOW;
    const uint64_t address = exec_read(exec, warp, &step->rows[step->dst_count], lane) - window;
    const bool far = address - FAR < CLUSTER_BLOCKS_MAX * CLUSTER_BLOCK_BYTES;
    exec_write(exec, warp, &step->rows[0], lane, far ? (address - FAR) / CLUSTER_BLOCK_BYTES : exec->rank);
}

bool exec_cluster_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    for (BITS_EACH(lane, lanes)) {
        if (step->inst->op == OP_CTARANK)
            tell_rank(exec, warp, lane, step);
        else if (!map(exec, warp, lane, step))
            return false;
    }
    return true;
}

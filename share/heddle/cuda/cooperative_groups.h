/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative groups: blocks, tiles of warps, threads that happen to be together, grids of cooperative launches. */
#ifndef HEDDLE_CUDA_COOPERATIVE_GROUPS_H
#define HEDDLE_CUDA_COOPERATIVE_GROUPS_H
#pragma GCC system_header

#include "cuda_runtime.h"

namespace cooperative_groups {

namespace heddle {
#define HEDDLE_GROUP __inline__ __device__ __attribute__((always_inline, convergent))

HEDDLE_GROUP unsigned int block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
HEDDLE_GROUP unsigned int block_rank()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
HEDDLE_GROUP unsigned int lane() { return block_rank() % 32; }
/* Lanes of the mask below this one. */
HEDDLE_GROUP unsigned int rank_in(unsigned int mask) { return __popc(mask & ((1u << lane()) - 1)); }
/* The n-th lane of the mask; what CUDA leaves open for n beyond them is the first here. */
HEDDLE_GROUP unsigned int lane_of(unsigned int mask, unsigned int n)
{
    for (unsigned int i = 0; i < n && mask & (mask - 1); i++)
        mask &= mask - 1;
    return __ffs(mask) - 1;
}
template <class T> struct words {
    static constexpr unsigned int count = (sizeof(T) + 3) / 4;
    unsigned int word[count];
};
/* A value of any size from another lane. */
template <class T> HEDDLE_GROUP T shuffle(unsigned int mask, T value, unsigned int from)
{
    words<T> all = {};
    __builtin_memcpy(&all, &value, sizeof value);
    for (unsigned int i = 0; i < words<T>::count; i++)
        all.word[i] = __shfl_sync(mask, all.word[i], from);
    __builtin_memcpy(&value, &all, sizeof value);
    return value;
}
} // namespace heddle

/* ---- a block ---- */
class thread_block {
  public:
    static HEDDLE_GROUP void sync() { __syncthreads(); }
    static HEDDLE_GROUP unsigned int thread_rank() { return heddle::block_rank(); }
    static HEDDLE_GROUP unsigned int size() { return heddle::block_threads(); }
    static HEDDLE_GROUP unsigned int num_threads() { return heddle::block_threads(); }
    static HEDDLE_GROUP dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static HEDDLE_GROUP dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static HEDDLE_GROUP dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static HEDDLE_GROUP dim3 dim_threads() { return group_dim(); }
};
HEDDLE_GROUP thread_block this_thread_block() { return thread_block(); }

/* ---- lanes of a warp ---- */
namespace heddle {
/* What all groups inside a warp have: `Group` knows its mask of lanes, its size, this thread's rank, which lane a
 * rank is, and which ranks lanes are. */
template <class Group> class lanes {
  private:
    HEDDLE_GROUP const Group &self() const { return static_cast<const Group &>(*this); }

  public:
    HEDDLE_GROUP void sync() const { __syncwarp(self().lane_mask()); }
    HEDDLE_GROUP unsigned int size() const { return self().num_threads(); }
    template <class T> HEDDLE_GROUP T shfl(T value, unsigned int rank) const
    {
        return shuffle(self().lane_mask(), value, self().lane_at(rank % self().num_threads()));
    }
    template <class T> HEDDLE_GROUP T shfl_up(T value, unsigned int by) const
    {
        const unsigned int rank = self().thread_rank();
        return shuffle(self().lane_mask(), value, self().lane_at(rank >= by ? rank - by : rank));
    }
    template <class T> HEDDLE_GROUP T shfl_down(T value, unsigned int by) const
    {
        const unsigned int rank = self().thread_rank();
        return shuffle(self().lane_mask(), value,
                       self().lane_at(rank + by < self().num_threads() ? rank + by : rank));
    }
    template <class T> HEDDLE_GROUP T shfl_xor(T value, unsigned int by) const
    {
        const unsigned int to = self().thread_rank() ^ by;
        return shuffle(self().lane_mask(), value,
                       self().lane_at(to < self().num_threads() ? to : self().thread_rank()));
    }
    HEDDLE_GROUP int any(int is) const { return __any_sync(self().lane_mask(), is); }
    HEDDLE_GROUP int all(int is) const { return __all_sync(self().lane_mask(), is); }
    HEDDLE_GROUP unsigned int ballot(int is) const { return self().ranks_of(__ballot_sync(self().lane_mask(), is)); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    template <class T> HEDDLE_GROUP unsigned int match_any(T value) const
    {
        return self().ranks_of(__match_any_sync(self().lane_mask(), value));
    }
    template <class T> HEDDLE_GROUP unsigned int match_all(T value, int &is_all) const
    {
        return self().ranks_of(__match_all_sync(self().lane_mask(), value, &is_all));
    }
#endif
};
} // namespace heddle

template <unsigned int N, class Parent = void> class thread_block_tile : public heddle::lanes<thread_block_tile<N, Parent>> {
    static_assert(N && N <= 32 && !(N & (N - 1)), "heddle cc: tiles have 1, 2, 4, 8, 16 or 32 threads");

  public:
    HEDDLE_GROUP thread_block_tile() {}
    template <class Other> HEDDLE_GROUP thread_block_tile(const thread_block_tile<N, Other> &) {}
    HEDDLE_GROUP unsigned int lane_mask() const
    {
        return N == 32 ? 0xffffffffu : ((1u << N % 32) - 1) << first_lane();
    }
    /* Its lanes are neighbours. */
    static HEDDLE_GROUP unsigned int first_lane() { return heddle::lane() / N * N; }
    static HEDDLE_GROUP unsigned int lane_at(unsigned int rank) { return first_lane() + rank; }
    HEDDLE_GROUP unsigned int ranks_of(unsigned int lanes) const { return (lanes & lane_mask()) >> first_lane(); }
    static HEDDLE_GROUP unsigned int num_threads() { return N; }
    static HEDDLE_GROUP unsigned int thread_rank() { return heddle::block_rank() % N; }
    static HEDDLE_GROUP unsigned int meta_group_size() { return (heddle::block_threads() + N - 1) / N; }
    static HEDDLE_GROUP unsigned int meta_group_rank() { return heddle::block_rank() / N; }
};

class coalesced_group : public heddle::lanes<coalesced_group> {
  private:
    unsigned int mask;

  public:
    explicit HEDDLE_GROUP coalesced_group(unsigned int lanes) : mask(lanes) {}
    HEDDLE_GROUP unsigned int lane_mask() const { return mask; }
    HEDDLE_GROUP unsigned int lane_at(unsigned int rank) const { return heddle::lane_of(mask, rank); }
    HEDDLE_GROUP unsigned int ranks_of(unsigned int lanes) const
    {
        unsigned int out = 0, at = 0;
        for (unsigned int left = mask; left; left &= left - 1, at++)
            out |= (lanes >> (__ffs(left) - 1) & 1) << at;
        return out;
    }
    HEDDLE_GROUP unsigned int num_threads() const { return __popc(mask); }
    HEDDLE_GROUP unsigned int thread_rank() const { return heddle::rank_in(mask); }
    static HEDDLE_GROUP unsigned int meta_group_size() { return 1; }
    static HEDDLE_GROUP unsigned int meta_group_rank() { return 0; }
};
HEDDLE_GROUP coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* ---- any of them ---- */
class thread_group {
  private:
    unsigned int mask; /* 0: the block */

  public:
    explicit HEDDLE_GROUP thread_group(unsigned int lanes) : mask(lanes) {}
    HEDDLE_GROUP thread_group(const thread_block &) : mask(0) {}
    HEDDLE_GROUP thread_group(const coalesced_group &group) : mask(group.lane_mask()) {}
    template <unsigned int N, class Parent>
    HEDDLE_GROUP thread_group(const thread_block_tile<N, Parent> &group) : mask(group.lane_mask())
    {
    }
    HEDDLE_GROUP void sync() const
    {
        if (mask)
            __syncwarp(mask);
        else
            __syncthreads();
    }
    HEDDLE_GROUP unsigned int size() const { return mask ? __popc(mask) : heddle::block_threads(); }
    HEDDLE_GROUP unsigned int num_threads() const { return size(); }
    HEDDLE_GROUP unsigned int thread_rank() const { return mask ? heddle::rank_in(mask) : heddle::block_rank(); }
    HEDDLE_GROUP unsigned int lane_mask() const { return mask; }
};

template <unsigned int N, class Group> HEDDLE_GROUP thread_block_tile<N, Group> tiled_partition(const Group &)
{
    return thread_block_tile<N, Group>();
}
/* Parts of n threads, in their order. */
HEDDLE_GROUP thread_group tiled_partition(const thread_group &group, unsigned int n)
{
    const unsigned int first = group.thread_rank() / n * n;
    unsigned int mask = 0;
    if (!group.lane_mask())
        return thread_group((n >= 32 ? 0xffffffffu : (1u << n) - 1) << first % 32);
    for (unsigned int i = 0; i < n && first + i < group.size(); i++)
        mask |= 1u << heddle::lane_of(group.lane_mask(), first + i);
    return thread_group(mask);
}
template <class Group> HEDDLE_GROUP coalesced_group binary_partition(const Group &group, bool is)
{
    const unsigned int lanes = __ballot_sync(group.lane_mask(), is);
    return coalesced_group(is ? lanes : group.lane_mask() & ~lanes);
}
template <class Group> HEDDLE_GROUP void sync(const Group &group) { group.sync(); }
template <class Group> HEDDLE_GROUP unsigned int thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> HEDDLE_GROUP unsigned int group_size(const Group &group) { return group.size(); }

/* ---- a grid ---- */
class grid_group {
  private:
    /* Memory of a cooperative launch, zero when it begins; 0: the launch is none. */
    static HEDDLE_GROUP unsigned int *workspace()
    {
        unsigned int low, high;
        asm("mov.u32 %0, %%envreg1;" : "=r"(high));
        asm("mov.u32 %0, %%envreg2;" : "=r"(low));
        return (unsigned int *)((unsigned long long)high << 32 | low);
    }

  public:
    static HEDDLE_GROUP bool is_valid() { return workspace() != 0; }
    /* Blocks take tickets; those of one round have all been taken when the round's last one is. */
    static HEDDLE_GROUP void sync()
    {
        unsigned int *taken = workspace();
        if (!taken)
            __builtin_trap();
        __syncthreads();
        if (heddle::block_rank() == 0) {
            const unsigned int blocks = (unsigned int)num_blocks();
            __threadfence();
            const unsigned int all = (atomicAdd(taken, 1u) / blocks + 1) * blocks;
            while ((int)(*(volatile unsigned int *)taken - all) < 0)
                ;
            __threadfence();
        }
        __syncthreads();
    }
    static HEDDLE_GROUP dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static HEDDLE_GROUP dim3 dim_blocks() { return group_dim(); }
    static HEDDLE_GROUP unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static HEDDLE_GROUP unsigned long long block_rank()
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static HEDDLE_GROUP unsigned long long num_threads() { return num_blocks() * heddle::block_threads(); }
    static HEDDLE_GROUP unsigned long long size() { return num_threads(); }
    static HEDDLE_GROUP unsigned long long thread_rank()
    {
        return block_rank() * heddle::block_threads() + heddle::block_rank();
    }
};
HEDDLE_GROUP grid_group this_grid() { return grid_group(); }

#undef HEDDLE_GROUP
} // namespace cooperative_groups

#endif

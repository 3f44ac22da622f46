// SPDX-License-Identifier: Apache-2.0
// Pointers in device memory: a list whose nodes point to each other, reached by a table of pointers in a struct; a constant besides.
#include "check.h"

struct Node {
    int value;
    Node *next;
};
struct Lists {
    Node **heads;
    int count;
};
__constant__ int factor;
__device__ int visits;

__global__ void sum(Lists lists, int *out)
{
    const int i = threadIdx.x;
    if (i >= lists.count)
        return;
    int total = 0;
    for (Node *node = lists.heads[i]; node; node = node->next) {
        total += node->value;
        atomicAdd(&visits, 1);
    }
    out[i] = total * factor;
}

int main()
{
    const int lists = 40, length = 9, three = 3;
    Node *nodes[lists], host[length], *heads[lists], **table;
    int *out, result[lists], visited;
    for (int i = 0; i < lists; i++) {
        CHECK(cudaMalloc(&nodes[i], sizeof host));
        for (int k = 0; k < length; k++)
            host[k] = {i + k, k + 1 < length ? nodes[i] + k + 1 : i ? nodes[i - 1] + length - 1 : nullptr};
        CHECK(cudaMemcpy(nodes[i], host, sizeof host, cudaMemcpyHostToDevice));
        heads[i] = nodes[i];
    }
    CHECK(cudaMalloc(&table, sizeof heads));
    CHECK(cudaMemcpy(table, heads, sizeof heads, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&out, sizeof result));
    CHECK(cudaMemcpyToSymbol(factor, &three, sizeof three));
    for (int round = 1; round <= 2; round++) {
        sum<<<1, 64>>>({table, lists}, out);
        CHECK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpyFromSymbol(&visited, visits, sizeof visited));
        int all = 0;
        for (int i = 0; i < lists; i++) {
            int expected = 0;
            for (int k = 0; k < length; k++)
                expected += i + k;
            for (int k = i - 1; k >= 0; k--)
                expected += k + length - 1;
            all += length + i;
            EXPECT(result[i] == 3 * expected);
        }
        EXPECT(visited == round * all);
    }
    return finish();
}

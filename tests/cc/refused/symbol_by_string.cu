// SPDX-License-Identifier: Apache-2.0
// refused: heddle cc: symbols by a string of their name are not built
__constant__ int table[2];
int main()
{
    const int values[2] = {1, 2};
    return cudaMemcpyToSymbol("table", values, sizeof values);
}

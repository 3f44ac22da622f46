// SPDX-License-Identifier: Apache-2.0
// refused: heddle cc: cudaIpcOpenMemHandle is not built
int main()
{
    return cudaIpcOpenMemHandle(nullptr, 1u, 0u);
}

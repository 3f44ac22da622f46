// SPDX-License-Identifier: Apache-2.0
// refused: heddle cc: cudaGraphicsGLRegisterBuffer is not built
int main()
{
    return cudaGraphicsGLRegisterBuffer(nullptr, 1u, 0u);
}

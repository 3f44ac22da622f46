// SPDX-License-Identifier: Apache-2.0
// refused: heddle cc: cudaCreateTextureObject is not built
int main()
{
    cudaTextureObject_t object;
    return cudaCreateTextureObject(&object, nullptr, nullptr, nullptr);
}

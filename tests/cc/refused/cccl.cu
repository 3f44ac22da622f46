// SPDX-License-Identifier: Apache-2.0
// refused: thrust, cub and libcu++ are no part of Heddle: -I has to name the folders of CCCL
#include <cuda/__cccl_config>
int main() { return 0; }

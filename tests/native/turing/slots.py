#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A kernel with room for words of one's own, as PTX: slots.py > slots.ptx. Nobody runs what it computes."""
print(".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry slots(.param .u64 in, .param .u64 out)\n{\n    .reg .b32 %a, %b; .reg .b64 %p;")
print("    ld.param.u64 %p, [in]; ld.global.v2.u32 {%a, %b}, [%p];")
for i in range(260):
    print(f"    xor.b32 %a, %a, {i * 7919 + 1}; mul.lo.u32 %a, %a, %b;")
print("    ld.param.u64 %p, [out]; st.global.u32 [%p], %a;\n    ret;\n}")

# SPDX-License-Identifier: Apache-2.0
"""Bulk copies, clusters of one block, and instructions that only take their turn."""
import random

from cases import FAULT, REFUSED
from control_forms import case

HOW = "bytes copied in Python"
SHARED = ".shared .align 16 .b8 area[4096];\n.shared .align 8 .b8 bar[16];\n"
LOAD = "cp.async.bulk{}.global.mbarrier::complete_tx::bytes"


def wait(label, form="mbarrier.try_wait.parity.shared.b64"):
    return f"{label}:\n    {form} %p, [bar], 0;\n    @!%p bra {label};\n"


def begin(count=1):
    """One thread makes the barrier."""
    return f"""    setp.ne.u32 %q, %i, 0;
    @%q bra READY;
    mbarrier.init.shared::cta.b64 [bar], {count};
    fence.mbarrier_init.release.cluster;
READY:
    bar.sync 0;
"""


def copy_out(size, at="area"):
    """All threads bring shared memory to the second buffer, word by word."""
    body = f"    .reg .b64 %from, %to;\n    mov.u64 %t, {at};\n"
    for first in range(0, size, 128):
        body += f"    mad.wide.u32 %from, %i, 4, %t; mad.wide.u32 %to, %i, 4, %out;\n"
        body += f"    ld.shared.u32 %x, [%from+{first}]; st.global.u32 [%to+{first}], %x;\n"
    return body


def loads():
    generator = random.Random("bulk")
    for space in (".shared::cluster", ".shared::cta"):
        for size, at, to in ((16, 0, 0), (128, 16, 32), (2048, 48, 1024), (4096, 0, 0)):
            data = [generator.getrandbits(32) for _ in range(1200)]
            form = LOAD.format(space)
            body = begin() + "    @%q bra BEHIND;\n    mov.u64 %t, area;\n"
            body += f"    mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [bar], {size};\n"
            body += f"    mov.u32 %w, {size}; {form} [%t+{to}], [%in+{at}], %w, [bar];\nBEHIND:\n"
            body += wait("WAIT", "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64") + copy_out(4096)
            memory = [0] * 1024
            memory[to // 4 : (to + size) // 4] = data[at // 4 : (at + size) // 4]
            expected = [(4 * i, 4, word) for i, word in enumerate(memory)]
            yield case(f"{form} {size}", body, [form, "fence.mbarrier_init.release.cluster"], data, expected, SHARED, block=32, how=HOW)
    # the address in registers of 32 bits, with offsets; two copies that one phase waits for; a barrier behind another variable
    data = [generator.getrandbits(32) for _ in range(64)]
    form = LOAD.format(".shared::cluster")
    body = begin() + "    @%q bra BEHIND;\n    mov.u32 %w, area; mov.u32 %x, bar; add.u32 %w, %w, 64; sub.u32 %x, %x, 8;\n"
    body += "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 96;\n"
    body += f"    {form} [%w+-64], [%in], 32, [%x+8];\n    {form} [%w+32], [%in+64], 64, [%x+8];\nBEHIND:\n"
    body += wait("WAIT") + copy_out(256)
    memory = data[:8] + [0] * 16 + data[16:32] + [0] * 24
    yield case(f"{form} twice", body, [form], data, [(4 * i, 4, word) for i, word in enumerate(memory)], SHARED, block=32, how=HOW)
    # to the blocks of a mask, of which there is one; and with a policy of the L2
    data = [generator.getrandbits(32) for _ in range(64)]
    both = ".multicast::cluster", ", %h"
    for space, more, operands in ((".shared::cluster", *both), (".shared::cluster", ".L2::cache_hint", ", %policy"), (".shared::cta", ".L2::cache_hint", ", %policy"),
                                  (".shared::cluster", both[0] + ".L2::cache_hint", both[1] + ", %policy")):
        spread = LOAD.format(space) + more
        body = begin() + "    .reg .b64 %policy; mov.u64 %policy, 0; mov.u16 %h, 1;\n    @%q bra BEHIND;\n"
        body += "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n"
        body += f"    {spread} [area], [%in], 256, [bar]{operands};\nBEHIND:\n" + wait("WAIT") + copy_out(256)
        yield case(spread, body, [spread], data, [(4 * i, 4, word) for i, word in enumerate(data)], SHARED, block=32, how=HOW)
    # every thread its own copy
    data = [generator.getrandbits(32) for _ in range(32 * 4)]
    body = begin(32) + "    .reg .b64 %own; mov.u64 %t, area; mad.wide.u32 %own, %i, 16, %t; mad.wide.u32 %in, %i, 16, %in;\n"
    body += "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
    body += f"    {form} [%own], [%in], 16, [bar];\n" + wait("WAIT") + copy_out(512)
    yield case(f"{form} of lanes", body, [form], data, [(4 * i, 4, word) for i, word in enumerate(data)], SHARED, block=32, how=HOW)


def stores():
    generator = random.Random("bulk store")
    form, groups = "cp.async.bulk.global.shared::cta.bulk_group", ["cp.async.bulk.commit_group"]
    for read in ("", ".read"):
        size = 1024
        data = [generator.getrandbits(32) for _ in range(size // 4)]
        body = "    .reg .b64 %from, %to;\n    mov.u64 %t, area;\n"
        for first in range(0, size, 128):
            body += "    mad.wide.u32 %from, %i, 4, %in; mad.wide.u32 %to, %i, 4, %t;\n"
            body += f"    ld.global.u32 %x, [%from+{first}]; st.shared.u32 [%to+{first}], %x;\n"
        wait_form = f"cp.async.bulk.wait_group{read}"
        body += "    fence.proxy.async.shared::cta;\n    bar.sync 0;\n    setp.ne.u32 %q, %i, 0;\n    @%q bra END;\n"
        body += f"    {form} [%out+16], [area], 512;\n    {form} [%out+{512 + 32}], [%t+512], 496;\n"
        body += f"    cp.async.bulk.commit_group;\n    {wait_form} 0;\n"
        words = [0] * 4 + data[:128] + [0] * 4 + data[128:252]
        forms = [form, *groups, wait_form, "fence.proxy.async.shared::cta"]
        yield case(f"{form}{read}", body, forms, data, [(4 * i, 4, w) for i, w in enumerate(words)], SHARED, block=32, how=HOW)
    hinted = form + ".L2::cache_hint"
    data = [generator.getrandbits(32) for _ in range(32)]
    body = "    .reg .b64 %policy; mov.u64 %policy, 0; mov.u64 %t, area; mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %x, [%a];\n"
    body += "    mad.wide.u32 %a, %i, 4, %t; st.shared.u32 [%a], %x;\n    fence.proxy.async.shared::cta;\n    bar.sync 0;\n    setp.ne.u32 %q, %i, 0;\n"
    body += f"    @%q bra END;\n    {hinted} [%out], [area], 128, %policy;\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n"
    yield case(hinted, body, [hinted], data, [(4 * i, 4, w) for i, w in enumerate(data)], SHARED, block=32, how=HOW)
    form = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
    data = [generator.getrandbits(32) for _ in range(32)]
    body = begin() + "    mov.u64 %t, area; mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %x, [%a];\n"
    body += "    mad.wide.u32 %a, %i, 4, %t; st.shared.u32 [%a], %x;\n    fence.proxy.async;\n    bar.sync 0;\n    @%q bra BEHIND;\n"
    body += "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 112;\n"
    body += f"    {form} [%t+256], [%t+16], 112, [bar];\nBEHIND:\n" + wait("WAIT") + copy_out(384)
    memory = data + [0] * 32 + data[4:32] + [0] * 4
    yield case(form, body, [form, "fence.proxy.async"], data, [(4 * i, 4, w) for i, w in enumerate(memory)], SHARED, block=32, how=HOW)
    for form, policy in (("cp.async.bulk.prefetch.L2.global", ""), ("cp.async.bulk.prefetch.L2.global.L2::cache_hint", ", %t")):
        body = f"    mov.u64 %t, 0; {form} [%in], 64{policy};\n    st.global.u32 [%out], 7;\n"
        yield case(form, body, [form], [0] * 16, [(0, 4, 7)], block=1, how=HOW)


def wrong():
    form = LOAD.format(".shared::cluster")
    for name, line, message in (
        ("size", f"{form} [area], [%in], 24, [bar];", ["multiples of 16"]),
        ("source", f"{form} [area], [%in+8], 16, [bar];", ["multiples of 16"]),
        ("target", f"{form} [area+8], [%in], 16, [bar];", ["multiples of 16"]),
        ("shared", f"{form} [area+4080], [%in], 32768, [bar];", ["shared address"]),
        ("global", f"{form} [area], [%in+65536], 1024, [bar];", ["cp.async.bulk"]),
    ):
        lines = f"    mbarrier.init.shared.b64 [bar], 1;\n    {line}\n"
        yield case(f"cp.async.bulk {name}", lines, [], [0] * 64, [], SHARED, block=1, out_bytes=8, outcome=FAULT, message=message)
    for opcode, operands, group in (
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16", "[%out], [area], 16", "asynchronous copies"),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.noftz.f16", "[%out], [area], 16", "asynchronous copies"),
        (LOAD.format(".shared::cta") + ".multicast::cluster.multicast::cluster", "[area], [%in], 16, [bar], %h, %h", "asynchronous copies"),
    ):
        yield case(opcode, f"    {opcode} {operands};\n", [opcode], [], [], SHARED, out_bytes=8, outcome=REFUSED, message=[group])


def clusters():
    how = "what PTX says of clusters of one block"
    specials = {"%clusterid.x": lambda b: b[0], "%clusterid.y": lambda b: b[1], "%clusterid.z": lambda b: b[2]}
    specials |= {"%nclusterid.x": lambda b: 2, "%nclusterid.y": lambda b: 3, "%nclusterid.z": lambda b: 1}
    specials |= {f"%cluster_ctaid.{axis}": lambda b: 0 for axis in "xyz"} | {f"%cluster_nctaid.{axis}": lambda b: 1 for axis in "xyz"}
    specials |= {"%cluster_ctarank": lambda b: 0, "%cluster_nctarank": lambda b: 1}
    body = "    .reg .b32 %c; mov.u32 %c, %ctaid.y; mad.lo.u32 %i, %c, 2, 0; mov.u32 %c, %ctaid.x; add.u32 %i, %i, %c;\n"
    body += f"    mad.wide.u32 %out, %i, {4 * len(specials)}, %out;\n"
    body += "".join(f"    mov.u32 %x, {name}; st.global.u32 [%out+{4 * at}], %x;\n" for at, name in enumerate(specials))
    expected = []
    for y in range(3):
        for x in range(2):
            for at, value in enumerate(specials.values()):
                expected.append((4 * ((2 * y + x) * len(specials) + at), 4, value((x, y, 0))))
    yield case("specials of clusters", body, ["mov.u32"], [], expected, block=1, grid=(2, 3, 1), how=how)

    # warps exchange words through the memory that mapa leads to
    threads = 96
    for arrive, wait_form in (
        ("barrier.cluster.arrive", "barrier.cluster.wait"),
        ("barrier.cluster.arrive.aligned", "barrier.cluster.wait.aligned"),
        ("barrier.cluster.arrive.release.aligned", "barrier.cluster.wait.acquire.aligned"),
        ("barrier.cluster.arrive.relaxed", "barrier.cluster.wait.acquire"),
        ("barrier.cluster.arrive.release", "barrier.cluster.wait"),
        ("barrier.cluster.arrive.relaxed.aligned", "barrier.cluster.wait.aligned"),
    ):
        data = list(range(1000, 1000 + threads))
        body = "    .reg .b64 %own, %far; mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %x, [%a]; mov.u64 %t, area;\n"
        body += "    mad.wide.u32 %own, %i, 4, %t; cvta.shared.u64 %own, %own; mapa.u64 %far, %own, 0;\n    st.u32 [%far], %x;\n"
        body += f"    {arrive};\n    {wait_form};\n    sub.u32 %y, {threads - 1}, %i;\n"
        body += "    cvt.u32.u64 %w, %t; mapa.shared::cluster.u32 %w, %w, 0; mad.lo.u32 %w, %y, 4, %w;\n"
        body += "    ld.shared::cluster.u32 %x, [%w]; mad.wide.u32 %a, %i, 8, %out; st.global.u32 [%a], %x;\n"
        body += "    getctarank.u64 %x, %far; st.global.u32 [%a+4], %x;\n"
        expected = [(8 * i, 4, data[threads - 1 - i]) for i in range(threads)] + [(8 * i + 4, 4, 0) for i in range(threads)]
        forms = [arrive, wait_form, "mapa.u64", "mapa.shared::cluster.u32", "getctarank.u64", "ld.shared::cluster.u32"]
        yield case(f"{arrive} {wait_form}", body, forms, data, expected, SHARED, block=threads, how=how)


def addresses():
    """What leads to shared memory and back: in a cluster of one block every way ends in the block itself."""
    forms = ["cvta.shared::cta.u64", "cvta.shared::cluster.u64", "cvta.to.shared::cta.u64", "cvta.to.shared::cluster.u64", "mapa.u32", "mapa.shared::cluster.u64",
             "getctarank.u32", "getctarank.shared::cluster.u32", "getctarank.shared::cluster.u64", "isspacep.shared::cta", "isspacep.shared::cluster"]
    data = list(range(500, 532))
    body = "    .reg .b64 %own, %far; .local .align 4 .b8 mine[16]; mad.wide.u32 %a, %i, 4, %in; ld.global.u32 %x, [%a]; mov.u64 %t, area; mad.wide.u32 %own, %i, 4, %t;\n"
    body += "    st.shared.u32 [%own], %x; mad.wide.u32 %out, %i, 64, %out;\n"
    at, expected = 0, []

    def show(line, value):
        nonlocal body, at
        body += f"    {line} st.global.u32 [%out+{at}], %x;\n"
        expected.extend((64 * i + at, 4, data[i] if value is None else value) for i in range(32))
        at += 4

    for space in ("shared::cta", "shared::cluster"):
        show(f"cvta.{space}.u64 %far, %own; ld.u32 %x, [%far];", None)
        show(f"cvta.to.{space}.u64 %far, %far; ld.shared.u32 %x, [%far];", None)
    show("cvta.shared.u64 %far, %own; cvt.u32.u64 %w, %far; mapa.u32 %w, %w, 0; cvt.u64.u32 %far, %w; ld.u32 %x, [%far];", None)
    show("getctarank.u32 %x, %w;", 0)
    show("mapa.shared::cluster.u64 %far, %own, 0; ld.shared::cluster.u32 %x, [%far];", None)
    show("getctarank.shared::cluster.u64 %x, %far;", 0)
    show("cvt.u32.u64 %w, %far; getctarank.shared::cluster.u32 %x, %w;", 0)
    for space in ("shared::cta", "shared::cluster"):
        show(f"cvta.shared.u64 %far, %own; isspacep.{space} %p, %far; selp.u32 %x, 1, 0, %p;", 1)
        show(f"isspacep.{space} %p, %in; selp.u32 %x, 1, 0, %p;", 0)
        show(f"mov.u64 %far, mine; cvta.local.u64 %far, %far; isspacep.{space} %p, %far; selp.u32 %x, 1, 0, %p;", 0)
    yield case("addresses of clusters", body, forms, data, expected, SHARED, block=32, how="what PTX says of clusters of one block")


def turns():
    """What takes its turn and changes nothing that a program sees."""
    for form, operands in (
        ("setmaxnreg.inc.sync.aligned.u32", " 232"),
        ("setmaxnreg.dec.sync.aligned.u32", " 24"),
        ("griddepcontrol.launch_dependents", ""),
        ("griddepcontrol.wait", ""),
        ("fence.proxy.async", ""),
        ("fence.proxy.async.global", ""),
        ("fence.proxy.async.shared::cta", ""),
        ("fence.proxy.async.shared::cluster", ""),
        ("fence.proxy.alias", ""),
        ("fence.acq_rel.cluster", ""),
        ("fence.cluster", ""),
        ("fence.acquire.sync_restrict::shared::cluster.cluster", ""),
        ("fence.release.sync_restrict::shared::cta.cluster", ""),
        ("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", ""),
        ("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", ""),
    ):
        body = f"    mad.wide.u32 %out, %i, 4, %out; st.global.u32 [%out], %i;\n    {form}{operands};\n"
        body += "    ld.global.u32 %x, [%out]; add.u32 %x, %x, 3; st.global.u32 [%out], %x;\n"
        yield case(f"{form} takes its turn", body, [form], [], [(4 * i, 4, i + 3) for i in range(32)], block=32, how="the program run in Python")
    for opcode, operands, message in (
        ("setmaxnreg.inc.sync.aligned.u32", " 20", "from 24 to 256"),
    ):
        yield case(f"{opcode}{operands}", f"    {opcode}{operands};\n", [opcode], [], [], out_bytes=8, outcome=REFUSED, message=[message])


def forms():
    for family in (loads, stores, wrong, clusters, addresses, turns):
        yield from family()

# SPDX-License-Identifier: Apache-2.0
"""What pyopencl generates: element-wise kernels, reductions, scans, sorting, random numbers, structures, sub-buffers."""
import numpy as np
import pyopencl as cl
import pyopencl.array as array
import pyopencl.clmath as clmath
import pyopencl.clrandom as clrandom
from pyopencl.algorithm import RadixSort, copy_if
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import InclusiveScanKernel

context = cl.create_some_context(interactive=False)
assert context.devices[0].platform.name == "Heddle"
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
random = np.random.default_rng(5)
done = []


def check(name, right):
    assert right, name
    done.append(name)


a = random.random(3000).astype(np.float32)
b = random.random(3000).astype(np.float32)
on_a, on_b = array.to_device(queue, a), array.to_device(queue, b)
check("arithmetic", np.array_equal((on_a * on_b + 2).get(), a * b + np.float32(2)))
check("slices", np.array_equal(on_a[100:200].get(), a[100:200]))
check("maximum", array.max(on_a).get() == a.max())
check("sum", abs(float(array.sum(on_a).get()) - float(a.sum(dtype=np.float64))) < 1e-2)
check("dot", abs(float(array.dot(on_a, on_b).get()) - float(np.dot(a.astype(np.float64), b))) < 1e-2)
check("sin", np.allclose(clmath.sin(on_a).get(), np.sin(a), rtol=1e-6, atol=1e-7))
check("where", np.array_equal(array.if_positive(on_a - on_b, on_a, on_b).get(), np.where(a > b, a, b)))

combine = ElementwiseKernel(context, "float k, float *x, float *y, float *z", "z[i] = k * x[i] - y[i]", "combine")
on_c = array.empty_like(on_a)
combine(np.float32(3), on_a, on_b, on_c)
check("element-wise", np.allclose(on_c.get(), 3 * a - b, rtol=1e-6, atol=1e-6))

count = ReductionKernel(context, np.int32, neutral="0", reduce_expr="a+b", map_expr="x[i] > 0.5f", arguments="float *x")
check("reduction", int(count(on_a).get()) == int((a > 0.5).sum()))

numbers = random.integers(-1000, 1000, 5000).astype(np.int32)
on_numbers = array.to_device(queue, numbers)
InclusiveScanKernel(context, np.int32, "a+b", neutral="0")(on_numbers)
check("scan", np.array_equal(on_numbers.get(), np.cumsum(numbers, dtype=np.int32)))

keys = random.integers(0, 1 << 16, 4000).astype(np.int32)
sort = RadixSort(context, "int *keys", key_expr="keys[i]", sort_arg_names=["keys"])
(ordered,), _ = sort(array.to_device(queue, keys), key_bits=16)
check("radix sort", np.array_equal(ordered.get(), np.sort(keys)))
kept, length, _ = copy_if(array.to_device(queue, keys), "ary[i] > 30000")
check("copy_if", np.array_equal(kept.get()[: int(length.get())], keys[keys > 30000]))

uniform = clrandom.rand(queue, 10000, np.float32).get()
check("random numbers", 0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.02)

program = cl.Program(context, """
kernel void rows(global const double2 *in, global double *out, local double *part) {
    size_t l = get_local_id(0);
    part[l] = dot(in[get_global_id(0)], (double2)(1, 2));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) { double sum = 0; for (size_t i = 0; i < get_local_size(0); i++) sum += part[i]; out[get_group_id(0)] = sum; }
}""").build()
pairs = random.integers(0, 100, (256, 2)).astype(np.float64)
source = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=pairs)
target = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, 8 * 8)
event = program.rows(queue, (256,), (32,), source, target, cl.LocalMemory(32 * 8))
event.wait()
out = np.empty(8)
cl.enqueue_copy(queue, out, target)
check("local memory", np.array_equal(out, (pairs @ [1, 2]).reshape(8, 32).sum(axis=1)))
check("profiling", event.profile.end > event.profile.start)

print(f"RESULT: pyopencl: {', '.join(done)}")

# SPDX-License-Identifier: Apache-2.0
"""Routines of CLBlast, through its C interface, against numpy: vectors with strides, matrices of odd sizes, transposed."""
import ctypes
import numpy as np
import pyopencl as cl

blast = ctypes.CDLL("libclblast.so.1")
context = cl.create_some_context(interactive=False)
assert context.devices[0].platform.name == "Heddle"
queue = cl.CommandQueue(context)
random = np.random.default_rng(7)
ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112
size, queue_handle, event = ctypes.c_size_t, ctypes.byref(ctypes.c_void_p(queue.int_ptr)), None
done = []


def buffer(array):
    return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)


def handle(memory):
    return ctypes.c_void_p(memory.int_ptr)


def back(memory, like):
    out = np.empty_like(like)
    cl.enqueue_copy(queue, out, memory)
    return out


def check(name, status, got, expected, tolerance):
    assert status == 0, (name, status)
    assert np.allclose(got, expected, rtol=tolerance, atol=tolerance), name
    done.append(name)


def axpy(n, x_step, y_step, kind, name, number):
    x, y = random.random(n * x_step).astype(kind), random.random(n * y_step).astype(kind)
    on_x, on_y = buffer(x), buffer(y)
    status = getattr(blast, name)(size(n), number(1.5), handle(on_x), size(0), size(x_step), handle(on_y), size(0),
                                  size(y_step), queue_handle, event)
    expected = y.copy()
    expected[::y_step] += kind(1.5) * x[::x_step]
    check(f"{name} {n}", status, back(on_y, y), expected, 1e-6)


def gemm(m, n, k, a_turned, b_turned, kind, name, number):
    a = random.random((k, m) if a_turned else (m, k)).astype(kind)
    b = random.random((n, k) if b_turned else (k, n)).astype(kind)
    c = random.random((m, n)).astype(kind)
    on_a, on_b, on_c = buffer(a), buffer(b), buffer(c)
    status = getattr(blast, name)(
        ROW_MAJOR, TRANSPOSED if a_turned else PLAIN, TRANSPOSED if b_turned else PLAIN, size(m), size(n), size(k),
        number(0.5), handle(on_a), size(0), size(a.shape[1]), handle(on_b), size(0), size(b.shape[1]), number(2),
        handle(on_c), size(0), size(n), queue_handle, event)
    expected = 0.5 * (a.T if a_turned else a) @ (b.T if b_turned else b) + 2 * c
    check(f"{name} {m}x{n}x{k}", status, back(on_c, c), expected, 1e-4)


axpy(4096, 1, 1, np.float32, "CLBlastSaxpy", ctypes.c_float)
axpy(1001, 2, 3, np.float32, "CLBlastSaxpy", ctypes.c_float)
axpy(777, 1, 2, np.float64, "CLBlastDaxpy", ctypes.c_double)
gemm(64, 64, 64, False, False, np.float32, "CLBlastSgemm", ctypes.c_float)
gemm(33, 17, 45, True, False, np.float32, "CLBlastSgemm", ctypes.c_float)
gemm(19, 40, 21, False, True, np.float64, "CLBlastDgemm", ctypes.c_double)
print(f"RESULT: CLBlast: {', '.join(done)}")

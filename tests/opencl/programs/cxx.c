/* SPDX-License-Identifier: Apache-2.0 */
/* C++ for OpenCL: classes, templates, references and overloads in kernels, under its standard's name and the one AMD
 * gave it. Only where a device has it. */
#include "program.h"

static const char *const source =
    "template <typename T> class running {\n"
    "    T total;\n"
    "public:\n"
    "    running(T first) : total(first) {}\n"
    "    running &operator+=(const T &more) { total += more; return *this; }\n"
    "    T result() const { return total; }\n"
    "};\n"
    "struct shape {\n"
    "    __global const int *side;\n"
    "    int area(int i) const { return side[i] * side[i]; }\n"
    "};\n"
    "struct deep : public shape { int volume(int i) const { return area(i) * side[i]; } };\n"
    "static int twice(int a) { return 2 * a; }\n"
    "static float twice(float a) { return 2.5f * a; }\n"
    "__kernel void go(__global const int *in, __global int *out, __local int *seen) {\n"
    "    const int i = (int)get_global_id(0), l = (int)get_local_id(0);\n"
    "    seen[l] = in[i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    running<int> sum(0);\n"
    "    running<float> half_(0.5f);\n"
    "    for (int k = 0; k <= l; k++) sum += seen[k], half_ += 0.25f;\n"
    "    deep d;\n"
    "    d.side = in;\n"
    "    auto add = [&](int a) { return a + d.volume(i); };\n"
    "    out[i] = add(sum.result()) + twice(l) + (int)twice(half_.result());\n"
    "}\n";

static bool try_with(const struct gpu *gpu, const char *options) {
    enum { COUNT = 128, GROUP = 64 };
    int in[COUNT], out[COUNT];
    for (int i = 0; i < COUNT; i++)
        in[i] = i * 37 % 101 - 40;
    cl_program program = gpu_build(gpu, source, options);
    cl_kernel go = gpu_kernel(program, "go");
    cl_mem from = gpu_buffer(gpu, CL_MEM_READ_ONLY, sizeof in, in);
    cl_mem to = gpu_buffer(gpu, CL_MEM_READ_WRITE, sizeof out, NULL);
    CHECK(clSetKernelArg(go, 0, sizeof(cl_mem), &from));
    CHECK(clSetKernelArg(go, 1, sizeof(cl_mem), &to));
    CHECK(clSetKernelArg(go, 2, GROUP * sizeof(int), NULL));
    const size_t all = COUNT, group = GROUP;
    CHECK(clEnqueueNDRangeKernel(gpu->queue, go, 1, NULL, &all, &group, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu->queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    bool right = true;
    for (int i = 0, sum = 0; i < COUNT; i++) {
        const int l = i % GROUP;
        sum = l ? sum + in[i] : in[i];
        right &= out[i] == sum + in[i] * in[i] * in[i] + 2 * l + (int)(2.5f * (0.5f + 0.25f * (float)(l + 1)));
    }
    CHECK(clReleaseMemObject(from));
    CHECK(clReleaseMemObject(to));
    CHECK(clReleaseKernel(go));
    CHECK(clReleaseProgram(program));
    return right;
}

int main(void) {
    struct gpu gpu = gpu_open(0);
    char extensions[8192] = "", vendor[256] = "";
    CHECK(clGetDeviceInfo(gpu.device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL));
    CHECK(clGetDeviceInfo(gpu.device, CL_DEVICE_VENDOR, sizeof vendor, vendor, NULL));
    bool right = true;
    if (strstr(extensions, "cl_ext_cxx_for_opencl"))
        right = try_with(&gpu, "-cl-std=CLC++") && try_with(&gpu, "-cl-std=CLC++2021");
    if (strcmp(vendor, "Heddle") == 0)
        right = right && strstr(extensions, "cl_ext_cxx_for_opencl") && try_with(&gpu, "-x clc++ ");
    gpu_close(&gpu);
    return verdict(right);
}

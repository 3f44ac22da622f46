/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory: a search tree that the host builds with pointers, and that kernels search and mark. */
#include "program.h"

struct node {
    struct node *left, *right;
    unsigned key, hits;
};

static const char *const source = "struct node { global struct node *left, *right; uint key, hits; };\n"
                                  "kernel void find(global struct node *root, global const uint *keys,\n"
                                  "                 global struct node *global *found) {\n"
                                  "    const size_t i = get_global_id(0);\n"
                                  "    global struct node *at = root;\n"
                                  "    while (at && at->key != keys[i])\n"
                                  "        at = keys[i] < at->key ? at->left : at->right;\n"
                                  "    if (at)\n"
                                  "        atomic_inc(&at->hits);\n"
                                  "    found[i] = at;\n"
                                  "}\n";

enum { NODES = 255, KEYS = 1024 };

static struct node *plant(struct node *nodes, unsigned from, unsigned to) { /* keys 3, 6, 9... */
    if (from >= to)
        return NULL;
    const unsigned middle = (from + to) / 2;
    nodes[middle] = (struct node){plant(nodes, from, middle), plant(nodes, middle + 1, to), 3 * middle + 3, 0};
    return &nodes[middle];
}

int main(void) {
    struct gpu gpu = gpu_open(0);
    cl_device_svm_capabilities has = 0;
    CHECK(clGetDeviceInfo(gpu.device, CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, NULL));
    if (!(has & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) {
        gpu_close(&gpu);
        puts("shared virtual memory: no");
        return verdict(true);
    }
    const cl_svm_mem_flags fine = has & CL_DEVICE_SVM_FINE_GRAIN_BUFFER ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0;
    struct node *nodes = clSVMAlloc(gpu.context, CL_MEM_READ_WRITE, NODES * sizeof *nodes, 0);
    struct node **found = clSVMAlloc(gpu.context, CL_MEM_READ_WRITE | fine, KEYS * sizeof(struct node *), 64);
    if (!nodes || !found)
        return verdict(false);
    unsigned keys[KEYS], hits = 0;
    for (unsigned i = 0; i < KEYS; i++)
        keys[i] = i;
    CHECK(clEnqueueSVMMap(gpu.queue, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, nodes, NODES * sizeof *nodes, 0, NULL,
                          NULL));
    struct node *root = plant(nodes, 0, NODES);
    CHECK(clEnqueueSVMUnmap(gpu.queue, nodes, 0, NULL, NULL));
    cl_program program = gpu_build(&gpu, source, "-cl-std=CL3.0");
    cl_kernel kernel = gpu_kernel(program, "find");
    cl_mem buffer = gpu_buffer(&gpu, CL_MEM_READ_ONLY, sizeof keys, keys);
    CHECK(clSetKernelArgSVMPointer(kernel, 0, root));
    CHECK(clSetKernelArg(kernel, 1, sizeof buffer, &buffer));
    CHECK(clSetKernelArgSVMPointer(kernel, 2, found));
    void *const used[] = {nodes};
    CHECK(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof used, used));
    const size_t all = KEYS;
    CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL));
    CHECK(clEnqueueSVMMap(gpu.queue, CL_TRUE, CL_MAP_READ, nodes, NODES * sizeof *nodes, 0, NULL, NULL));
    if (!fine)
        CHECK(clEnqueueSVMMap(gpu.queue, CL_TRUE, CL_MAP_READ, found, KEYS * sizeof(struct node *), 0, NULL, NULL));
    bool right = true;
    for (unsigned i = 0; i < KEYS; i++)
        right &= i && i % 3 == 0 && i <= 3 * NODES ? found[i] && found[i]->key == i : !found[i];
    for (unsigned i = 0; i < NODES; i++)
        hits += nodes[i].hits;
    right &= hits == NODES;
    CHECK(clEnqueueSVMUnmap(gpu.queue, nodes, 0, NULL, NULL));
    if (!fine)
        CHECK(clEnqueueSVMUnmap(gpu.queue, found, 0, NULL, NULL));
    void *both[] = {nodes, found};
    CHECK(clEnqueueSVMFree(gpu.queue, 2, both, NULL, NULL, 0, NULL, NULL));
    CHECK(clFinish(gpu.queue));
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return verdict(right);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory: what host and kernels know by one pointer. */
#include "opencl_fixture.h"

static const char *const source = "struct link { global struct link *next; int value; };\n"
                                  "kernel void sum(global struct link *first, global int *out) {\n"
                                  "    int total = 0;\n"
                                  "    for (global struct link *at = first; at; at = at->next)\n"
                                  "        total += at->value, at->value = -at->value;\n"
                                  "    *out = total;\n"
                                  "}\n"
                                  "kernel void chain(global struct link *links, uint count) {\n"
                                  "    const uint i = get_global_id(0);\n"
                                  "    links[i].value = i * i;\n"
                                  "    links[i].next = i + 1 < count ? links + i + 1 : 0;\n"
                                  "}\n"
                                  "kernel void others(global int *out, int number, local int *scratch) {\n"
                                  "    scratch[0] = number;\n"
                                  "    out[0] = scratch[0];\n"
                                  "}\n";

struct link {
    struct link *next;
    int value;
};

static bool is_fine(struct fixture *f) {
    return ASK(cl_device_svm_capabilities, clGetDeviceInfo, f->device, CL_DEVICE_SVM_CAPABILITIES) &
           CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
}

static void *allocate(struct fixture *f, cl_svm_mem_flags flags, size_t bytes) {
    void *pointer = clSVMAlloc(f->context, flags, bytes, 0);
    assert_non_null(pointer);
    return pointer;
}

static void launch(struct fixture *f, cl_kernel kernel, size_t count) {
    OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL));
    OK(clFinish(f->queue));
}

static void devices_say_what_they_have(void **state) {
    struct fixture *f = *state;
    const cl_device_svm_capabilities has =
        ASK(cl_device_svm_capabilities, clGetDeviceInfo, f->device, CL_DEVICE_SVM_CAPABILITIES);
    assert_true(has & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    if (f->is_heddle)
        assert_int_equal(has, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
}

static void allocation(void **state) {
    struct fixture *f = *state;
    const size_t largest = ASK(cl_ulong, clGetDeviceInfo, f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    assert_null(clSVMAlloc(f->context, CL_MEM_READ_WRITE, 0, 0));
    assert_null(clSVMAlloc(f->context, CL_MEM_READ_WRITE, largest + 1, 0));
    assert_null(clSVMAlloc(f->context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, 0));
    assert_null(clSVMAlloc(f->context, CL_MEM_SVM_ATOMICS, 64, 0)); /* of fine-grained memory only */
    assert_null(clSVMAlloc(f->context, CL_MEM_READ_WRITE, 64, 48));
    assert_null(clSVMAlloc(f->context, CL_MEM_READ_WRITE, 64, 1 << 20));
    assert_null(clSVMAlloc(NO_HANDLE(cl_context), CL_MEM_READ_WRITE, 64, 0));
    if (f->is_heddle) {
        assert_null(clSVMAlloc(f->context, CL_MEM_HOST_READ_ONLY, 64, 0));
        assert_null(clSVMAlloc(f->context, CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, 64, 0));
    }
    for (cl_uint align = 1; align <= 128; align *= 2) {
        void *pointer = clSVMAlloc(f->context, 0, 100, align);
        assert_non_null(pointer);
        assert_int_equal((uintptr_t)pointer % align, 0);
        clSVMFree(f->context, pointer);
    }
    void *pointer = allocate(f, CL_MEM_READ_WRITE, 100);
    assert_int_equal((uintptr_t)pointer % 128, 0); /* as for the largest type, when nothing was said */
    clSVMFree(f->context, pointer);
    clSVMFree(f->context, NULL);
}

/* What is given back is there for the next one. */
static void memory_comes_back(void **state) {
    struct fixture *f = *state;
    const size_t bytes = ASK(cl_ulong, clGetDeviceInfo, f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE) / 2;
    for (unsigned i = 0; f->is_heddle && i < 100; i++)
        clSVMFree(f->context, allocate(f, CL_MEM_READ_WRITE, bytes));
}

/* Pointers in memory lead where they lead on the other side. */
static void host_and_kernels_share_pointers(void **state) {
    struct fixture *f = *state;
    enum { COUNT = 64 };
    cl_int code, expected = 0;
    cl_program program = fixture_build(f, source, "-cl-std=CL2.0");
    cl_kernel chain = clCreateKernel(program, "chain", &code), sum = clCreateKernel(program, "sum", &code);
    OK(code);
    struct link *links = allocate(f, CL_MEM_READ_WRITE, COUNT * sizeof *links);
    int *out = allocate(f, is_fine(f) ? CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER : CL_MEM_READ_WRITE, 8);
    const cl_uint count = COUNT;
    OK(clSetKernelArgSVMPointer(chain, 0, links));
    OK(clSetKernelArg(chain, 1, sizeof count, &count));
    launch(f, chain, COUNT);
    OK(clEnqueueSVMMap(f->queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, links, COUNT * sizeof *links, 0, NULL, NULL));
    unsigned found = 0;
    for (struct link *at = links; at; at = at->next, found++) {
        assert_int_equal(at->value, found * found);
        assert_true(!at->next || at->next == at + 1);
    }
    assert_int_equal(found, COUNT);
    for (unsigned i = 0; i < COUNT;
         i++) { /* the other way round, odd ones left out, from the middle of the memory on */
        links[i].next = i >= 2 ? &links[i - 2] : NULL;
        expected += i % 2 ? 0 : links[i].value;
    }
    OK(clEnqueueSVMUnmap(f->queue, links, 0, NULL, NULL));
    OK(clSetKernelArgSVMPointer(sum, 0, &links[COUNT - 2]));
    OK(clSetKernelArgSVMPointer(sum, 1, out + 1));
    void *const used[] = {links, out};
    OK(clSetKernelExecInfo(sum, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof used, used));
    if (is_fine(f))
        out[0] = 77;
    launch(f, sum, 1);
    OK(clEnqueueSVMMap(f->queue, CL_TRUE, CL_MAP_READ, out, 8, 0, NULL, NULL));
    assert_int_equal(out[1], expected);
    assert_true(!is_fine(f) || out[0] == 77);
    OK(clEnqueueSVMUnmap(f->queue, out, 0, NULL, NULL));
    OK(clFinish(f->queue));
    clSVMFree(f->context, links);
    clSVMFree(f->context, out);
    OK(clReleaseKernel(chain));
    OK(clReleaseKernel(sum));
    OK(clReleaseProgram(program));
}

static void arguments(void **state) {
    struct fixture *f = *state;
    cl_int code, other;
    cl_program program = fixture_build(f, source, "-cl-std=CL2.0");
    cl_kernel kernel = clCreateKernel(program, "others", &code);
    OK(code);
    int *out = allocate(f, CL_MEM_READ_WRITE, 64);
    IS(CL_INVALID_ARG_INDEX, clSetKernelArgSVMPointer(kernel, 3, out));
    IS(CL_INVALID_KERNEL, clSetKernelArgSVMPointer(NO_HANDLE(cl_kernel), 0, out));
    IS(CL_INVALID_KERNEL, clSetKernelExecInfo(NO_HANDLE(cl_kernel), CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, &out));
    const cl_bool yes = CL_TRUE, no = CL_FALSE;
    if (f->is_heddle) { /* PoCL is not as strict */
        IS(CL_INVALID_VALUE, clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, NULL));
        IS(CL_INVALID_VALUE, clSetKernelExecInfo(kernel, 0x7777, 8, &out));
        IS(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(kernel, 1, out)); /* a number */
        IS(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(kernel, 2, out)); /* local memory */
        IS(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(kernel, 0, &other));
        IS(CL_INVALID_VALUE, clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 7, &out));
        IS(CL_INVALID_VALUE, clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, &out));
        IS(CL_INVALID_OPERATION,
           clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof yes, &yes));
        OK(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof no, &no));
        OK(clSetKernelArgSVMPointer(kernel, 0, NULL));
    }
    const int number = 42;
    OK(clSetKernelArg(kernel, 1, sizeof number, &number));
    OK(clSetKernelArg(kernel, 2, 64, NULL));
    cl_mem buffer = fixture_buffer(f, 64); /* one after the other: the last one set counts */
    OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    OK(clSetKernelArgSVMPointer(kernel, 0, out + 3));
    launch(f, kernel, 1);
    OK(clEnqueueSVMMap(f->queue, CL_TRUE, CL_MAP_READ, out, 64, 0, NULL, NULL));
    assert_int_equal(out[3], 42);
    OK(clEnqueueSVMUnmap(f->queue, out, 0, NULL, NULL));
    OK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    launch(f, kernel, 1);
    OK(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, &other, 0, NULL, NULL));
    assert_int_equal(other, 42);
    OK(clReleaseMemObject(buffer));
    clSVMFree(f->context, out);
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

static void copies_and_fills(void **state) {
    struct fixture *f = *state;
    enum { BYTES = 256 };
    unsigned char *a = allocate(f, CL_MEM_READ_WRITE, BYTES), *b = allocate(f, CL_MEM_READ_WRITE, BYTES);
    unsigned char host[BYTES], back[BYTES];
    for (unsigned i = 0; i < BYTES; i++)
        host[i] = (unsigned char)(i * 7);
    IS(CL_INVALID_VALUE, clEnqueueSVMMemcpy(f->queue, CL_TRUE, NULL, a, 4, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueSVMMemcpy(f->queue, CL_TRUE, a, NULL, 4, 0, NULL, NULL));
    IS(CL_MEM_COPY_OVERLAP, clEnqueueSVMMemcpy(f->queue, CL_TRUE, a, a + 8, 16, 0, NULL, NULL));
    IS(CL_MEM_COPY_OVERLAP, clEnqueueSVMMemcpy(f->queue, CL_TRUE, a + 8, a, 16, 0, NULL, NULL));
    IS(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMMemcpy(NO_HANDLE(cl_command_queue), CL_TRUE, a, b, 4, 0, NULL, NULL));
    IS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueSVMMemcpy(f->queue, CL_TRUE, a, b, 4, 1, NULL, NULL));
    if (f->is_heddle)
        IS(CL_INVALID_VALUE, clEnqueueSVMMemcpy(f->queue, CL_TRUE, a + 1, host, BYTES, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(f->queue, CL_FALSE, a, host, BYTES, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(f->queue, CL_FALSE, b + 128, a + 16, 128, 0, NULL, NULL));
    OK(clEnqueueSVMMemcpy(f->queue, CL_FALSE, b, a + 8, 8, 0, NULL, NULL));
    const cl_uint pattern = 0x01020304;
    IS(CL_INVALID_VALUE, clEnqueueSVMMemFill(f->queue, NULL, &pattern, 4, 16, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueSVMMemFill(f->queue, b, &pattern, 0, 16, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueSVMMemFill(f->queue, b, &pattern, 3, 15, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueSVMMemFill(f->queue, b + 2, &pattern, 4, 16, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueSVMMemFill(f->queue, b, &pattern, 4, 15, 0, NULL, NULL));
    if (f->is_heddle) { /* PoCL reads the pattern that is not there */
        IS(CL_INVALID_VALUE, clEnqueueSVMMemFill(f->queue, b, NULL, 4, 16, 0, NULL, NULL));
        IS(CL_INVALID_VALUE, clEnqueueSVMMemFill(f->queue, b, &pattern, 4, BYTES + 4, 0, NULL, NULL));
    }
    cl_event filled;
    OK(clEnqueueSVMMemFill(f->queue, b + 8, &pattern, 4, 120, 0, NULL, &filled));
    assert_int_equal(ASK(cl_command_type, clGetEventInfo, filled, CL_EVENT_COMMAND_TYPE), CL_COMMAND_SVM_MEMFILL);
    OK(clEnqueueSVMMemcpy(f->queue, CL_TRUE, back, b, BYTES, 0, NULL, NULL));
    for (unsigned i = 0; i < BYTES; i++)
        assert_int_equal(back[i], i < 8     ? host[i + 8]
                                  : i < 128 ? ((unsigned char[]){4, 3, 2, 1})[i % 4]
                                            : host[i - 112]);
    OK(clReleaseEvent(filled));
    clSVMFree(f->context, a);
    clSVMFree(f->context, b);
}

static void mappings(void **state) {
    struct fixture *f = *state;
    char *bytes = allocate(f, CL_MEM_READ_WRITE, 4096);
    IS(CL_INVALID_VALUE, clEnqueueSVMMap(f->queue, CL_TRUE, CL_MAP_READ, NULL, 16, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueSVMMap(f->queue, CL_TRUE, CL_MAP_READ, bytes, 0, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueSVMUnmap(f->queue, NULL, 0, NULL, NULL));
    IS(CL_INVALID_COMMAND_QUEUE,
       clEnqueueSVMMap(NO_HANDLE(cl_command_queue), CL_TRUE, CL_MAP_READ, bytes, 16, 0, NULL, NULL));
    if (f->is_heddle) {
        IS(CL_INVALID_VALUE, clEnqueueSVMMap(f->queue, CL_TRUE, 1 << 9, bytes, 16, 0, NULL, NULL));
        IS(CL_INVALID_VALUE, clEnqueueSVMMap(f->queue, CL_TRUE, CL_MAP_READ, bytes + 4000, 97, 0, NULL, NULL));
        IS(CL_INVALID_VALUE, clEnqueueSVMUnmap(f->queue, bytes, 0, NULL, NULL)); /* it is not mapped */
    }
    OK(clEnqueueSVMMap(f->queue, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, bytes, 4096, 0, NULL, NULL));
    memset(bytes, 5, 4096);
    cl_event unmapped, mapped;
    OK(clEnqueueSVMUnmap(f->queue, bytes, 0, NULL, &unmapped));
    OK(clEnqueueSVMMap(f->queue, CL_FALSE, CL_MAP_READ, bytes + 100, 10, 1, &unmapped, &mapped));
    OK(clWaitForEvents(1, &mapped));
    assert_int_equal(ASK(cl_command_type, clGetEventInfo, unmapped, CL_EVENT_COMMAND_TYPE), CL_COMMAND_SVM_UNMAP);
    assert_int_equal(ASK(cl_command_type, clGetEventInfo, mapped, CL_EVENT_COMMAND_TYPE), CL_COMMAND_SVM_MAP);
    assert_int_equal(bytes[109], 5);
    OK(clEnqueueSVMUnmap(f->queue, bytes + 100, 0, NULL, NULL));
    OK(clFinish(f->queue));
    OK(clReleaseEvent(mapped));
    OK(clReleaseEvent(unmapped));
    clSVMFree(f->context, bytes);
}

static void migration(void **state) {
    struct fixture *f = *state;
    char *bytes = allocate(f, CL_MEM_READ_WRITE, 4096);
    const void *pointers[] = {bytes, bytes + 64};
    const size_t sizes[] = {0, 128}, too_many[] = {0, 4096};
    IS(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(f->queue, 0, pointers, NULL, 0, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(f->queue, 1, NULL, NULL, 0, 0, NULL, NULL));
    if (f->is_heddle)
        IS(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(f->queue, 2, pointers, too_many, 0, 0, NULL, NULL));
    OK(clEnqueueSVMMigrateMem(f->queue, 1, pointers, NULL, 0, 0, NULL, NULL));
    OK(clEnqueueSVMMigrateMem(f->queue, 2, pointers, sizes, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    OK(clFinish(f->queue));
    clSVMFree(f->context, bytes);
}

static cl_context freeing_context;
static void CL_CALLBACK free_all(cl_command_queue queue, cl_uint count, void *pointers[], void *user) {
    (void)queue;
    for (cl_uint i = 0; i < count; i++)
        clSVMFree(freeing_context, pointers[i]);
    *(cl_uint *)user += count;
}

static void commands_free(void **state) {
    struct fixture *f = *state;
    static cl_uint freed;
    void *pointers[] = {allocate(f, 0, 64), allocate(f, 0, 64), allocate(f, 0, 64)};
    cl_event event;
    freed = 0;
    freeing_context = f->context;
    IS(CL_INVALID_VALUE, clEnqueueSVMFree(f->queue, 0, pointers, NULL, NULL, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueSVMFree(f->queue, 1, NULL, NULL, NULL, 0, NULL, NULL));
    IS(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMFree(NO_HANDLE(cl_command_queue), 1, pointers, NULL, NULL, 0, NULL, NULL));
    OK(clEnqueueSVMFree(f->queue, 1, pointers, NULL, NULL, 0, NULL, NULL));
    OK(clEnqueueSVMFree(f->queue, 2, pointers + 1, free_all, &freed, 0, NULL, &event));
    pointers[1] = pointers[2] = NULL; /* they were copied */
    OK(clFinish(f->queue));
    assert_int_equal(freed, 2);
    assert_int_equal(ASK(cl_command_type, clGetEventInfo, event, CL_EVENT_COMMAND_TYPE), CL_COMMAND_SVM_FREE);
    OK(clReleaseEvent(event));
    for (unsigned i = 0; f->is_heddle && i < 3; i++) /* the next ones are where they were */
        assert_ptr_equal(pointers[0],
                         (pointers[1] = allocate(f, 0, 64), clSVMFree(f->context, pointers[1]), pointers[1]));
}

/* A buffer may lie in shared memory: one memory, two names. */
static void buffers_over_shared_memory(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_uint *words = allocate(f, CL_MEM_READ_WRITE, 1024);
    if (f->is_heddle)
        REFUSED(CL_INVALID_BUFFER_SIZE,
                clCreateBuffer(f->context, CL_MEM_USE_HOST_PTR, 1024, (char *)words + 128, &code));
    cl_mem buffer = clCreateBuffer(f->context, CL_MEM_USE_HOST_PTR, 1024, words, &code);
    OK(code);
    cl_mem plain = fixture_buffer(f, 64);
    assert_int_equal(ASK(cl_bool, clGetMemObjectInfo, buffer, CL_MEM_USES_SVM_POINTER), CL_TRUE);
    assert_int_equal(ASK(cl_bool, clGetMemObjectInfo, plain, CL_MEM_USES_SVM_POINTER), CL_FALSE);
    const cl_uint pattern = 9, other = 11;
    OK(clEnqueueFillBuffer(f->queue, buffer, &pattern, 4, 0, 1024, 0, NULL, NULL));
    cl_uint *view =
        clEnqueueMapBuffer(f->queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 256, 64, 0, NULL, NULL, &code);
    OK(code);
    assert_ptr_equal(view, words + 64);
    assert_int_equal(view[0], 9);
    view[1] = 10;
    OK(clEnqueueUnmapMemObject(f->queue, buffer, view, 0, NULL, NULL));
    OK(clEnqueueSVMMemFill(f->queue, words + 66, &other, 4, 4, 0, NULL, NULL));
    cl_uint back[3];
    OK(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 256, sizeof back, back, 0, NULL, NULL));
    assert_int_equal(back[0], 9);
    assert_int_equal(back[1], 10);
    assert_int_equal(back[2], 11);
    OK(clReleaseMemObject(plain));
    OK(clReleaseMemObject(buffer));
    OK(clEnqueueSVMMemcpy(f->queue, CL_TRUE, back, words, 4, 0, NULL, NULL)); /* it outlives the buffer */
    assert_int_equal(back[0], 9);
    clSVMFree(f->context, words);
}

/* Commands on memory that was given back before their turn end with an error, and the device goes on. */
static void commands_come_too_late(void **state) {
    struct fixture *f = *state;
    cl_int code;
    if (!f->is_heddle)
        return;
    char *bytes = allocate(f, 0, 64), *others = allocate(f, 0, 64);
    cl_event go = clCreateUserEvent(f->context, &code), copy, fill;
    OK(code);
    OK(clEnqueueSVMMemcpy(f->unordered, CL_FALSE, others, bytes, 64, 1, &go, &copy));
    OK(clEnqueueSVMMemFill(f->unordered, bytes, "x", 1, 64, 1, &go, &fill));
    clSVMFree(f->context, bytes);
    OK(clSetUserEventStatus(go, CL_COMPLETE));
    OK(clFinish(f->unordered));
    assert_int_equal(status_of(copy), CL_OUT_OF_RESOURCES);
    assert_int_equal(status_of(fill), CL_OUT_OF_RESOURCES);
    OK(clEnqueueSVMMemFill(f->queue, others, "y", 1, 64, 0, NULL, NULL));
    OK(clFinish(f->queue));
    assert_int_equal(others[63], 'y');
    OK(clReleaseEvent(go));
    OK(clReleaseEvent(copy));
    OK(clReleaseEvent(fill));
    clSVMFree(f->context, others);
}

static char said[512];
static void CL_CALLBACK on_word(const char *message, const void *data, size_t bytes, void *user) {
    (void)data, (void)bytes, (void)user;
    snprintf(said, sizeof said, "%s", message);
}

/* Addresses of the host are the device's in one context at a time. */
static void a_second_context_is_refused(void **state) {
    struct fixture *f = *state;
    cl_int code;
    if (!f->is_heddle)
        return;
    said[0] = '\0';
    cl_context second = clCreateContext(NULL, 1, &f->device, on_word, NULL, &code);
    OK(code);
    assert_null(clSVMAlloc(second, CL_MEM_READ_WRITE, 64, 0));
    assert_non_null(strstr(said, "clSVMAlloc is refused"));
    cl_mem buffer = clCreateBuffer(second, CL_MEM_READ_WRITE, 64, NULL, &code); /* all else is as ever */
    OK(code);
    OK(clReleaseMemObject(buffer));
    OK(clReleaseContext(second));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_say_what_they_have),
        cmocka_unit_test(allocation),
        cmocka_unit_test(memory_comes_back),
        cmocka_unit_test(host_and_kernels_share_pointers),
        cmocka_unit_test(arguments),
        cmocka_unit_test(copies_and_fills),
        cmocka_unit_test(mappings),
        cmocka_unit_test(migration),
        cmocka_unit_test(commands_free),
        cmocka_unit_test(buffers_over_shared_memory),
        cmocka_unit_test(commands_come_too_late),
        cmocka_unit_test(a_second_context_is_refused),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}

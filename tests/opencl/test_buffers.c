/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers and what moves their bytes. */
#include "opencl_fixture.h"

static unsigned ended;
static void CL_CALLBACK on_end(cl_mem memory, void *user) {
    (void)memory;
    ended = ended * 10 + *(unsigned *)user;
}

static void creation(void **state) {
    struct fixture *f = *state;
    cl_int code;
    char host[64] = "contents";
    REFUSED(CL_INVALID_BUFFER_SIZE, clCreateBuffer(f->context, CL_MEM_READ_WRITE, 0, NULL, &code));
    const size_t largest = ASK(cl_ulong, clGetDeviceInfo, f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    REFUSED(CL_INVALID_BUFFER_SIZE, clCreateBuffer(f->context, CL_MEM_READ_WRITE, largest + 1, NULL, &code));
    REFUSED(CL_INVALID_HOST_PTR, clCreateBuffer(f->context, CL_MEM_USE_HOST_PTR, 64, NULL, &code));
    REFUSED(CL_INVALID_HOST_PTR, clCreateBuffer(f->context, CL_MEM_READ_WRITE, 64, host, &code));
    REFUSED(CL_INVALID_VALUE, clCreateBuffer(f->context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, NULL, &code));
    REFUSED(CL_INVALID_VALUE,
            clCreateBuffer(f->context, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 64, NULL, &code));
    REFUSED(CL_INVALID_VALUE, clCreateBuffer(f->context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, host, &code));
    REFUSED(CL_INVALID_VALUE, clCreateBuffer(f->context, (cl_mem_flags)1 << 50, 64, NULL, &code));
    cl_mem buffer = clCreateBuffer(f->context, CL_MEM_COPY_HOST_PTR, sizeof host, host, &code);
    OK(code);
    host[0] = 'X';
    char back[64] = "";
    OK(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof back, back, 0, NULL, NULL));
    assert_string_equal(back, "contents");
    assert_int_equal(ASK(cl_mem_object_type, clGetMemObjectInfo, buffer, CL_MEM_TYPE), CL_MEM_OBJECT_BUFFER);
    assert_int_equal(ASK(size_t, clGetMemObjectInfo, buffer, CL_MEM_SIZE), 64);
    assert_true(ASK(cl_mem_flags, clGetMemObjectInfo, buffer, CL_MEM_FLAGS) & CL_MEM_COPY_HOST_PTR);
    assert_int_equal(ASK(cl_uint, clGetMemObjectInfo, buffer, CL_MEM_MAP_COUNT), 0);
    assert_int_equal(ASK(cl_uint, clGetMemObjectInfo, buffer, CL_MEM_REFERENCE_COUNT), 1);
    assert_ptr_equal(ASK(cl_context, clGetMemObjectInfo, buffer, CL_MEM_CONTEXT), f->context);
    assert_null(ASK(cl_mem, clGetMemObjectInfo, buffer, CL_MEM_ASSOCIATED_MEMOBJECT));
    assert_int_equal(ASK(size_t, clGetMemObjectInfo, buffer, CL_MEM_OFFSET), 0);
    IS(CL_INVALID_VALUE, clGetMemObjectInfo(buffer, 0x1, 0, NULL, NULL));
    static unsigned one = 1, two = 2;
    ended = 0;
    OK(clSetMemObjectDestructorCallback(buffer, on_end, &one));
    OK(clSetMemObjectDestructorCallback(buffer, on_end, &two));
    IS(CL_INVALID_VALUE, clSetMemObjectDestructorCallback(buffer, NULL, NULL));
    OK(clRetainMemObject(buffer));
    OK(clReleaseMemObject(buffer));
    assert_int_equal(ended, 0);
    OK(clReleaseMemObject(buffer));
    assert_int_equal(ended, 21);
    buffer = clCreateBufferWithProperties(f->context, NULL, CL_MEM_READ_ONLY, 16, NULL, &code);
    OK(code);
    OK(clReleaseMemObject(buffer));
    const cl_mem_properties wrong[] = {77, 1, 0};
    if (f->is_heddle)
        REFUSED(CL_INVALID_PROPERTY,
                clCreateBufferWithProperties(f->context, wrong, CL_MEM_READ_ONLY, 16, NULL, &code));
}

static void sub_buffers(void **state) {
    struct fixture *f = *state;
    cl_int code;
    const size_t align = ASK(cl_uint, clGetDeviceInfo, f->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    cl_mem buffer = clCreateBuffer(f->context, CL_MEM_READ_ONLY, 4 * align, NULL, &code);
    OK(code);
    cl_buffer_region region = {align, align};
    REFUSED(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, &code));
    REFUSED(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, 0x1, &region, &code));
    REFUSED(CL_INVALID_VALUE,
            clCreateSubBuffer(buffer, CL_MEM_WRITE_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    const cl_buffer_region none = {0, 0}, outside = {3 * align, 2 * align}, crooked = {1, align};
    REFUSED(CL_INVALID_BUFFER_SIZE, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &none, &code));
    REFUSED(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &outside, &code));
    REFUSED(CL_MISALIGNED_SUB_BUFFER_OFFSET,
            clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &crooked, &code));
    cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    OK(code);
    assert_ptr_equal(ASK(cl_mem, clGetMemObjectInfo, part, CL_MEM_ASSOCIATED_MEMOBJECT), buffer);
    assert_int_equal(ASK(size_t, clGetMemObjectInfo, part, CL_MEM_OFFSET), align);
    assert_int_equal(ASK(size_t, clGetMemObjectInfo, part, CL_MEM_SIZE), align);
    REFUSED(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(part, 0, CL_BUFFER_CREATE_TYPE_REGION, &none, &code));
    const unsigned value = 0xabcd1234;
    unsigned back = 0;
    OK(clReleaseMemObject(buffer)); /* the part keeps it */
    OK(clEnqueueWriteBuffer(f->queue, part, CL_TRUE, 8, 4, &value, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(f->queue, part, CL_TRUE, 8, 4, &back, 0, NULL, NULL));
    assert_int_equal(back, value);
    IS(CL_INVALID_VALUE, clEnqueueReadBuffer(f->queue, part, CL_TRUE, align - 2, 4, &back, 0, NULL, NULL));
    OK(clReleaseMemObject(part));
}

/* What a part does not say comes from its buffer, for the device and for the host. */
static void parts_inherit_flags(void **state) {
    struct fixture *f = *state;
    cl_int code;
    const size_t align = ASK(cl_uint, clGetDeviceInfo, f->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    const cl_buffer_region region = {0, align};
    static const cl_mem_flags of_host[] = {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY};
    unsigned word = 0;
    for (unsigned i = 0; i < 3; i++) {
        cl_mem buffer = clCreateBuffer(f->context, CL_MEM_READ_ONLY | of_host[i], 2 * align, NULL, &code);
        OK(code);
        cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
        OK(code);
        assert_int_equal(ASK(cl_mem_flags, clGetMemObjectInfo, part, CL_MEM_FLAGS), CL_MEM_READ_ONLY | of_host[i]);
        IS(of_host[i] == CL_MEM_HOST_READ_ONLY ? CL_SUCCESS : CL_INVALID_OPERATION,
           clEnqueueReadBuffer(f->queue, part, CL_TRUE, 0, 4, &word, 0, NULL, NULL));
        IS(of_host[i] == CL_MEM_HOST_WRITE_ONLY ? CL_SUCCESS : CL_INVALID_OPERATION,
           clEnqueueWriteBuffer(f->queue, part, CL_TRUE, 0, 4, &word, 0, NULL, NULL));
        OK(clReleaseMemObject(part));
        OK(clReleaseMemObject(buffer));
    }
}

static void read_and_write(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_mem buffer = fixture_buffer(f, 256);
    unsigned char bytes[256];
    IS(CL_INVALID_VALUE, clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 200, 57, bytes, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueWriteBuffer(f->queue, buffer, CL_TRUE, 257, 1, bytes, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, NULL, 0, NULL, NULL));
    IS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, bytes, 1, NULL, NULL));
    cl_event none = NULL;
    IS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, bytes, 1, &none, NULL));
    for (unsigned i = 0; i < 256; i++)
        bytes[i] = (unsigned char)i;
    OK(clEnqueueWriteBuffer(f->queue, buffer, CL_FALSE, 0, 256, bytes, 0, NULL, NULL));
    unsigned char back[16] = {0};
    cl_event event;
    OK(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 100, 16, back, 0, NULL, &event));
    assert_memory_equal(back, bytes + 100, 16);
    assert_int_equal(status_of(event), CL_COMPLETE);
    assert_int_equal(ASK(cl_command_type, clGetEventInfo, event, CL_EVENT_COMMAND_TYPE), CL_COMMAND_READ_BUFFER);
    OK(clReleaseEvent(event));
    cl_mem closed = clCreateBuffer(f->context, CL_MEM_HOST_NO_ACCESS, 16, NULL, &code);
    OK(code);
    IS(CL_INVALID_OPERATION, clEnqueueReadBuffer(f->queue, closed, CL_TRUE, 0, 4, back, 0, NULL, NULL));
    IS(CL_INVALID_OPERATION, clEnqueueWriteBuffer(f->queue, closed, CL_TRUE, 0, 4, back, 0, NULL, NULL));
    REFUSED(CL_INVALID_OPERATION,
            clEnqueueMapBuffer(f->queue, closed, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &code));
    OK(clReleaseMemObject(closed));
    cl_context other = clCreateContext(NULL, 1, &f->device, NULL, NULL, &code);
    OK(code);
    cl_mem foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, 16, NULL, &code);
    OK(code);
    IS(CL_INVALID_CONTEXT, clEnqueueReadBuffer(f->queue, foreign, CL_TRUE, 0, 4, back, 0, NULL, NULL));
    OK(clReleaseMemObject(foreign));
    OK(clReleaseContext(other));
    OK(clReleaseMemObject(buffer));
}

static void copy_and_fill(void **state) {
    struct fixture *f = *state;
    cl_mem a = fixture_buffer(f, 64), b = fixture_buffer(f, 64);
    const unsigned pattern = 0x01020304;
    unsigned back[16];
    OK(clEnqueueFillBuffer(f->queue, a, &pattern, 4, 0, 64, 0, NULL, NULL));
    OK(clEnqueueFillBuffer(f->queue, b, "\0", 1, 0, 64, 0, NULL, NULL));
    OK(clEnqueueCopyBuffer(f->queue, a, b, 8, 16, 32, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(f->queue, b, CL_TRUE, 0, 64, back, 0, NULL, NULL));
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(back[i], i >= 4 && i < 12 ? pattern : 0);
    IS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(f->queue, a, a, 0, 8, 16, 0, NULL, NULL));
    OK(clEnqueueCopyBuffer(f->queue, a, a, 0, 32, 32, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueCopyBuffer(f->queue, a, b, 60, 0, 8, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueCopyBuffer(f->queue, a, b, 0, 60, 8, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueFillBuffer(f->queue, a, &pattern, 3, 0, 12, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueFillBuffer(f->queue, a, &pattern, 4, 2, 8, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueFillBuffer(f->queue, a, &pattern, 4, 0, 6, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueFillBuffer(f->queue, a, &pattern, 4, 64, 4, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueFillBuffer(f->queue, a, NULL, 4, 0, 4, 0, NULL, NULL));
    cl_mem both[] = {a, b};
    OK(clEnqueueMigrateMemObjects(f->queue, 2, both, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(f->queue, 0, both, 0, 0, NULL, NULL));
    OK(clFinish(f->queue));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
}

/* A box of 3 x 2 x 2 bytes in a buffer of 8 x 4 x 4, there and back, against the same by hand. */
static void boxes(void **state) {
    struct fixture *f = *state;
    cl_mem a = fixture_buffer(f, 128), b = fixture_buffer(f, 128);
    unsigned char host[128], back[128], expected[128];
    for (unsigned i = 0; i < 128; i++)
        host[i] = (unsigned char)(i + 1);
    const size_t at[] = {2, 1, 1}, zero[] = {0, 0, 0}, region[] = {3, 2, 2}, no_region[] = {3, 0, 2};
    OK(clEnqueueFillBuffer(f->queue, a, "\0", 1, 0, 128, 0, NULL, NULL));
    OK(clEnqueueFillBuffer(f->queue, b, "\0", 1, 0, 128, 0, NULL, NULL));
    OK(clEnqueueWriteBufferRect(f->queue, a, CL_TRUE, at, zero, region, 8, 32, 5, 10, host, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(f->queue, a, CL_TRUE, 0, 128, back, 0, NULL, NULL));
    memset(expected, 0, sizeof expected);
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 2; y++)
            memcpy(expected + (z + 1) * 32 + (y + 1) * 8 + 2, host + z * 10 + y * 5, 3);
    assert_memory_equal(back, expected, 128);
    OK(clEnqueueCopyBufferRect(f->queue, a, b, at, zero, region, 8, 32, 0, 0, 0, NULL, NULL));
    memset(back, 0xee, sizeof back);
    OK(clEnqueueReadBufferRect(f->queue, b, CL_TRUE, zero, at, region, 0, 0, 8, 32, back, 0, NULL, NULL));
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(back[i], expected[i] ? expected[i] : 0xee);
    IS(CL_INVALID_VALUE,
       clEnqueueReadBufferRect(f->queue, b, CL_TRUE, zero, at, no_region, 0, 0, 8, 32, back, 0, NULL, NULL));
    IS(CL_INVALID_VALUE,
       clEnqueueReadBufferRect(f->queue, b, CL_TRUE, zero, at, region, 2, 0, 8, 32, back, 0, NULL, NULL));
    IS(CL_INVALID_VALUE,
       clEnqueueWriteBufferRect(f->queue, b, CL_TRUE, at, zero, region, 64, 128, 8, 32, back, 0, NULL, NULL));
    IS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBufferRect(f->queue, a, a, at, zero, region, 8, 32, 8, 32, 0, NULL, NULL));
    const size_t beside[] = {5, 1, 1};
    OK(clEnqueueCopyBufferRect(f->queue, a, a, at, beside, region, 8, 32, 8, 32, 0, NULL, NULL));
    OK(clFinish(f->queue));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
}

static void map_and_unmap(void **state) {
    struct fixture *f = *state;
    cl_int code;
    static _Alignas(4096) char host[4096] = "in the program's memory";
    for (unsigned use_host = 0; use_host < 2; use_host++) {
        cl_mem buffer = use_host ? clCreateBuffer(f->context, CL_MEM_USE_HOST_PTR, sizeof host, host, &code)
                                 : clCreateBuffer(f->context, CL_MEM_ALLOC_HOST_PTR, sizeof host, NULL, &code);
        OK(code);
        REFUSED(CL_INVALID_VALUE,
                clEnqueueMapBuffer(f->queue, buffer, CL_TRUE, CL_MAP_READ, 4096, 1, 0, NULL, NULL, &code));
        if (f->is_heddle)
            REFUSED(CL_INVALID_VALUE,
                    clEnqueueMapBuffer(f->queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 1, 0,
                                       NULL, NULL, &code));
        char *view = clEnqueueMapBuffer(f->queue, buffer, CL_TRUE, CL_MAP_WRITE, 16, 64, 0, NULL, NULL, &code);
        OK(code);
        if (use_host)
            assert_ptr_equal(view, host + 16);
        assert_int_equal(ASK(cl_uint, clGetMemObjectInfo, buffer, CL_MEM_MAP_COUNT), 1);
        strcpy(view, "written by the host");
        cl_event event;
        OK(clEnqueueUnmapMemObject(f->queue, buffer, view, 0, NULL, &event));
        OK(clWaitForEvents(1, &event));
        assert_int_equal(ASK(cl_command_type, clGetEventInfo, event, CL_EVENT_COMMAND_TYPE),
                         CL_COMMAND_UNMAP_MEM_OBJECT);
        OK(clReleaseEvent(event));
        assert_int_equal(ASK(cl_uint, clGetMemObjectInfo, buffer, CL_MEM_MAP_COUNT), 0);
        IS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(f->queue, buffer, view, 0, NULL, NULL));
        char back[64];
        OK(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 16, 64, back, 0, NULL, NULL));
        assert_string_equal(back, "written by the host");
        OK(clEnqueueWriteBuffer(f->queue, buffer, CL_TRUE, 16, 6, "device", 0, NULL, NULL));
        view = clEnqueueMapBuffer(f->queue, buffer, CL_TRUE, CL_MAP_READ, 16, 64, 0, NULL, NULL, &code);
        OK(code);
        assert_string_equal(view, "devicen by the host");
        OK(clEnqueueUnmapMemObject(f->queue, buffer, view, 0, NULL, NULL));
        OK(clFinish(f->queue));
        OK(clReleaseMemObject(buffer));
    }
}

/* Far more than the device has, one after another. */
static void memory_comes_back(void **state) {
    struct fixture *f = *state;
    cl_int code;
    const size_t bytes = (size_t)64 << 20;
    for (unsigned i = 0; i < 2000; i++) {
        cl_mem buffer = clCreateBuffer(f->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
        OK(code);
        OK(clReleaseMemObject(buffer));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creation),       cmocka_unit_test(sub_buffers),       cmocka_unit_test(parts_inherit_flags),
        cmocka_unit_test(read_and_write), cmocka_unit_test(copy_and_fill),     cmocka_unit_test(boxes),
        cmocka_unit_test(map_and_unmap),  cmocka_unit_test(memory_comes_back),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}

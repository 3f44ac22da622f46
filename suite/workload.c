/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t random_start;

static const char *const size_names[SIZE_COUNT] = {"test", "medium", "paper"};

void workload_check(cl_int code, const char *call) {
    if (code == CL_SUCCESS)
        return;
    fprintf(stderr, "%s gives error %d\n", call, (int)code);
    exit(2);
}

static void *get_memory(size_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory) {
        fprintf(stderr, "no memory for %zu elements of %zu bytes\n", count, bytes);
        exit(2);
    }
    return memory;
}

static void count_object(size_t *count) {
    if (++*count > WORKLOAD_OBJECTS) {
        fprintf(stderr, "more than %d buffers or arrays\n", (int)WORKLOAD_OBJECTS);
        exit(2);
    }
}

void *workload_alloc(struct workload *w, size_t count, size_t bytes) {
    count_object(&w->memory_count);
    return w->memory[w->memory_count - 1] = get_memory(count, bytes);
}

static void give_back(struct workload *w) {
    while (w->buffer_count)
        CL(clReleaseMemObject(w->buffers[--w->buffer_count]));
    while (w->memory_count)
        free(w->memory[--w->memory_count]);
    CL(clReleaseProgram(w->program));
    CL(clReleaseCommandQueue(w->queue));
    CL(clReleaseContext(w->context));
}

/* ---- the program ---- */

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    long length = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        length = ftell(file);
    char *text = length >= 0 ? get_memory((size_t)length + 1, 1) : NULL;
    if (!text || fseek(file, 0, SEEK_SET) || fread(text, 1, (size_t)length, file) != (size_t)length) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    return text;
}

/* NAME.cl, or what --kernel names. Its first line says what the compiler shall call it. */
static void build(struct workload *w, const char *options) {
    char line[256];
    cl_int code;
    snprintf(line, sizeof line, "#line 1 \"%s.cl\"\n", w->name);
    char *text = read_text(w->path);
    w->program = clCreateProgramWithSource(w->context, 2, (const char *[]){line, text}, NULL, &code);
    CL(code);
    code = clBuildProgram(w->program, 1, &w->device, options ? options : "", NULL, NULL);
    if (code != CL_SUCCESS) {
        char *log = get_memory(1 << 16, 1);
        clGetProgramBuildInfo(w->program, w->device, CL_PROGRAM_BUILD_LOG, (1 << 16) - 1, log, NULL);
        fputs(log, stderr);
        free(log);
    }
    CL(code);
    free(text);
}

static void open_device(struct workload *w) {
    cl_platform_id platform;
    cl_int code;
    CL(clGetPlatformIDs(1, &platform, NULL));
    CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &w->device, NULL));
    w->context = clCreateContext(NULL, 1, &w->device, NULL, NULL, &code);
    CL(code);
    w->queue = clCreateCommandQueue(w->context, w->device, 0, &code);
    CL(code);
}

/* The first numbers of seed N's own generator: where inputs start, and what lies before all buffers, in pieces of 256 bytes. */
static void apply_seed(struct workload *w) {
    enum { PIECES = 4096, PIECE_BYTES = 256 };
    struct random r = {w->seed};
    if (w->seed == 1)
        return;
    const uint64_t start = random_u64(&r);
    workload_untouched_buffer(w, PIECE_BYTES * (size_t)(1 + random_below(&r, PIECES)));
    random_start = start;
}

static bool parse_seed(const char *text, uint64_t *seed) {
    char *end;
    *seed = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end;
}

static bool parse_size(const char *text, enum size *size) {
    for (unsigned i = 0; i < SIZE_COUNT; i++)
        if (strcmp(text, size_names[i]) == 0) {
            *size = (enum size)i;
            return true;
        }
    return false;
}

/* In share/heddle: of the build that this program is in, or of the prefix it was installed under. */
static void find_kernel(char *path, size_t bytes, const char *name) {
    char here[2048];
    const ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
    here[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(here, '/');
    if (slash)
        *slash = '\0';
    snprintf(path, bytes, "%s/../share/heddle/suite/%s/%s.cl", here, name, name);
    if (access(path, R_OK) != 0)
        snprintf(path, bytes, "%s/../../share/heddle/suite/%s/%s.cl", here, name, name);
}

int workload_main(int argc, char **argv, const char *name, const char *options, void (*body)(struct workload *w)) {
    char path[4096];
    struct workload w = {.size = SIZE_TEST, .seed = 1, .name = name, .path = path};
    bool good = true;
    find_kernel(path, sizeof path, name);
    for (int i = 1; i < argc && good; i += 2) {
        good = i + 1 < argc;
        if (good && strcmp(argv[i], "--size") == 0)
            good = parse_size(argv[i + 1], &w.size);
        else if (good && strcmp(argv[i], "--seed") == 0)
            good = parse_seed(argv[i + 1], &w.seed);
        else if (good && strcmp(argv[i], "--kernel") == 0)
            good = snprintf(path, sizeof path, "%s", argv[i + 1]) < (int)sizeof path;
        else
            good = false;
    }
    if (!good) {
        fprintf(stderr, "usage: %s [--size test|medium|paper] [--seed N] [--kernel FILE.cl]\n", name);
        return 2;
    }
    open_device(&w);
    build(&w, options);
    apply_seed(&w);
    body(&w);
    give_back(&w);
    printf("%s, %s: %s\n", name, size_names[w.size], w.wrong ? "wrong" : "right");
    return w.wrong ? 1 : 0;
}

/* ---- on the device ---- */

static cl_mem create_buffer(struct workload *w, cl_mem_flags flags, size_t bytes, const void *from) {
    cl_int code;
    cl_mem buffer = clCreateBuffer(w->context, CL_MEM_READ_WRITE | flags, bytes, (void *)(uintptr_t)from, &code);
    CL(code);
    count_object(&w->buffer_count);
    w->buffers[w->buffer_count - 1] = buffer;
    return buffer;
}

cl_mem workload_buffer(struct workload *w, size_t bytes, const void *from) {
    void *zeroes = from ? NULL : get_memory(bytes, 1);
    cl_mem buffer = create_buffer(w, CL_MEM_COPY_HOST_PTR, bytes, from ? from : zeroes);
    free(zeroes);
    return buffer;
}

cl_mem workload_untouched_buffer(struct workload *w, size_t bytes) { return create_buffer(w, 0, bytes, NULL); }

void workload_write_at(struct workload *w, cl_mem buffer, size_t offset, size_t bytes, const void *from) {
    CL(clEnqueueWriteBuffer(w->queue, buffer, CL_TRUE, offset, bytes, from, 0, NULL, NULL));
}

void workload_write(struct workload *w, cl_mem buffer, size_t bytes, const void *from) {
    workload_write_at(w, buffer, 0, bytes, from);
}

void workload_read(struct workload *w, cl_mem buffer, size_t bytes, void *to) {
    CL(clEnqueueReadBuffer(w->queue, buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}

void workload_enqueue(struct workload *w, const char *kernel, cl_uint dimensions, const size_t *global,
                      const size_t *local, const struct argument *arguments, size_t count) {
    cl_int code;
    cl_kernel handle = clCreateKernel(w->program, kernel, &code);
    CL(code);
    for (size_t i = 0; i < count; i++)
        CL(clSetKernelArg(handle, (cl_uint)i, arguments[i].bytes, arguments[i].value));
    CL(clEnqueueNDRangeKernel(w->queue, handle, dimensions, NULL, global, local, 0, NULL, NULL));
    CL(clReleaseKernel(handle));
}

size_t workload_block(struct workload *w, size_t most) {
    size_t largest, parts = 1;
    CL(clGetDeviceInfo(w->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof largest, &largest, NULL));
    while (largest % parts || largest / parts > most)
        parts++;
    return largest / parts;
}

size_t workload_warp_block(struct workload *w, const char *kernel, size_t block, size_t threads) {
    size_t multiple, most;
    cl_int code;
    cl_kernel handle = clCreateKernel(w->program, kernel, &code);
    CL(code);
    CL(clGetKernelWorkGroupInfo(handle, w->device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple,
                                &multiple, NULL));
    CL(clGetKernelWorkGroupInfo(handle, w->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    CL(clReleaseKernel(handle));
    return multiple <= block || multiple > most || threads % multiple ? block : multiple;
}

uint32_t workload_sms(struct workload *w) {
    cl_uint units;
    CL(clGetDeviceInfo(w->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    return units;
}

void workload_rebuild(struct workload *w, const char *options) {
    CL(clReleaseProgram(w->program));
    build(w, options);
}

/* ---- right or wrong ---- */

void workload_expect(struct workload *w, bool holds, const char *what) {
    if (!holds)
        fprintf(stderr, "wrong: %s\n", what);
    w->wrong |= !holds;
}

void workload_equal_u32(struct workload *w, const char *what, const uint32_t *got, const uint32_t *expected,
                        size_t count) {
    for (size_t i = 0; i < count; i++)
        if (got[i] != expected[i]) {
            fprintf(stderr, "wrong: %s[%zu] is %u, expected %u\n", what, i, (unsigned)got[i], (unsigned)expected[i]);
            w->wrong = true;
            return;
        }
}

void workload_close_f32(struct workload *w, const char *what, const float *got, const float *expected, size_t count,
                        double tolerance) {
    for (size_t i = 0; i < count; i++) {
        const double b = expected[i], off = fabs((double)got[i] - b);
        if (!(off <= tolerance * (fabs(b) > 1 ? fabs(b) : 1))) {
            fprintf(stderr, "wrong: %s[%zu] is %.9g, expected %.9g\n", what, i, (double)got[i], b);
            w->wrong = true;
            return;
        }
    }
}

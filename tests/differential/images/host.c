/* SPDX-License-Identifier: Apache-2.0 */
/* Runs cases with images through the OpenCL API, on the platform that the loader finds first: host TAG NAME...
 * NAME.spec says what there is (generate.py), NAME.data what it holds, NAME.cl the kernels; what buffers and images hold after them goes to
 * NAME.TAG.out, in the order of the specification, failures to NAME.TAG.err. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS_MAX = 32, WORDS_MAX = 32, PATH_BYTES = 4096 };

struct object {
    bool is_image;
    cl_mem memory, below; /* below: the buffer of an image of a buffer */
    size_t bytes, region[3];
};

struct session {
    bool is_heddle;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};

struct run {
    const struct session *session;
    const char *base, *tag;
    FILE *data;
    cl_program program;
    struct object objects[OBJECTS_MAX];
    cl_sampler samplers[OBJECTS_MAX];
    unsigned object_count, sampler_count;
};

static bool fail(const struct run *run, const char *what, const char *text, cl_int code) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.%s.err", run->base, run->tag);
    FILE *file = fopen(path, "wb");
    if (file) {
        fprintf(file, "%s: error %d\n%s", what, (int)code, text);
        fclose(file);
    }
    return false;
}

static char *file_read(const char *base, const char *suffix) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.%s", base, suffix);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        const long length = ftell(file);
        text = calloc(1, (size_t)length + 1);
        rewind(file);
        if (text && fread(text, 1, (size_t)length, file) != (size_t)length) {
            free(text);
            text = NULL;
        }
    }
    fclose(file);
    return text;
}

/* ---- objects ---- */

static cl_mem_object_type kind_of(const char *word) {
    static const struct {
        const char *word;
        cl_mem_object_type type;
    } kinds[] = {{"1d", CL_MEM_OBJECT_IMAGE1D},        {"1db", CL_MEM_OBJECT_IMAGE1D_BUFFER},
                 {"1da", CL_MEM_OBJECT_IMAGE1D_ARRAY}, {"2d", CL_MEM_OBJECT_IMAGE2D},
                 {"2da", CL_MEM_OBJECT_IMAGE2D_ARRAY}, {"3d", CL_MEM_OBJECT_IMAGE3D}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].word, word) == 0)
            return kinds[i].type;
    return 0;
}

static size_t number(const char *word) { return (size_t)strtoull(word, NULL, 0); }

/* image KIND ORDER TYPE WIDTH HEIGHT DEPTH LAYERS BYTES copy|write */
static cl_int make_image(struct run *run, char **word, void *bytes, struct object *out) {
    const struct session *s = run->session;
    cl_int code = CL_SUCCESS;
    const cl_image_format format = {(cl_channel_order)number(word[2]), (cl_channel_type)number(word[3])};
    cl_image_desc desc = {.image_type = kind_of(word[1]),
                          .image_width = number(word[4]),
                          .image_height = number(word[5]),
                          .image_depth = number(word[6]),
                          .image_array_size = number(word[7])};
    const bool is_buffer = desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER,
               is_lines = desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY, is_copied = strcmp(word[9], "copy") == 0;
    if (is_buffer)
        out->below = desc.buffer =
            clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, out->bytes, bytes, &code);
    if (code != CL_SUCCESS)
        return code;
    void *const host = is_copied && !is_buffer ? bytes : NULL;
    out->memory =
        clCreateImage(s->context, CL_MEM_READ_WRITE | (host ? CL_MEM_COPY_HOST_PTR : 0), &format, &desc, host, &code);
    out->region[0] = desc.image_width;
    out->region[1] = is_lines ? desc.image_array_size : desc.image_height ? desc.image_height : 1;
    out->region[2] = desc.image_type == CL_MEM_OBJECT_IMAGE3D         ? desc.image_depth
                     : desc.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? desc.image_array_size
                                                                      : 1;
    const size_t origin[3] = {0, 0, 0};
    if (code == CL_SUCCESS && !host && !is_buffer)
        code = clEnqueueWriteImage(s->queue, out->memory, CL_TRUE, origin, out->region, 0, 0, bytes, 0, NULL, NULL);
    return code;
}

/* An image, or: buffer BYTES */
static bool make_object(struct run *run, char **word) {
    if (run->object_count == OBJECTS_MAX)
        return fail(run, "too many objects", "", 0);
    struct object *out = &run->objects[run->object_count++];
    out->is_image = strcmp(word[0], "image") == 0;
    out->bytes = number(word[out->is_image ? 8 : 1]);
    char *bytes = calloc(1, out->bytes);
    if (!bytes || fread(bytes, 1, out->bytes, run->data) != out->bytes) {
        free(bytes);
        return fail(run, "the data", "", 0);
    }
    cl_int code;
    if (out->is_image)
        code = make_image(run, word, bytes, out);
    else
        out->memory =
            clCreateBuffer(run->session->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, out->bytes, bytes, &code);
    free(bytes);
    return code == CL_SUCCESS || fail(run, word[0], word[1], code);
}

/* sampler NORMALISED ADDRESSING FILTER */
static bool make_sampler(struct run *run, char **word) {
    cl_int code = CL_INVALID_VALUE;
    if (run->sampler_count < OBJECTS_MAX)
        run->samplers[run->sampler_count++] =
            clCreateSampler(run->session->context, (cl_bool)number(word[1]), (cl_addressing_mode)number(word[2]),
                            (cl_filter_mode)number(word[3]), &code);
    return code == CL_SUCCESS || fail(run, "a sampler", "", code);
}

/* ---- kernels ---- */

/* PoCL 3.1's optimiser ends with a segmentation fault on some kernels. */
static bool build(struct run *run, const char *line) {
    char options[256], *text = file_read(run->base, "cl");
    if (!text)
        return fail(run, "the source", "", 0);
    cl_int code;
    snprintf(options, sizeof options, "%s%s", line, run->session->is_heddle ? "" : " -cl-opt-disable");
    run->program = clCreateProgramWithSource(run->session->context, 1, (const char **)&text, NULL, &code);
    free(text);
    if (code == CL_SUCCESS)
        code = clBuildProgram(run->program, 1, &run->session->device, options, NULL, NULL);
    if (code == CL_SUCCESS)
        return true;
    static char log[1 << 16];
    clGetProgramBuildInfo(run->program, run->session->device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    return fail(run, "building", log, code);
}

/* kernel NAME GLOBAL_X GLOBAL_Y LOCAL_X LOCAL_Y ARGUMENT...: o or s and a number, of an object or a sampler */
static bool launch(const struct run *run, char **word, unsigned count) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(run->program, word[1], &code);
    for (unsigned i = 6; i < count && code == CL_SUCCESS; i++) {
        const size_t n = number(word[i] + 1);
        code = word[i][0] == 's' ? clSetKernelArg(kernel, i - 6, sizeof(cl_sampler), &run->samplers[n])
                                 : clSetKernelArg(kernel, i - 6, sizeof(cl_mem), &run->objects[n].memory);
    }
    const size_t global[2] = {number(word[2]), number(word[3])}, local[2] = {number(word[4]), number(word[5])};
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(run->session->queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clFinish(run->session->queue);
    if (kernel)
        clReleaseKernel(kernel);
    return code == CL_SUCCESS || fail(run, "launch", word[1], code);
}

/* ---- results ---- */

static cl_int fetch(const struct session *s, const struct object *object, void *to) {
    const size_t origin[3] = {0, 0, 0};
    if (!object->is_image || object->below)
        return clEnqueueReadBuffer(s->queue, object->below ? object->below : object->memory, CL_TRUE, 0, object->bytes,
                                   to, 0, NULL, NULL);
    return clEnqueueReadImage(s->queue, object->memory, CL_TRUE, origin, object->region, 0, 0, to, 0, NULL, NULL);
}

static bool write_results(const struct run *run) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s.%s.out", run->base, run->tag);
    FILE *file = fopen(path, "wb");
    bool good = file != NULL;
    for (unsigned i = 0; good && i < run->object_count; i++) {
        void *bytes = calloc(1, run->objects[i].bytes);
        const cl_int code = bytes ? fetch(run->session, &run->objects[i], bytes) : CL_OUT_OF_HOST_MEMORY;
        good = code == CL_SUCCESS && fwrite(bytes, 1, run->objects[i].bytes, file) == run->objects[i].bytes;
        free(bytes);
        if (code != CL_SUCCESS)
            fail(run, "reading a result", "", code);
    }
    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        remove(path);
    return good;
}

static void release(const struct run *run) {
    for (unsigned i = 0; i < run->object_count; i++) {
        if (run->objects[i].memory)
            clReleaseMemObject(run->objects[i].memory);
        if (run->objects[i].below)
            clReleaseMemObject(run->objects[i].below);
    }
    for (unsigned i = 0; i < run->sampler_count; i++)
        if (run->samplers[i])
            clReleaseSampler(run->samplers[i]);
    if (run->program)
        clReleaseProgram(run->program);
}

/* One line of the specification. */
static bool obey(struct run *run, char *line) {
    char *word[WORDS_MAX] = {0};
    unsigned count = 0;
    char *all = strdup(line), *rest = NULL;
    for (char *w = strtok_r(all, " \n", &rest); w && count < WORDS_MAX; w = strtok_r(NULL, " \n", &rest))
        word[count++] = w;
    bool good = true;
    if (count && strcmp(word[0], "options") == 0)
        good = build(run, line + strlen("options"));
    else if (count && strcmp(word[0], "sampler") == 0)
        good = count == 4 && make_sampler(run, word);
    else if (count && strcmp(word[0], "kernel") == 0)
        good = count >= 6 && launch(run, word, count);
    else if (count)
        good = count == (strcmp(word[0], "image") == 0 ? 10 : 2) && make_object(run, word);
    free(all);
    return good;
}

static bool run_case(const struct session *session, const char *base, const char *tag) {
    struct run run = {.session = session, .base = base, .tag = tag};
    char path[PATH_BYTES], *spec = file_read(base, "spec"), *rest = NULL;
    snprintf(path, sizeof path, "%s.data", base);
    run.data = fopen(path, "rb");
    bool good = run.data && spec;
    if (!good)
        fail(&run, "the case", "", 0);
    for (char *line = spec ? strtok_r(spec, "\n", &rest) : NULL; good && line; line = strtok_r(NULL, "\n", &rest))
        good = obey(&run, line);
    good = good && write_results(&run);
    release(&run);
    if (run.data)
        fclose(run.data);
    free(spec);
    return good;
}

int main(int argc, char **argv) {
    struct session s = {0};
    cl_platform_id platform;
    char name[64] = "";
    cl_int code = CL_INVALID_VALUE;
    if (argc < 3)
        return fprintf(stderr, "host TAG NAME...\n"), 2;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &s.device, NULL) != CL_SUCCESS)
        return fprintf(stderr, "host: no OpenCL device\n"), 2;
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    s.is_heddle = strcmp(name, "Heddle") == 0;
    s.context = clCreateContext(NULL, 1, &s.device, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        s.queue = clCreateCommandQueue(s.context, s.device, 0, &code);
    if (code != CL_SUCCESS)
        return fprintf(stderr, "host: no queue: error %d\n", (int)code), 2;
    int failures = 0;
    for (int i = 2; i < argc; i++)
        failures += !run_case(&s, argv[i], argv[1]);
    clReleaseCommandQueue(s.queue);
    clReleaseContext(s.context);
    return failures != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/program.h"

#include "opencl/info.h"

/* ---- lifetime ---- */

void program_release(cl_program program) {
    if (!object_release(&program->object))
        return;
    for (struct program_end *end = program->ends; end; end = end->next)
        end->function(program, end->user);
    cl_context context = program->context;
    for (struct build *build = program->build; build; build = build->older)
        arena_free(&build->arena);
    object_free(&program->object);
    context_release(context);
}

struct build *program_build(cl_program program) {
    pthread_mutex_lock(&program->context->engine.lock);
    struct build *build = program->build;
    pthread_mutex_unlock(&program->context->engine.lock);
    return build;
}

struct build *program_new_build(cl_program program) {
    struct build *build = object_alloc(&program->object, sizeof *build);
    if (build)
        *build = (struct build){.status = CL_BUILD_NONE, .type = CL_PROGRAM_BINARY_TYPE_NONE, .options = "", .log = ""};
    return build;
}

void program_set_build(cl_program program, struct build *build) {
    pthread_mutex_lock(&program->context->engine.lock);
    build->older = program->build;
    program->build = build;
    pthread_mutex_unlock(&program->context->engine.lock);
}

cl_program program_create(cl_context context, cl_int *code) {
    cl_program program = object_create(OBJECT_PROGRAM, sizeof *program);
    if (!program)
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    program->context = context;
    program->none =
        (struct build){.status = CL_BUILD_NONE, .type = CL_PROGRAM_BINARY_TYPE_NONE, .options = "", .log = ""};
    program->build = &program->none;
    context_retain(context);
    object_refuse(code, CL_SUCCESS);
    return program;
}

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                 const size_t *lengths, cl_int *code) {
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!count || !strings)
        return object_refuse(code, CL_INVALID_VALUE);
    size_t bytes = 0;
    for (cl_uint i = 0; i < count; i++) {
        if (!strings[i])
            return object_refuse(code, CL_INVALID_VALUE);
        if (__builtin_add_overflow(bytes, lengths && lengths[i] ? lengths[i] : strlen(strings[i]), &bytes))
            return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    }
    cl_program program = program_create(context, code);
    char *source = program ? object_alloc(&program->object, bytes + 1) : NULL;
    if (program && !source) {
        program_release(program);
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    }
    if (!program)
        return NULL;
    program->source = source;
    for (cl_uint i = 0; i < count; i++) {
        const size_t length = lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
        memcpy(source, strings[i], length);
        source += length;
    }
    program->source_bytes = bytes;
    return program;
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                                 const size_t *lengths, const unsigned char **binaries,
                                                 cl_int *statuses, cl_int *code) {
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!count || !devices || !lengths || !binaries)
        return object_refuse(code, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; i++)
        if (!object_is(devices[i], OBJECT_DEVICE) || devices[i] != context->device)
            return object_refuse(code, CL_INVALID_DEVICE);
    for (cl_uint i = 0; i < count; i++)
        if (!lengths[i] || !binaries[i]) {
            if (statuses)
                statuses[i] = CL_INVALID_VALUE;
            return object_refuse(code, CL_INVALID_VALUE);
        }
    cl_program program = program_create(context, code);
    if (!program)
        return NULL;
    program->from_binary = true;
    const bool read = binary_read(binaries[0], lengths[0], &program->none);
    for (cl_uint i = 0; statuses && i < count; i++)
        statuses[i] = read ? CL_SUCCESS : CL_INVALID_BINARY;
    program->source = program->none.source;
    program->source_bytes = program->none.source_bytes;
    if (read)
        return program;
    program_release(program);
    return object_refuse(code, CL_INVALID_BINARY);
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id *devices,
                                                         const char *names, cl_int *code) {
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!count || !devices || !names)
        return object_refuse(code, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; i++)
        if (!object_is(devices[i], OBJECT_DEVICE))
            return object_refuse(code, CL_INVALID_DEVICE);
    return object_refuse(code, CL_INVALID_VALUE); /* the device has none */
}

bool program_takes_il(void) {
    struct arena arena = {0};
    struct compile_tools tools;
    compile_find_tools(&arena, &tools);
    const bool takes = tools.llvm_spirv != NULL;
    arena_free(&arena);
    return takes;
}

cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void *il, size_t length, cl_int *code) {
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!program_takes_il()) {
        context_tell(
            context,
            "clCreateProgramWithIL is refused: a program from SPIR-V needs llvm-spirv, and none was found on PATH; "
            "install it (Debian: apt-get install llvm-spirv-15), or set HEDDLE_LLVM_SPIRV");
        return object_refuse(code, CL_INVALID_OPERATION);
    }
    if (!compile_is_il(il, length))
        return object_refuse(code, CL_INVALID_VALUE);
    cl_program program = program_create(context, code);
    char *kept = program ? object_alloc(&program->object, length) : NULL;
    if (program && !kept) {
        program_release(program);
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    }
    if (!program)
        return NULL;
    program->il = memcpy(kept, il, length);
    program->il_bytes = length;
    return program;
}

cl_program CL_API_CALL clCreateProgramWithILKHR(cl_context context, const void *il, size_t length, cl_int *code) {
    return clCreateProgramWithIL(context, il, length, code);
}

cl_int CL_API_CALL clRetainProgram(cl_program program) {
    if (!object_is(program, OBJECT_PROGRAM))
        return CL_INVALID_PROGRAM;
    object_retain(&program->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clReleaseProgram(cl_program program) {
    if (!object_is(program, OBJECT_PROGRAM))
        return CL_INVALID_PROGRAM;
    program_release(program);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clSetProgramReleaseCallback(cl_program program, program_notify function, void *user) {
    if (!object_is(program, OBJECT_PROGRAM))
        return CL_INVALID_PROGRAM;
    (void)user;
    return function ? CL_INVALID_OPERATION : CL_INVALID_VALUE; /* only for programs with SPIR-V constructors */
}

cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t size, const void *value) {
    (void)id, (void)size, (void)value;
    return object_is(program, OBJECT_PROGRAM) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

cl_int CL_API_CALL clUnloadCompiler(void) { return CL_SUCCESS; }

cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
    return object_is(platform, OBJECT_PLATFORM) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

/* ---- queries ---- */

/* The last build as bytes that clCreateProgramWithBinary reads back; NULL: there is none. */
static const char *program_binary(cl_program program, size_t *bytes) {
    pthread_mutex_lock(&program->context->engine.lock);
    struct build *build = program->build;
    if (!build->binary && build->type != CL_PROGRAM_BINARY_TYPE_NONE)
        build->binary =
            binary_write(build, program->source ? program->source : "", program->source_bytes, &build->binary_bytes);
    const char *binary = build->binary;
    *bytes = binary ? build->binary_bytes : 0;
    pthread_mutex_unlock(&program->context->engine.lock);
    return binary;
}

static size_t binary_bytes(cl_program program) {
    size_t bytes = 0;
    program_binary(program, &bytes);
    return bytes;
}

/* One pointer per device, each to room that the caller made. */
static cl_int copy_binaries(cl_program program, size_t size, void *value, size_t *size_ret) {
    size_t bytes = 0;
    const char *binary = program_binary(program, &bytes);
    unsigned char **rooms = value;
    if (value && size < sizeof *rooms)
        return CL_INVALID_VALUE;
    if (value && rooms[0] && binary)
        memcpy(rooms[0], binary, bytes);
    if (size_ret)
        *size_ret = sizeof *rooms;
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info name, size_t size, void *value,
                                    size_t *size_ret) {
    if (!object_is(program, OBJECT_PROGRAM))
        return CL_INVALID_PROGRAM;
    const struct build *build = program_build(program);
    if ((name == CL_PROGRAM_NUM_KERNELS || name == CL_PROGRAM_KERNEL_NAMES) && !build->loaded)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    switch (name) {
        INFO(CL_PROGRAM_REFERENCE_COUNT, cl_uint, object_references(&program->object))
        INFO(CL_PROGRAM_CONTEXT, cl_context, program->context)
        INFO(CL_PROGRAM_NUM_DEVICES, cl_uint, 1)
        INFO(CL_PROGRAM_DEVICES, cl_device_id, program->context->device)
        INFO_TEXT(CL_PROGRAM_SOURCE, program->source && !program->from_binary ? program->source : "")
        INFO(CL_PROGRAM_BINARY_SIZES, size_t, binary_bytes(program))
        INFO(CL_PROGRAM_NUM_KERNELS, size_t, build->compiled.kernel_count)
        INFO_TEXT(CL_PROGRAM_KERNEL_NAMES, build->kernel_names)
        INFO_LIST(CL_PROGRAM_IL, char, program->il, program->il_bytes)
        INFO(CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, cl_bool, CL_FALSE)
        INFO(CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, cl_bool, CL_FALSE)
    case CL_PROGRAM_BINARIES: return copy_binaries(program, size, value, size_ret);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name,
                                         size_t size, void *value, size_t *size_ret) {
    if (!object_is(program, OBJECT_PROGRAM))
        return CL_INVALID_PROGRAM;
    if (!object_is(device, OBJECT_DEVICE) || device != program->context->device)
        return CL_INVALID_DEVICE;
    const struct build *build = program_build(program);
    switch (name) {
        INFO(CL_PROGRAM_BUILD_STATUS, cl_build_status, build->status)
        INFO_TEXT(CL_PROGRAM_BUILD_OPTIONS, build->options)
        INFO_TEXT(CL_PROGRAM_BUILD_LOG, build->log)
        INFO(CL_PROGRAM_BINARY_TYPE, cl_program_binary_type, build->type)
        INFO(CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, size_t,
             build->loaded ? program_global_bytes(build->loaded) : 0)
    default: return CL_INVALID_VALUE;
    }
}

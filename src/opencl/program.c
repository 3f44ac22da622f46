#include "opencl/program.h"

#include <setjmp.h>
#include <stdio.h>

#include "opencl/info.h"
#include "opencl/record.h"

/* ---- lifetime ---- */

void program_release(cl_program program) {
    if (!object_release(&program->object))
        return;
    for (struct program_end *end = program->ends; end; end = end->next)
        end->function(program, end->user);
    cl_context context = program->context;
    object_free(&program->object);
    context_release(context);
}

static cl_program make_program(cl_context context, cl_int *code) {
    cl_program program = object_create(KIND_PROGRAM, sizeof *program);
    if (!program)
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    program->context = context;
    program->status = CL_BUILD_NONE;
    program->type = CL_PROGRAM_BINARY_TYPE_NONE;
    program->options = program->log = "";
    context_retain(context);
    object_refuse(code, CL_SUCCESS);
    return program;
}

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                 const size_t *lengths, cl_int *code) {
    if (!object_is(context, KIND_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!count || !strings)
        return object_refuse(code, CL_INVALID_VALUE);
    size_t bytes = 0;
    for (cl_uint i = 0; i < count; i++) {
        if (!strings[i])
            return object_refuse(code, CL_INVALID_VALUE);
        bytes += lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
    }
    cl_program program = make_program(context, code);
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
    if (!object_is(context, KIND_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!count || !devices || !lengths || !binaries)
        return object_refuse(code, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; i++)
        if (!object_is(devices[i], KIND_DEVICE) || devices[i] != context->device)
            return object_refuse(code, CL_INVALID_DEVICE);
    for (cl_uint i = 0; i < count; i++)
        if (!lengths[i] || !binaries[i]) {
            if (statuses)
                statuses[i] = CL_INVALID_VALUE;
            return object_refuse(code, CL_INVALID_VALUE);
        }
    cl_program program = make_program(context, code);
    if (!program)
        return NULL;
    program->from_binary = true;
    const bool read = program_from_binary(program, binaries[0], lengths[0]);
    for (cl_uint i = 0; statuses && i < count; i++)
        statuses[i] = read ? CL_SUCCESS : CL_INVALID_BINARY;
    if (read)
        return program;
    program_release(program);
    return object_refuse(code, CL_INVALID_BINARY);
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id *devices,
                                                         const char *names, cl_int *code) {
    if (!object_is(context, KIND_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!count || !devices || !names)
        return object_refuse(code, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; i++)
        if (!object_is(devices[i], KIND_DEVICE))
            return object_refuse(code, CL_INVALID_DEVICE);
    return object_refuse(code, CL_INVALID_VALUE); /* the device has none */
}

cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void *il, size_t length, cl_int *code) {
    (void)il, (void)length;
    return object_refuse(code, object_is(context, KIND_CONTEXT) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clRetainProgram(cl_program program) {
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    object_retain(&program->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clReleaseProgram(cl_program program) {
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    program_release(program);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clSetProgramReleaseCallback(cl_program program, program_notify function, void *user) {
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    (void)user;
    return function ? CL_INVALID_OPERATION : CL_INVALID_VALUE; /* only for programs with SPIR-V constructors */
}

cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t size, const void *value) {
    (void)id, (void)size, (void)value;
    return object_is(program, KIND_PROGRAM) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

cl_int CL_API_CALL clUnloadCompiler(void) { return CL_SUCCESS; }

cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
    return object_is(platform, KIND_PLATFORM) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

/* ---- building ---- */

static cl_int check_devices(cl_context context, cl_uint count, const cl_device_id *devices) {
    if (!devices != !count)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++)
        if (!object_is(devices[i], KIND_DEVICE) || devices[i] != context->device)
            return CL_INVALID_DEVICE;
    return CL_SUCCESS;
}

/* The PTX of an executable goes onto the device. False: it cannot be, the report says why. */
static bool load(cl_program program, struct report *report) {
    struct engine *engine = &program->context->engine;
    engine_acquire(engine);
    const enum status status = device_load(engine->device, "program.ptx", program->compiled.ptx,
                                           program->compiled.ptx_bytes, &program->loaded, report);
    if (status != STATUS_OK)
        program->loaded = NULL;
    else
        program->record = record_program(program);
    engine_give_back(engine);
    return status == STATUS_OK;
}

/* The compiler's own words, and, where it never spoke, ours. */
static void keep_log(cl_program program, const char *log, const struct report *report) {
    struct arena *arena = &program->object.arena;
    program->log = arena_strdup(arena, *log ? log : report_text(report));
}

static cl_int build_source(cl_program program, const struct build_options *options) {
    struct arena *arena = &program->object.arena;
    struct report report = {0};
    program->type = CL_PROGRAM_BINARY_TYPE_NONE;
    enum status status = compile_text(NULL, program->source, program->source_bytes, &options->compile, arena,
                                      &program->compiled, &report);
    const char *log = program->compiled.log;
    const bool built = status == STATUS_OK && load(program, &report);
    keep_log(program, status == STATUS_OK && !built ? "" : log, &report);
    report_free(&report);
    program->type = built ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE : CL_PROGRAM_BINARY_TYPE_NONE;
    program->status = built ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    return built ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

/* One made from a binary is built already: its PTX has only to be loaded. */
static cl_int build_binary(cl_program program) {
    struct report report = {0};
    if (program->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        return CL_INVALID_BINARY;
    const bool loaded = program->loaded || load(program, &report);
    keep_log(program, "", &report);
    report_free(&report);
    program->status = loaded ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    return loaded ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

static cl_int build(cl_program program, const char *text) {
    jmp_buf escape;
    struct arena *arena = &program->object.arena;
    struct build_options options;
    if (setjmp(escape)) {
        arena->escape = NULL;
        program->status = CL_BUILD_ERROR;
        return CL_OUT_OF_HOST_MEMORY;
    }
    arena->escape = &escape;
    cl_int code = CL_INVALID_BUILD_OPTIONS;
    if (build_options_read(text, STAGE_BUILD, arena, &options)) {
        program->options = arena_strdup(arena, text ? text : "");
        code = program->from_binary ? build_binary(program) : build_source(program, &options);
    }
    arena->escape = NULL;
    return code;
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                  program_notify notify, void *user) {
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    const cl_int wrong = check_devices(program->context, count, devices);
    if (wrong || (!notify && user))
        return wrong ? wrong : CL_INVALID_VALUE;
    if (!program->source && !program->from_binary)
        return CL_INVALID_OPERATION;
    if (atomic_load(&program->kernels) || atomic_flag_test_and_set(&program->building))
        return CL_INVALID_OPERATION;
    const cl_int code = build(program, options);
    atomic_flag_clear(&program->building);
    if (notify)
        notify(program, user);
    return code;
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                    cl_uint header_count, const cl_program *headers, const char **names,
                                    program_notify notify, void *user) {
    (void)program, (void)count, (void)devices, (void)options, (void)header_count, (void)headers, (void)names;
    (void)notify, (void)user;
    return CL_COMPILER_NOT_AVAILABLE;
}

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const char *options, cl_uint input_count, const cl_program *inputs,
                                     program_notify notify, void *user, cl_int *code) {
    (void)context, (void)count, (void)devices, (void)options, (void)input_count, (void)inputs, (void)notify, (void)user;
    return object_refuse(code, CL_LINKER_NOT_AVAILABLE);
}

/* ---- queries ---- */

static const char *kernel_names(cl_program program) {
    struct arena *arena = &program->object.arena;
    const char *names = "";
    for (unsigned i = 0; i < program->compiled.kernel_count; i++)
        names = arena_printf(arena, "%s%s%s", names, i ? ";" : "", program->compiled.kernels[i].name);
    return names;
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
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    if ((name == CL_PROGRAM_NUM_KERNELS || name == CL_PROGRAM_KERNEL_NAMES) && !program->loaded)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    switch (name) {
        INFO(CL_PROGRAM_REFERENCE_COUNT, cl_uint, object_references(&program->object))
        INFO(CL_PROGRAM_CONTEXT, cl_context, program->context)
        INFO(CL_PROGRAM_NUM_DEVICES, cl_uint, 1)
        INFO(CL_PROGRAM_DEVICES, cl_device_id, program->context->device)
        INFO_TEXT(CL_PROGRAM_SOURCE, program->source && !program->from_binary ? program->source : "")
        INFO(CL_PROGRAM_BINARY_SIZES, size_t, binary_bytes(program))
        INFO(CL_PROGRAM_NUM_KERNELS, size_t, program->compiled.kernel_count)
        INFO_TEXT(CL_PROGRAM_KERNEL_NAMES, kernel_names(program))
        INFO_LIST(CL_PROGRAM_IL, char, "", 0)
        INFO(CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, cl_bool, CL_FALSE)
        INFO(CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, cl_bool, CL_FALSE)
    case CL_PROGRAM_BINARIES: return copy_binaries(program, size, value, size_ret);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name,
                                         size_t size, void *value, size_t *size_ret) {
    if (!object_is(program, KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    if (!object_is(device, KIND_DEVICE) || device != program->context->device)
        return CL_INVALID_DEVICE;
    switch (name) {
        INFO(CL_PROGRAM_BUILD_STATUS, cl_build_status, program->status)
        INFO_TEXT(CL_PROGRAM_BUILD_OPTIONS, program->options)
        INFO_TEXT(CL_PROGRAM_BUILD_LOG, program->log)
        INFO(CL_PROGRAM_BINARY_TYPE, cl_program_binary_type, program->type)
        INFO(CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, size_t, 0)
    default: return CL_INVALID_VALUE;
    }
}

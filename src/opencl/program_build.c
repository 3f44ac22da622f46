/* SPDX-License-Identifier: Apache-2.0 */
/* clBuildProgram, clCompileProgram, clLinkProgram. All of them have done their work when they return, also when the
 * program asked to be told of the end by a callback. */
#include <setjmp.h>
#include <string.h>

#include "device/lowered.h"
#include "opencl/image.h"
#include "opencl/program.h"
#include "result/guest.h"

static cl_int check_devices(cl_context context, cl_uint count, const cl_device_id *devices) {
    if (!devices != !count)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++)
        if (!object_is(devices[i], OBJECT_DEVICE) || devices[i] != context->device)
            return CL_INVALID_DEVICE;
    return CL_SUCCESS;
}

static const char *kernel_names(struct build *build) {
    const char *names = "";
    for (unsigned i = 0; i < build->compiled.kernel_count; i++)
        names = arena_printf(&build->arena, "%s%s%s", names, i ? ";" : "", build->compiled.kernels[i].name);
    return names;
}

/* The PTX of an executable goes onto the device. False: it cannot be, the report says why. */
static bool load(cl_program program, struct build *build, struct report *report) {
    struct engine *engine = &program->context->engine;
    engine_acquire(engine);
    const enum status status = device_load(engine->device, "program.ptx", build->compiled.ptx,
                                           build->compiled.ptx_bytes, &build->loaded, report);
    if (status != STATUS_OK)
        build->loaded = NULL;
    else
        build->record = guest_recording_module(program->context->recording, build->loaded, program->source);
    engine_give_back(engine);
    build->kernel_names = kernel_names(build);
    return status == STATUS_OK;
}

/* The compiler's own words, and, where it never spoke, ours. */
static void keep_log(struct build *build, const char *log, const struct report *report) {
    build->log = arena_strdup(&build->arena, *log ? log : report_text(report));
}

static cl_int build_source(cl_program program, const struct build_options *options, struct build *build) {
    struct report report = {0};
    const char *name = program->il ? NULL
                                   : guest_source_name(program->context->recording, program->source,
                                                       program->source_bytes, &build->arena);
    const struct compile_source source = {.name = name, .text = program->source, .bytes = program->source_bytes};
    const struct compile_source il = {.text = program->il, .bytes = program->il_bytes};
    enum status status = (program->il ? compile_il : compile_text)(program->il ? &il : &source, &options->compile,
                                                                   &build->arena, &build->compiled, &report);
    const char *log = build->compiled.log;
    const bool built = status == STATUS_OK && load(program, build, &report);
    keep_log(build, status == STATUS_OK && !built ? "" : log, &report);
    report_free(&report);
    build->type = built ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE : CL_PROGRAM_BINARY_TYPE_NONE;
    build->status = built ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    return built ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

/* One made from a binary is built already: its PTX has only to be loaded. */
static cl_int build_binary(cl_program program, struct build *build) {
    struct report report = {0};
    const struct build *binary = &program->none;
    if (binary->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        return CL_INVALID_BINARY;
    build->type = binary->type;
    compiled_from_text(binary->compiled.metadata, binary->compiled.ptx, &build->arena, &build->compiled);
    const struct build *last = program_build(program);
    build->loaded = last->loaded; /* once is enough */
    build->record = last->record;
    build->kernel_names = kernel_names(build);
    const bool loaded = build->loaded || load(program, build, &report);
    keep_log(build, "", &report);
    report_free(&report);
    build->status = loaded ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    return loaded ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

static cl_int compile_source(cl_program program, const struct build_options *options, struct build *build) {
    struct report report = {0};
    const struct compile_source il = {.text = program->il, .bytes = program->il_bytes};
    const enum status status = program->il
                                   ? compile_il_object(&il, &options->compile, &build->arena, &build->compiled, &report)
                                   : compile_object(program->source, program->source_bytes, &options->compile,
                                                    &build->arena, &build->compiled, &report);
    build->code = build->compiled.object;
    keep_log(build, build->compiled.log, &report);
    report_free(&report);
    build->type = status == STATUS_OK ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT : CL_PROGRAM_BINARY_TYPE_NONE;
    build->status = status == STATUS_OK ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    return status == STATUS_OK ? CL_SUCCESS : CL_COMPILE_PROGRAM_FAILURE;
}

static cl_int link_objects(cl_program program, const struct build_options *options, const char *const *objects,
                           cl_uint count, struct build *build) {
    struct report report = {0};
    const struct compile_options compile = {.address_bits = options->compile.address_bits}; /* as its objects have */
    const enum status status =
        (options->creates_library ? compile_library : compile_link)(objects, count, &compile, &build->arena,
                                                                    &build->compiled, &report);
    build->code = build->compiled.object;
    const char *log = build->compiled.log;
    const bool linked = status == STATUS_OK && (options->creates_library || load(program, build, &report));
    keep_log(build, status == STATUS_OK && !linked ? "" : log, &report);
    report_free(&report);
    build->type = !linked                    ? CL_PROGRAM_BINARY_TYPE_NONE
                  : options->creates_library ? CL_PROGRAM_BINARY_TYPE_LIBRARY
                                             : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    build->status = linked ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    return linked ? CL_SUCCESS : CL_LINK_PROGRAM_FAILURE;
}

/* What there is to do. */
struct build_order {
    enum build_stage stage;
    const char *options;
    const struct compile_header *headers;
    const char *const *objects;
    cl_uint count; /* of headers or objects */
};

static cl_int carry_out(cl_program program, const struct build_order *order, struct build *build) {
    static const cl_int wrong[] = {
        [STAGE_BUILD] = CL_INVALID_BUILD_OPTIONS,
        [STAGE_COMPILE] = CL_INVALID_COMPILER_OPTIONS,
        [STAGE_LINK] = CL_INVALID_LINKER_OPTIONS,
    };
    struct build_options options;
    if (!build_options_read(order->options, order->stage, &build->arena, &options))
        return wrong[order->stage];
    const struct machine *machine = &program->context->device->machine;
    options.compile.no_images = !image_is_supported(program->context->device);
    options.compile.address_bits = lowered_address_bits(machine, (enum isa_choice)machine->isa);
    build->options = arena_strdup(&build->arena, order->options ? order->options : "");
    if (order->stage == STAGE_LINK)
        return link_objects(program, &options, order->objects, order->count, build);
    if (order->stage == STAGE_COMPILE) {
        options.compile.headers = order->headers;
        options.compile.header_count = order->count;
        return compile_source(program, &options, build);
    }
    return program->from_binary ? build_binary(program, build) : build_source(program, &options, build);
}

/* The same, where the host may run out of memory. */
static cl_int attempt(cl_program program, const struct build_order *order, struct build *build) {
    jmp_buf escape;
    if (setjmp(escape)) {
        build->arena.escape = NULL;
        build->type = CL_PROGRAM_BINARY_TYPE_NONE;
        build->status = CL_BUILD_ERROR;
        return CL_OUT_OF_HOST_MEMORY;
    }
    build->arena.escape = &escape;
    const cl_int code = carry_out(program, order, build);
    build->arena.escape = NULL;
    return code;
}

/* The program has the build afterwards, unless it was refused before it began. */
static cl_int make_build(cl_program program, const struct build_order *order) {
    struct build *build = program_new_build(program);
    if (!build)
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int code = attempt(program, order, build);
    if (build->status == CL_BUILD_NONE)
        arena_free(&build->arena);
    else
        program_set_build(program, build);
    return code;
}

/* ---- entry points ---- */

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                  program_notify notify, void *user) {
    if (!object_is(program, OBJECT_PROGRAM))
        return CL_INVALID_PROGRAM;
    const cl_int wrong = check_devices(program->context, count, devices);
    if (wrong || (!notify && user))
        return wrong ? wrong : CL_INVALID_VALUE;
    if (!program->source && !program->from_binary && !program->il)
        return CL_INVALID_OPERATION;
    if (atomic_load(&program->kernels) || atomic_flag_test_and_set(&program->building))
        return CL_INVALID_OPERATION;
    const cl_int code = make_build(program, &(struct build_order){.stage = STAGE_BUILD, .options = options});
    atomic_flag_clear(&program->building);
    if (notify)
        notify(program, user);
    return code;
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                    cl_uint header_count, const cl_program *headers, const char **names,
                                    program_notify notify, void *user) {
    if (!object_is(program, OBJECT_PROGRAM))
        return CL_INVALID_PROGRAM;
    const cl_int wrong = check_devices(program->context, count, devices);
    if (wrong || (!notify && user) || !header_count != !headers || !header_count != !names)
        return wrong ? wrong : CL_INVALID_VALUE;
    for (cl_uint i = 0; i < header_count; i++)
        if (!object_is(headers[i], OBJECT_PROGRAM) || !headers[i]->source || !names[i])
            return CL_INVALID_PROGRAM;
    if ((!program->source && !program->il) || program->from_binary || atomic_load(&program->kernels) ||
        atomic_flag_test_and_set(&program->building))
        return CL_INVALID_OPERATION;
    struct compile_header *texts = object_alloc(&program->object, ((size_t)header_count + 1) * sizeof *texts);
    for (cl_uint i = 0; texts && i < header_count; i++)
        texts[i] = (struct compile_header){names[i], headers[i]->source};
    const struct build_order order = {
        .stage = STAGE_COMPILE, .options = options, .headers = texts, .count = header_count};
    const cl_int code = texts ? make_build(program, &order) : CL_OUT_OF_HOST_MEMORY;
    atomic_flag_clear(&program->building);
    if (notify)
        notify(program, user);
    return code;
}

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const char *options, cl_uint input_count, const cl_program *inputs,
                                     program_notify notify, void *user, cl_int *code) {
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    const cl_int wrong = check_devices(context, count, devices);
    if (wrong || (!notify && user) || !input_count || !inputs)
        return object_refuse(code, wrong ? wrong : CL_INVALID_VALUE);
    for (cl_uint i = 0; i < input_count; i++)
        if (!object_is(inputs[i], OBJECT_PROGRAM))
            return object_refuse(code, CL_INVALID_PROGRAM);
    cl_program program = program_create(context, code);
    if (!program)
        return NULL;
    const char **objects = object_alloc(&program->object, input_count * sizeof *objects);
    cl_int refused = objects ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; !refused && i < input_count; i++)
        if (inputs[i]->context != context || !(objects[i] = program_build(inputs[i])->code))
            refused = CL_INVALID_OPERATION;
    if (refused) {
        program_release(program);
        return object_refuse(code, refused);
    }
    const struct build_order order = {
        .stage = STAGE_LINK, .options = options, .objects = objects, .count = input_count};
    const cl_int linked = make_build(program, &order);
    if (linked == CL_INVALID_LINKER_OPTIONS) {
        program_release(program);
        return object_refuse(code, linked);
    }
    if (notify)
        notify(program, user);
    object_refuse(code, linked);
    return program;
}

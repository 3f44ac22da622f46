/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/kernel.h"

#include "opencl/image.h"
#include "opencl/info.h"
#include "opencl/svm.h"

enum { SUB_GROUP_THREADS = 32 }; /* a warp, as builtins.cl has it */

/* ---- lifetime ---- */

void kernel_release(cl_kernel kernel) {
    if (!object_release(&kernel->object))
        return;
    cl_program program = kernel->program;
    for (unsigned i = 0; i < kernel->function->param_count; i++)
        if (kernel->arguments[i].buffer)
            object_unwatch(&kernel->arguments[i].buffer->object);
    object_free(&kernel->object);
    atomic_fetch_sub(&program->kernels, 1);
    program_release(program);
}

static const struct function *find_function(const struct build *build, const char *name) {
    const struct function *function = module_find(program_module(build->loaded), name);
    return function && function->is_entry ? function : NULL;
}

static const char *size_attribute(struct arena *arena, const char *before, const char *name, const uint32_t size[3]) {
    if (!size[0])
        return before;
    return arena_printf(arena, "%s%s%s(%u,%u,%u)", before, *before ? " " : "", name, size[0], size[1] ? size[1] : 1,
                        size[2] ? size[2] : 1);
}

static const char *attributes(cl_kernel kernel) {
    const struct compile_kernel *source = kernel->source;
    struct arena *arena = &kernel->object.arena;
    if (!source)
        return "";
    const char *text = "";
    if (source->vec_type_hint)
        text = arena_printf(arena, "vec_type_hint(%s)", source->vec_type_hint);
    text = size_attribute(arena, text, "reqd_work_group_size", source->reqd_work_group_size);
    return size_attribute(arena, text, "work_group_size_hint", source->work_group_size_hint);
}

static cl_kernel make_kernel(cl_program program, struct build *build, const char *name, cl_int *code) {
    const struct function *function = find_function(build, name);
    if (!function)
        return object_refuse(code, CL_INVALID_KERNEL_NAME);
    cl_kernel kernel = object_create(OBJECT_KERNEL, sizeof *kernel);
    if (kernel)
        kernel->arguments = object_alloc(&kernel->object, (function->param_count + 1) * sizeof *kernel->arguments);
    if (!kernel || !kernel->arguments) {
        if (kernel)
            object_free(&kernel->object);
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    }
    kernel->program = program;
    kernel->build = build;
    kernel->function = function;
    kernel->source = compiled_find(&build->compiled, name);
    kernel->attributes = attributes(kernel);
    object_retain(&program->object);
    atomic_fetch_add(&program->kernels, 1);
    object_refuse(code, CL_SUCCESS);
    return kernel;
}

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name, cl_int *code) {
    if (!object_is(program, OBJECT_PROGRAM))
        return object_refuse(code, CL_INVALID_PROGRAM);
    struct build *build = program_build(program);
    if (!build->loaded)
        return object_refuse(code, CL_INVALID_PROGRAM_EXECUTABLE);
    if (!name)
        return object_refuse(code, CL_INVALID_VALUE);
    return make_kernel(program, build, name, code);
}

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *count) {
    if (!object_is(program, OBJECT_PROGRAM))
        return CL_INVALID_PROGRAM;
    struct build *build = program_build(program);
    if (!build->loaded)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    const unsigned all = build->compiled.kernel_count;
    if (kernels && room < all)
        return CL_INVALID_VALUE;
    for (unsigned i = 0; kernels && i < all; i++) {
        cl_int code;
        kernels[i] = make_kernel(program, build, build->compiled.kernels[i].name, &code);
        if (kernels[i])
            continue;
        while (i--)
            kernel_release(kernels[i]);
        return code;
    }
    if (count)
        *count = all;
    return CL_SUCCESS;
}

static bool copy_argument(cl_kernel kernel, struct kernel_argument *to, const struct kernel_argument *from,
                          size_t bytes) {
    void *value = from->value ? object_alloc(&kernel->object, bytes) : NULL;
    if (from->value && !value)
        return false;
    *to = *from;
    to->value = value ? memcpy(value, from->value, bytes) : NULL;
    if (to->buffer)
        object_watch(&to->buffer->object);
    return true;
}

cl_kernel CL_API_CALL clCloneKernel(cl_kernel from, cl_int *code) {
    if (!object_is(from, OBJECT_KERNEL))
        return object_refuse(code, CL_INVALID_KERNEL);
    cl_kernel kernel = make_kernel(from->program, from->build, from->function->name, code);
    pthread_mutex_t *lock = &from->program->context->engine.lock;
    bool copied = kernel != NULL;
    pthread_mutex_lock(lock);
    for (unsigned i = 0; copied && i < from->function->param_count; i++)
        copied = copy_argument(kernel, &kernel->arguments[i], &from->arguments[i], from->function->params[i]->bytes);
    pthread_mutex_unlock(lock);
    if (copied || !kernel)
        return kernel;
    kernel_release(kernel);
    return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
}

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel) {
    if (!object_is(kernel, OBJECT_KERNEL))
        return CL_INVALID_KERNEL;
    object_retain(&kernel->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) {
    if (!object_is(kernel, OBJECT_KERNEL))
        return CL_INVALID_KERNEL;
    kernel_release(kernel);
    return CL_SUCCESS;
}

/* ---- arguments ---- */

static const struct compile_arg *source_of(const struct _cl_kernel *kernel, cl_uint index) {
    static const struct compile_arg unknown = {.name = "", .type_name = "", .base_type = ""};
    return kernel->source && index < kernel->source->arg_count ? &kernel->source->args[index] : &unknown;
}

static void keep_memory(struct kernel_argument *argument, cl_mem memory) {
    if (memory)
        object_watch(&memory->object);
    if (argument->buffer)
        object_unwatch(&argument->buffer->object);
    *argument = (struct kernel_argument){.is_set = true, .buffer = memory};
}

static cl_int set_buffer(cl_kernel kernel, struct kernel_argument *argument, size_t size, const void *value) {
    if (size != sizeof(cl_mem))
        return CL_INVALID_ARG_SIZE;
    cl_mem buffer = value ? *(const cl_mem *)value : NULL;
    if (buffer && (!object_is(buffer, OBJECT_MEMORY) || buffer->context != kernel->program->context))
        return CL_INVALID_MEM_OBJECT;
    if (buffer && memory_is_image(buffer))
        return CL_INVALID_MEM_OBJECT;
    keep_memory(argument, buffer);
    return CL_SUCCESS;
}

/* An image or a sampler must be a valid object; only a buffer may be NULL [OpenCL 3.0 §5.9.2]. */
static cl_int set_image(cl_kernel kernel, struct kernel_argument *argument, const struct compile_arg *arg, size_t size,
                        const void *value) {
    if (size != sizeof(cl_mem))
        return CL_INVALID_ARG_SIZE;
    cl_mem image = value ? *(const cl_mem *)value : NULL;
    if (!object_is(image, OBJECT_MEMORY) || image->context != kernel->program->context)
        return CL_INVALID_MEM_OBJECT;
    const cl_int wrong = image_check_argument(arg, image);
    if (!wrong)
        keep_memory(argument, image);
    return wrong;
}

static cl_int set_value(cl_kernel kernel, struct kernel_argument *argument, uint64_t bytes, size_t size,
                        const void *value) {
    if (!value)
        return CL_INVALID_ARG_VALUE;
    if (size != bytes)
        return CL_INVALID_ARG_SIZE;
    void *kept = (void *)(uintptr_t)argument->value;
    if (!kept)
        kept = object_alloc(&kernel->object, size);
    if (!kept)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(kept, value, size);
    *argument = (struct kernel_argument){.is_set = true, .value = kept};
    return CL_SUCCESS;
}

static cl_int set_sampler(cl_kernel kernel, struct kernel_argument *argument, uint64_t bytes, size_t size,
                          const void *value) {
    if (size != sizeof(cl_sampler))
        return CL_INVALID_ARG_SIZE;
    cl_sampler sampler = value ? *(const cl_sampler *)value : NULL;
    if (!object_is(sampler, OBJECT_SAMPLER) || sampler->context != kernel->program->context)
        return CL_INVALID_SAMPLER;
    const uint64_t handle = sampler_handle(&sampler->sampler);
    return set_value(kernel, argument, bytes, bytes, &handle);
}

/* The engine's lock is held. */
static cl_int set_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    const struct symbol *param = kernel->function->params[index];
    struct kernel_argument *argument = &kernel->arguments[index];
    const struct compile_arg *arg = source_of(kernel, index);
    if (image_is_argument(arg))
        return set_image(kernel, argument, arg, size, value);
    if (sampler_is_argument(arg))
        return set_sampler(kernel, argument, param->bytes, size, value);
    if (!param->is_pointer)
        return set_value(kernel, argument, param->bytes, size, value);
    if (param->pointer_space != SPACE_SHARED)
        return set_buffer(kernel, argument, size, value);
    if (value)
        return CL_INVALID_ARG_VALUE;
    if (!size)
        return CL_INVALID_ARG_SIZE;
    if (size > machine_shared_bytes(&kernel->program->context->device->machine))
        return CL_OUT_OF_RESOURCES;
    *argument = (struct kernel_argument){.is_set = true, .local_bytes = size};
    return CL_SUCCESS;
}

/* The specification lets this one function be unsafe for threads that share a kernel; it is not. */
cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    if (!object_is(kernel, OBJECT_KERNEL))
        return CL_INVALID_KERNEL;
    if (index >= kernel->function->param_count)
        return CL_INVALID_ARG_INDEX;
    pthread_mutex_t *lock = &kernel->program->context->engine.lock;
    pthread_mutex_lock(lock);
    const cl_int code = set_argument(kernel, index, size, value);
    pthread_mutex_unlock(lock);
    return code;
}

cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *pointer) {
    if (!object_is(kernel, OBJECT_KERNEL))
        return CL_INVALID_KERNEL;
    cl_context context = kernel->program->context;
    if (!svm_is_supported(context->device))
        return CL_INVALID_OPERATION;
    if (index >= kernel->function->param_count)
        return CL_INVALID_ARG_INDEX;
    const struct symbol *param = kernel->function->params[index];
    const struct compile_arg *arg = source_of(kernel, index);
    if (image_is_argument(arg) || sampler_is_argument(arg) || !param->is_pointer ||
        param->pointer_space == SPACE_SHARED || (pointer && !svm_has(context, pointer, 0)))
        return CL_INVALID_ARG_VALUE;
    pthread_mutex_lock(&context->engine.lock);
    keep_memory(&kernel->arguments[index], NULL);
    kernel->arguments[index].shared = pointer;
    pthread_mutex_unlock(&context->engine.lock);
    return CL_SUCCESS;
}

/* Kernels reach all memory there is: what they are told of it is checked, and changes nothing. */
cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name, size_t size, const void *value) {
    if (!object_is(kernel, OBJECT_KERNEL))
        return CL_INVALID_KERNEL;
    cl_context context = kernel->program->context;
    if (!svm_is_supported(context->device))
        return CL_INVALID_OPERATION;
    if (!value)
        return CL_INVALID_VALUE;
    if (name == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM && size == sizeof(cl_bool))
        return *(const cl_bool *)value ? CL_INVALID_OPERATION : CL_SUCCESS;
    if (name != CL_KERNEL_EXEC_INFO_SVM_PTRS || !size || size % sizeof(void *))
        return CL_INVALID_VALUE;
    for (size_t i = 0; i < size / sizeof(void *); i++)
        if (!svm_has(context, ((void *const *)value)[i], 0))
            return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

/* ---- queries ---- */

cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t size, void *value, size_t *size_ret) {
    if (!object_is(kernel, OBJECT_KERNEL))
        return CL_INVALID_KERNEL;
    switch (name) {
        INFO_TEXT(CL_KERNEL_FUNCTION_NAME, kernel->function->name)
        INFO(CL_KERNEL_NUM_ARGS, cl_uint, kernel->function->param_count)
        INFO(CL_KERNEL_REFERENCE_COUNT, cl_uint, object_references(&kernel->object))
        INFO(CL_KERNEL_CONTEXT, cl_context, kernel->program->context)
        INFO(CL_KERNEL_PROGRAM, cl_program, kernel->program)
        INFO_TEXT(CL_KERNEL_ATTRIBUTES, kernel->attributes)
    default: return CL_INVALID_VALUE;
    }
}

static cl_kernel_arg_address_qualifier address_qualifier(const struct compile_arg *arg) {
    static const cl_kernel_arg_address_qualifier of[] = {
        [COMPILE_PRIVATE] = CL_KERNEL_ARG_ADDRESS_PRIVATE,
        [COMPILE_GLOBAL] = CL_KERNEL_ARG_ADDRESS_GLOBAL,
        [COMPILE_CONSTANT] = CL_KERNEL_ARG_ADDRESS_CONSTANT,
        [COMPILE_LOCAL] = CL_KERNEL_ARG_ADDRESS_LOCAL,
    };
    return of[arg->space];
}

static cl_kernel_arg_access_qualifier access_qualifier(const struct compile_arg *arg) {
    static const cl_kernel_arg_access_qualifier of[] = {
        [COMPILE_ACCESS_NONE] = CL_KERNEL_ARG_ACCESS_NONE,
        [COMPILE_READ_ONLY] = CL_KERNEL_ARG_ACCESS_READ_ONLY,
        [COMPILE_WRITE_ONLY] = CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
        [COMPILE_READ_WRITE] = CL_KERNEL_ARG_ACCESS_READ_WRITE,
    };
    return of[arg->access];
}

static cl_kernel_arg_type_qualifier type_qualifier(const struct compile_arg *arg) {
    return (arg->is_const ? CL_KERNEL_ARG_TYPE_CONST : 0u) | (arg->is_volatile ? CL_KERNEL_ARG_TYPE_VOLATILE : 0u) |
           (arg->is_restrict ? CL_KERNEL_ARG_TYPE_RESTRICT : 0u);
}

cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name, size_t size,
                                      void *value, size_t *size_ret) {
    if (!object_is(kernel, OBJECT_KERNEL))
        return CL_INVALID_KERNEL;
    if (index >= kernel->function->param_count)
        return CL_INVALID_ARG_INDEX;
    if (!kernel->source || !kernel->source->has_arg_info || index >= kernel->source->arg_count)
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    const struct compile_arg *arg = &kernel->source->args[index];
    switch (name) {
        INFO(CL_KERNEL_ARG_ADDRESS_QUALIFIER, cl_kernel_arg_address_qualifier, address_qualifier(arg))
        INFO(CL_KERNEL_ARG_ACCESS_QUALIFIER, cl_kernel_arg_access_qualifier, access_qualifier(arg))
        INFO_TEXT(CL_KERNEL_ARG_TYPE_NAME, arg->type_name)
        INFO(CL_KERNEL_ARG_TYPE_QUALIFIER, cl_kernel_arg_type_qualifier, type_qualifier(arg))
        INFO_TEXT(CL_KERNEL_ARG_NAME, arg->name)
    default: return CL_INVALID_VALUE;
    }
}

size_t kernel_block_threads(const struct _cl_kernel *kernel) {
    const size_t machine = kernel->program->context->device->machine.max_block_threads;
    const uint32_t *most = kernel->function->max_ntid;
    const size_t own = (size_t)most[0] * (most[1] ? most[1] : 1) * (most[2] ? most[2] : 1);
    return own && own < machine ? own : machine;
}

void kernel_required_size(const struct _cl_kernel *kernel, uint32_t size[3]) {
    const uint32_t *from = kernel->function->required_ntid;
    if (!from[0] && kernel->source)
        from = kernel->source->reqd_work_group_size;
    for (unsigned i = 0; i < 3; i++)
        size[i] = from[0] && !from[i] ? 1 : from[i];
}

static cl_ulong local_bytes(cl_kernel kernel) {
    pthread_mutex_t *lock = &kernel->program->context->engine.lock;
    cl_ulong bytes = kernel->function->shared_bytes;
    pthread_mutex_lock(lock);
    for (unsigned i = 0; i < kernel->function->param_count; i++)
        bytes += kernel->arguments[i].local_bytes;
    pthread_mutex_unlock(lock);
    return bytes;
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info name,
                                            size_t size, void *value, size_t *size_ret) {
    if (!object_is(kernel, OBJECT_KERNEL))
        return CL_INVALID_KERNEL;
    cl_device_id own = kernel->program->context->device;
    if (device && device != own)
        return CL_INVALID_DEVICE;
    uint32_t required[3];
    kernel_required_size(kernel, required);
    const size_t compiled[] = {required[0], required[1], required[2]};
    switch (name) {
        INFO(CL_KERNEL_WORK_GROUP_SIZE, size_t, kernel_block_threads(kernel))
        INFO_LIST(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, size_t, compiled, 3)
        INFO(CL_KERNEL_LOCAL_MEM_SIZE, cl_ulong, local_bytes(kernel))
        INFO(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, size_t, machine_warp_threads(&own->machine))
        INFO(CL_KERNEL_PRIVATE_MEM_SIZE, cl_ulong, kernel->function->local_bytes)
    default: return CL_INVALID_VALUE; /* CL_KERNEL_GLOBAL_WORK_SIZE: only of built-in kernels and custom devices */
    }
}

/* Threads of a size given as one to three numbers; 0: it is none. */
static size_t threads_of(const void *input, size_t input_bytes) {
    const size_t *sizes = input, count = input_bytes / sizeof *sizes;
    if (!input || !count || count > 3 || input_bytes % sizeof *sizes)
        return 0;
    size_t threads = 1;
    for (size_t i = 0; i < count; i++)
        threads *= sizes[i];
    return threads;
}

cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info name,
                                           size_t input_bytes, const void *input, size_t size, void *value,
                                           size_t *size_ret) {
    if (!object_is(kernel, OBJECT_KERNEL))
        return CL_INVALID_KERNEL;
    if (device && device != kernel->program->context->device)
        return CL_INVALID_DEVICE;
    const size_t most = kernel_block_threads(kernel), groups = (most + SUB_GROUP_THREADS - 1) / SUB_GROUP_THREADS;
    const bool of_range =
        name == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE || name == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE;
    const size_t threads = of_range ? threads_of(input, input_bytes) : 0;
    if (of_range && !threads)
        return CL_INVALID_VALUE;
    size_t sizes[3] = {0};
    if (name == CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT) {
        const size_t wanted = input && input_bytes == sizeof wanted ? *(const size_t *)input : 0;
        if (!wanted)
            return CL_INVALID_VALUE;
        if (wanted <= groups && wanted * SUB_GROUP_THREADS <= most)
            sizes[0] = wanted * SUB_GROUP_THREADS, sizes[1] = sizes[2] = 1;
    }
    switch (name) {
        INFO(CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, size_t,
             threads < SUB_GROUP_THREADS ? threads : SUB_GROUP_THREADS)
        INFO(CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, size_t, (threads + SUB_GROUP_THREADS - 1) / SUB_GROUP_THREADS)
        INFO_LIST(CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, size_t, sizes,
                  size / sizeof(size_t) > 0 && size / sizeof(size_t) < 3 ? size / sizeof(size_t) : 3)
        INFO(CL_KERNEL_MAX_NUM_SUB_GROUPS, size_t, groups)
        INFO(CL_KERNEL_COMPILE_NUM_SUB_GROUPS, size_t, 0)
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetKernelSubGroupInfoKHR(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info name,
                                              size_t input_bytes, const void *input, size_t size, void *value,
                                              size_t *size_ret) {
    return clGetKernelSubGroupInfo(kernel, device, name, input_bytes, input, size, value, size_ret);
}

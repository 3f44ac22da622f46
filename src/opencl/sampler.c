/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's samplers. */
#include <string.h>

#include "opencl/image.h"
#include "opencl/info.h"

static bool addressing_of(cl_addressing_mode mode, enum image_addressing *out) {
    switch (mode) {
    case CL_ADDRESS_NONE: *out = ADDRESSING_NONE; return true;
    case CL_ADDRESS_CLAMP_TO_EDGE: *out = ADDRESSING_EDGE; return true;
    case CL_ADDRESS_CLAMP: *out = ADDRESSING_BORDER; return true;
    case CL_ADDRESS_REPEAT: *out = ADDRESSING_REPEAT; return true;
    case CL_ADDRESS_MIRRORED_REPEAT: *out = ADDRESSING_MIRROR; return true;
    default: return false;
    }
}

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool is_normalised, cl_addressing_mode addressing,
                                       cl_filter_mode filter, cl_int *code) {
    enum image_addressing mode;
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!image_is_supported(context->device))
        return object_refuse(code, CL_INVALID_OPERATION);
    if (!addressing_of(addressing, &mode) || (filter != CL_FILTER_LINEAR && filter != CL_FILTER_NEAREST) ||
        is_normalised > CL_TRUE)
        return object_refuse(code, CL_INVALID_VALUE);
    cl_sampler sampler = object_create(OBJECT_SAMPLER, sizeof *sampler);
    if (!sampler)
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    sampler->context = context;
    sampler->sampler = sampler_of(mode, filter == CL_FILTER_LINEAR, is_normalised);
    sampler->is_normalised = is_normalised, sampler->addressing = addressing, sampler->filter = filter;
    context_retain(context);
    object_refuse(code, CL_SUCCESS);
    return sampler;
}

/* Pairs of a name and a value up to a zero, each name at most once. */
static bool read_properties(const cl_sampler_properties *from, cl_sampler_properties values[3], size_t *count) {
    static const cl_sampler_properties names[3] = {CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE,
                                                   CL_SAMPLER_FILTER_MODE};
    bool seen[3] = {false, false, false};
    for (*count = 0; from && from[*count]; *count += 2) {
        unsigned i = 0;
        while (i < 3 && names[i] != from[*count])
            i++;
        if (i == 3 || seen[i])
            return false;
        seen[i] = true;
        values[i] = from[*count + 1];
    }
    *count += from != NULL;
    return true;
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties *properties,
                                                     cl_int *code) {
    cl_sampler_properties values[3] = {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST};
    size_t count;
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!read_properties(properties, values, &count) || values[0] > CL_TRUE || values[1] > UINT32_MAX ||
        values[2] > UINT32_MAX)
        return object_refuse(code, CL_INVALID_VALUE);
    cl_sampler sampler =
        clCreateSampler(context, (cl_bool)values[0], (cl_addressing_mode)values[1], (cl_filter_mode)values[2], code);
    if (sampler && count)
        memcpy(sampler->properties, properties, count * sizeof *properties);
    if (sampler)
        sampler->property_count = count;
    return sampler;
}

void sampler_release(cl_sampler sampler) {
    if (!object_release(&sampler->object))
        return;
    cl_context context = sampler->context;
    object_free(&sampler->object);
    context_release(context);
}

cl_int CL_API_CALL clRetainSampler(cl_sampler sampler) {
    if (!object_is(sampler, OBJECT_SAMPLER))
        return CL_INVALID_SAMPLER;
    object_retain(&sampler->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler) {
    if (!object_is(sampler, OBJECT_SAMPLER))
        return CL_INVALID_SAMPLER;
    sampler_release(sampler);
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info name, size_t size, void *value,
                                    size_t *size_ret) {
    if (!object_is(sampler, OBJECT_SAMPLER))
        return CL_INVALID_SAMPLER;
    switch (name) {
        INFO(CL_SAMPLER_REFERENCE_COUNT, cl_uint, object_references(&sampler->object))
        INFO(CL_SAMPLER_CONTEXT, cl_context, sampler->context)
        INFO(CL_SAMPLER_NORMALIZED_COORDS, cl_bool, sampler->is_normalised)
        INFO(CL_SAMPLER_ADDRESSING_MODE, cl_addressing_mode, sampler->addressing)
        INFO(CL_SAMPLER_FILTER_MODE, cl_filter_mode, sampler->filter)
        INFO_LIST(CL_SAMPLER_PROPERTIES, cl_sampler_properties, sampler->properties, sampler->property_count)
    default: return CL_INVALID_VALUE;
    }
}

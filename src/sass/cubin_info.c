/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a cubin that say something about kernels: parameters, threads, targets of branches, stacks. */
#include "sass/cubin_reader.h"

#include "base/bits.h"
#include "sass/turing.h"

struct info_record {
    unsigned attribute, format;
    uint32_t at, byte_count; /* of the value in the section */
    const uint8_t *bytes;
};

/* The next record from *at on; false: there is none, or it does not end in the section. */
static bool next_record(struct cubin_reader *r, const struct elf_section *section, uint32_t *at,
                        struct info_record *out) {
    if (*at == section->byte_count)
        return false;
    const uint8_t *bytes = section->bytes + *at;
    bool fits = section->byte_count - *at >= 4;
    if (fits) {
        *out = (struct info_record){bytes[1], bytes[0], *at + 2, 2, bytes + 2};
        if (bytes[0] == INFO_SIZED) {
            out->byte_count = (uint32_t)cubin_get(bytes + 2, 2);
            out->at += 2, out->bytes += 2;
        }
        fits = range_within(out->at, out->byte_count, section->byte_count);
    }
    if (!fits || out->format < INFO_NONE || out->format > INFO_SIZED) {
        cubin_refuse(r, section, *at,
                     fits ? "a record of unknown format" : "a record that does not end in the section");
        return false;
    }
    *at = out->at + out->byte_count;
    return true;
}

/* Parameters come in any order. */
static void read_param(struct cubin_reader *r, const struct elf_section *section, const struct info_record *record,
                       struct native_kernel *kernel, unsigned count) {
    const unsigned which = (unsigned)cubin_get(record->bytes + 4, 2);
    const uint32_t size = (uint32_t)cubin_get(record->bytes + 8, 4) >> 18;
    if (which >= count || kernel->params[which].bytes || !size)
        cubin_refuse(r, section, record->at, "parameter %u of %u bytes: there are %u, each once", which, (unsigned)size,
                     count);
    else
        kernel->params[which] = (struct native_param){(uint32_t)cubin_get(record->bytes + 6, 2), size};
}

/* Tesla has parameters in shared memory, Fermi in bank 0. */
static void read_param_bytes(struct cubin_reader *r, const struct elf_section *section,
                             const struct info_record *record, struct native_kernel *kernel) {
    const bool is_shared = record->attribute == INFO_SHARED_PARAM_BYTES;
    if (is_shared != (r->program->isa == NATIVE_TESLA))
        cubin_refuse(r, section, record->at, "unsupported: parameters in %s",
                     is_shared ? "shared memory of Fermi" : "a constant bank of Tesla");
    else
        kernel->param_bytes = (uint32_t)cubin_get(record->bytes, 2);
}

static void read_ways(struct cubin_reader *r, const struct elf_section *section, const struct info_record *record,
                      struct native_kernel *kernel) {
    struct {
        struct native_way *items;
        unsigned count, capacity;
    } ways = {0};
    for (uint32_t at = 0; at < record->byte_count;) {
        const uint32_t rest = record->byte_count - at;
        const uint64_t count = rest >= 12 ? cubin_get(record->bytes + at + 8, 4) : 0;
        if (rest < 12 || count > (rest - 12) / 4) {
            cubin_refuse(r, section, record->at + at, "targets of an indirect branch that do not end in the record");
            return;
        }
        for (uint32_t i = 0; i < count; i++)
            *ARENA_PUSH(&r->program->arena, &ways) =
                (struct native_way){(uint32_t)cubin_get(record->bytes + at, 4),
                                    (uint32_t)cubin_get(record->bytes + at + 12 + 4 * i, 4)};
        at += 12 + 4 * (uint32_t)count;
    }
    kernel->ways = ways.items, kernel->way_count = ways.count;
}

/* Where operations of a warp are, and in another record, in the same order, the registers that hold their masks. */
static void read_meetings(struct cubin_reader *r, const struct elf_section *section, const struct info_record *record,
                          struct native_kernel *kernel) {
    enum { ID_REGISTER = 0x05, ID_UNIFORM = 0x0b }; /* in the upper byte: R, UR */
    const unsigned count = record->byte_count / 4;
    if (!kernel->meetings) {
        kernel->meetings = ARENA_ARRAY(&r->program->arena, struct native_meeting, count + 1u);
        kernel->meeting_count = count;
        for (unsigned i = 0; i < count; i++)
            kernel->meetings[i].reg = NATIVE_NO_REGISTER;
    }
    if (count != kernel->meeting_count) {
        cubin_refuse(r, section, record->at, "%u operations of a warp, but %u masks", count, kernel->meeting_count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        const uint32_t word = (uint32_t)cubin_get(record->bytes + 4 * (size_t)i, 4);
        if (record->attribute == INFO_MEETINGS)
            kernel->meetings[i].address = word;
        else if (word >> 24 == ID_REGISTER || word >> 24 == ID_UNIFORM)
            kernel->meetings[i].reg = (uint8_t)word, kernel->meetings[i].is_uniform = word >> 24 == ID_UNIFORM;
    }
}

static void read_threads(const struct info_record *record, uint32_t threads[3]) {
    for (unsigned i = 0; i < 3; i++)
        threads[i] = (uint32_t)cubin_get(record->bytes + 4 * i, 4);
}

/* The sizes that records of a known attribute must have; others only describe. */
static bool has_size(const struct info_record *record) {
    switch (record->attribute) {
    case INFO_PARAM:
    case INFO_MAX_THREADS:
    case INFO_CLUSTER:
    case INFO_REQUIRED_THREADS: return record->format == INFO_SIZED && record->byte_count == 12;
    case INFO_PARAM_BANK: return record->format == INFO_SIZED && record->byte_count == 8;
    case INFO_PARAM_BYTES:
    case INFO_SHARED_PARAM_BYTES: return record->byte_count == 2;
    case INFO_MEETINGS:
    case INFO_MEETING_MASKS: return record->format == INFO_SIZED && record->byte_count % 4 == 0;
    case INFO_INDIRECT_TARGETS: return record->format == INFO_SIZED;
    default: return true;
    }
}

void cubin_read_info(struct cubin_reader *r, const struct elf_section *section, struct native_kernel *kernel) {
    const bool is_tesla = r->program->isa == NATIVE_TESLA;
    struct info_record record;
    unsigned count = 0;
    for (uint32_t at = 0; next_record(r, section, &at, &record);)
        count += record.attribute == INFO_PARAM;
    if (kernel->params || r->failed) {
        if (!r->failed)
            cubin_refuse(r, section, 0, "it is there twice");
        return;
    }
    kernel->params = ARENA_ARRAY(&r->program->arena, struct native_param, count + 1u);
    kernel->param_count = count;
    for (uint32_t at = 0; next_record(r, section, &at, &record);) {
        if (!has_size(&record)) {
            cubin_refuse(r, section, record.at, "attribute 0x%x with %u bytes", record.attribute,
                         (unsigned)record.byte_count);
            return;
        }
        switch (record.attribute) {
        case INFO_PARAM: read_param(r, section, &record, kernel, count); break;
        case INFO_MAX_THREADS: read_threads(&record, kernel->max_threads); break;
        case INFO_REQUIRED_THREADS: read_threads(&record, kernel->required_threads); break;
        case INFO_CLUSTER: read_threads(&record, kernel->cluster); break;
        case INFO_INDIRECT_TARGETS: read_ways(r, section, &record, kernel); break;
        case INFO_PARAM_BYTES:
        case INFO_SHARED_PARAM_BYTES: read_param_bytes(r, section, &record, kernel); break;
        case INFO_PARAM_BANK:
            if (is_tesla)
                cubin_refuse(r, section, record.at, "unsupported: parameters in a constant bank of Tesla");
            else if (cubin_get(record.bytes + 4, 2) != cubin_param_base(r->program))
                cubin_refuse(r, section, record.at, "unsupported: parameters at c[0x0][0x%x]; they are at 0x%x",
                             (unsigned)cubin_get(record.bytes + 4, 2), (unsigned)cubin_param_base(r->program));
            break;
        case INFO_MEETINGS:
        case INFO_MEETING_MASKS: read_meetings(r, section, &record, kernel); break;
        case INFO_BARRIERS: kernel->barrier_count = record.bytes[0]; break;
        default: break;
        }
    }
    for (unsigned i = 0; i < count && !r->failed; i++)
        if (!range_within(kernel->params[i].offset, kernel->params[i].bytes, kernel->param_bytes))
            cubin_refuse(r, section, 0, "parameter %u ends behind the %u bytes of all", i,
                         (unsigned)kernel->param_bytes);
}

void cubin_read_stacks(struct cubin_reader *r, const struct elf_section *section) {
    const bool is_turing = r->program->isa == NATIVE_TURING;
    struct info_record record;
    for (uint32_t at = 0; next_record(r, section, &at, &record);) {
        const bool is_count = is_turing && record.attribute == INFO_REGISTERS;
        if (record.attribute != INFO_FRAME_BYTES && record.attribute != INFO_MIN_STACK_BYTES &&
            !(is_turing && record.attribute == INFO_MAX_STACK_BYTES) && !is_count)
            continue;
        const uint32_t symbol = record.byte_count == 8 ? (uint32_t)cubin_get(record.bytes, 4) : UINT32_MAX;
        const uint64_t bytes = record.byte_count == 8 ? cubin_get(record.bytes + 4, 4) : 0;
        struct native_kernel *kernel =
            symbol < r->file.symbol_count ? cubin_kernel(r, r->file.symbols[symbol].name) : NULL;
        if (is_turing && !is_count && bytes == UINT32_MAX)
            continue; /* nobody knows */
        if (is_turing && !kernel && symbol < r->file.symbol_count &&
            r->file.symbols[symbol].type == ELF_SYMBOL_FUNCTION)
            continue; /* a function in a kernel's code, whose kernel counts it */
        if (!kernel || bytes > (is_count ? TURING_RZ : CUBIN_SPACE_BYTES_MAX))
            cubin_refuse(r, section, record.at, "%llu %s of symbol %u", (unsigned long long)bytes,
                         is_count ? "registers" : "bytes of stack", (unsigned)symbol);
        else if (is_count)
            kernel->register_count = (uint32_t)bytes;
        else if (bytes > kernel->local_bytes)
            kernel->local_bytes = (uint32_t)bytes;
    }
}

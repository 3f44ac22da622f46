/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/read.h"

#include <elf.h>
#include <string.h>

#include "compile/fatbin.h"

/* No further than they agree: a text may be shorter than a number. */
static bool begins_with(const unsigned char *data, uint32_t magic) {
    for (unsigned i = 0; i < sizeof magic; i++)
        if (data[i] != (unsigned char)(magic >> (8 * i)))
            return false;
    return true;
}

/* A file in memory says itself how long it is, by its parts. */
static size_t elf_bytes(const Elf64_Ehdr *header, const unsigned char *data) {
    size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    const size_t segments = header->e_phoff + (size_t)header->e_phnum * header->e_phentsize;
    end = segments > end ? segments : end;
    for (unsigned i = 0; i < header->e_shnum && header->e_shentsize == sizeof(Elf64_Shdr); i++) {
        Elf64_Shdr section;
        memcpy(&section, data + header->e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS && section.sh_offset + section.sh_size > end)
            end = section.sh_offset + section.sh_size;
    }
    return end;
}

static enum cuda_error read_native(const void *data, size_t bytes, const struct fatbin_wish *wish, struct fatbin *out,
                                   struct report *report) {
    enum { EM_CUDA_CODE = 190, ABI_WITH_SM_ABOVE = 8 };
    Elf64_Ehdr header;
    memcpy(&header, data, sizeof header);
    if (header.e_machine != EM_CUDA_CODE) {
        report_add(report, STATUS_INVALID, "the program loads an ELF file that is not a CUDA module");
        return cudaErrorInvalidKernelImage;
    }
    const unsigned flags = header.e_flags;
    const bool is_above = header.e_ident[EI_ABIVERSION] >= ABI_WITH_SM_ABOVE;
    const unsigned sm = is_above ? flags >> 8 & 0xff : flags & 0xff;
    if (wish->sm && !wish->ptx_only && sm_runs(wish->sm, sm)) {
        *out = (struct fatbin){
            .ptx = data, .bytes = bytes ? bytes : elf_bytes(&header, data), .arch = sm, .is_native = true};
        return cudaSuccess;
    }
    if (wish->sm)
        report_add(report, STATUS_INVALID,
                   "the module is a cubin, native code for sm_%u, which does not run here (isa=sm_%u)", sm, wish->sm);
    else
        report_add(report, STATUS_INVALID,
                   "the module is a cubin, native code for sm_%u only, which needs such a GPU; load PTX, or a fat "
                   "binary with PTX in it, or have native code run (isa=sm_86 and the like)",
                   sm);
    return cudaErrorNoKernelImageForDevice;
}

enum cuda_error module_read(const void *data, size_t bytes, const struct fatbin_wish *wish, struct arena *arena,
                            struct fatbin *out, struct report *report) {
    const uint32_t elf_magic = 0x464c457f, wrapper_magic = 0x466243b1; /* "\x7f" "ELF"; nvcc's wrapper */
    struct {
        uint32_t magic, version;
        const void *data;
    } wrapper;
    if (begins_with(data, elf_magic))
        return read_native(data, bytes, wish, out, report);
    if (begins_with(data, wrapper_magic) && !bytes) {
        memcpy(&wrapper, data, sizeof wrapper);
        data = wrapper.data;
    }
    if (begins_with(data, FATBIN_MAGIC)) {
        const size_t whole = bytes ? bytes : fatbin_bytes(data);
        if (!fatbin_read(data, whole, wish, arena, out, report))
            return cudaSuccess;
        return fatbin_arch(data, whole) ? cudaErrorInvalidKernelImage : cudaErrorNoKernelImageForDevice;
    }
    const size_t length = bytes ? strnlen(data, bytes) : strlen(data);
    *out = (struct fatbin){.ptx = bytes ? arena_strndup(arena, data, length) : data, .bytes = length};
    return cudaSuccess;
}

void module_tell(const struct jit_options *options, const char *text) {
    enum { INFO = 3, INFO_BYTES, ERRORS, ERROR_BYTES };
    char *room[2] = {NULL, NULL}; /* for what went well, of which there is nothing, and for what did not */
    size_t bytes[2] = {0, 0};
    for (unsigned i = 0; i < options->count; i++) {
        const int key = options->keys[i];
        if (key == INFO || key == ERRORS)
            room[key == ERRORS] = options->values[i];
        if (key == INFO_BYTES || key == ERROR_BYTES)
            bytes[key == ERROR_BYTES] = (size_t)(uintptr_t)options->values[i];
    }
    for (unsigned k = 0; k < 2; k++) {
        const char *words = k ? text : "";
        const size_t length = strlen(words) < bytes[k] ? strlen(words) : bytes[k] ? bytes[k] - 1 : 0;
        if (room[k] && bytes[k]) {
            memcpy(room[k], words, length);
            room[k][length] = 0;
        }
        bytes[k] = room[k] && length ? length + 1 : 0;
    }
    for (unsigned i = 0; i < options->count; i++) /* how much of the room is in use */
        if (options->keys[i] == INFO_BYTES || options->keys[i] == ERROR_BYTES)
            options->values[i] = (void *)(uintptr_t)bytes[options->keys[i] == ERROR_BYTES];
}

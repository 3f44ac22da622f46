/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_absent.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/process.h"
#include "result/guest.h"

enum { PROGRAM_LIMIT_BYTES = 1 << 30, LIBRARIES_MAX = 64 };

/* What the executable says of itself. */
struct executable_look {
    const uint8_t *bytes;
    size_t length;
    bool has_loader; /* it names one, which brings libraries to it */
    const char *libraries[LIBRARIES_MAX];
    unsigned library_count;
    const char *folders; /* that it wants libraries from before all others; NULL: none */
};

static const void *part(const struct executable_look *look, uint64_t offset, uint64_t bytes) {
    return offset <= look->length && bytes <= look->length - offset ? look->bytes + offset : NULL;
}

/* Where an address of the program lies in its file. */
static uint64_t offset_of(const struct executable_look *look, uint64_t address) {
    const ElfW(Ehdr) *head = (const void *)look->bytes;
    const ElfW(Phdr) *parts = part(look, head->e_phoff, head->e_phnum * sizeof *parts);
    for (unsigned i = 0; parts && i < head->e_phnum; i++)
        if (parts[i].p_type == PT_LOAD && address - parts[i].p_vaddr < parts[i].p_filesz)
            return parts[i].p_offset + (address - parts[i].p_vaddr);
    return UINT64_MAX;
}

static const char *text_at(const struct executable_look *look, uint64_t offset) {
    const char *text = part(look, offset, 1);
    return text && memchr(text, 0, look->length - offset) ? text : "";
}

static void read_dynamic(struct executable_look *look, const ElfW(Phdr) * where) {
    const ElfW(Dyn) *entries = part(look, where->p_offset, where->p_filesz);
    const size_t count = entries ? where->p_filesz / sizeof *entries : 0;
    uint64_t names = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        if (entries[i].d_tag == DT_STRTAB)
            names = offset_of(look, entries[i].d_un.d_ptr);
    for (size_t i = 0; i < count && names < look->length && entries[i].d_tag != DT_NULL; i++) {
        const char *text = text_at(look, names + entries[i].d_un.d_val);
        if (entries[i].d_tag == DT_NEEDED && look->library_count < LIBRARIES_MAX)
            look->libraries[look->library_count++] = text;
        if (entries[i].d_tag == DT_RPATH)
            look->folders = text;
    }
}

/* False: it is no program of this kind of computer. */
static bool read_program(struct executable_look *look) {
    const ElfW(Ehdr) *head = (const void *)look->bytes;
    if (look->length < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return false;
    const ElfW(Phdr) *parts = part(look, head->e_phoff, head->e_phnum * sizeof *parts);
    for (unsigned i = 0; parts && i < head->e_phnum; i++) {
        look->has_loader |= parts[i].p_type == PT_INTERP;
        if (parts[i].p_type == PT_DYNAMIC)
            read_dynamic(look, &parts[i]);
    }
    return parts != NULL;
}

static const char *library_like(const struct executable_look *look, const char *beginning) {
    for (unsigned i = 0; i < look->library_count; i++)
        if (strncmp(look->libraries[i], beginning, strlen(beginning)) == 0)
            return look->libraries[i];
    return NULL;
}

static bool is_there(struct arena *arena, const char *folder, const char *name) {
    return folder && file_exists(file_join(arena, folder, name));
}

/* ---- reasons ---- */

static const char *opencl_reason(const struct exec_absent *about, const struct executable_look *look,
                                 struct arena *arena) {
    static const char *const choosers[] = {"OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"};
    if (!about->opencl)
        return "it uses OpenCL, and Heddle's OpenCL library was not built: it needs opencl-c-headers and ocl-icd";
    for (unsigned i = 0; i < sizeof choosers / sizeof *choosers; i++)
        if (getenv(choosers[i]) && *getenv(choosers[i]))
            return arena_printf(
                arena,
                "it is linked with libOpenCL.so.1, but did not ask Heddle's driver for a platform; %s is set, "
                "which may name others in its place",
                choosers[i]);
    if (look->folders)
        return arena_printf(arena,
                            "it uses OpenCL and names the folder of its libraries itself (DT_RPATH %s): a "
                            "libOpenCL.so.1 there that is no loader of drivers knows no other than its own",
                            look->folders);
    return "it is linked with libOpenCL.so.1, but asked for no platform, or that library is no loader of drivers "
           "(OCL_ICD_VENDORS), such as ocl-icd's and Khronos's are";
}

static const char *cuda_reason(const struct exec_absent *about, const struct executable_look *look, const char *library,
                               struct arena *arena) {
    if (!about->cuda_folder)
        return arena_printf(arena,
                            "it asks for %s, and Heddle's runtime of CUDA was not built: it needs libzstd-dev and "
                            "liblz4-dev",
                            library);
    if (!is_there(arena, about->cuda_folder, library))
        return arena_printf(arena,
                            "it asks for %s, which Heddle does not have: there are libcudart.so.11.0, .12 and .13%s",
                            library, is_there(arena, about->cuda_folder, "libcuda.so.1") ? ", and libcuda.so.1" : "");
    if (look->folders)
        return arena_printf(arena,
                            "it names the folder of its libraries itself (DT_RPATH %s), so that %s comes from there",
                            look->folders, library);
    return arena_printf(arena, "it is linked with %s and registered no kernel there", library);
}

static const char *program_reason(const struct exec_absent *about, const struct executable_look *look,
                                  struct arena *arena) {
    const char *opencl = library_like(look, "libOpenCL.so"), *cuda = library_like(look, "libcudart.so");
    cuda = cuda ? cuda : library_like(look, "libcuda.so");
    if (!look->has_loader)
        return "it is linked statically, so no library can be replaced; link it dynamically";
    if (cuda)
        return cuda_reason(about, look, cuda, arena);
    if (opencl && strcmp(opencl, "libOpenCL.so.1") != 0)
        return arena_printf(arena, "it asks for %s; OpenCL's loader is libOpenCL.so.1", opencl);
    if (opencl)
        return opencl_reason(about, look, arena);
    if (memmem(look->bytes, look->length, ".nv_fatbin", 10))
        return "it holds CUDA's static runtime, which could not be replaced; link it with -cudart shared";
    return "it is not linked with libOpenCL.so.1, libcudart.so or libcuda.so.1, and neither it nor a process that it "
           "started loaded one; does it use OpenCL or CUDA?";
}

static const char *file_reason(const struct exec_absent *about, struct arena *arena) {
    struct stat info;
    char *data = NULL;
    const char *path = program_find(arena, about->program);
    struct executable_look look = {0};
    if (!path || stat(path, &info) != 0 ||
        file_read(path, PROGRAM_LIMIT_BYTES, arena, &data, &look.length, NULL) != STATUS_OK)
        return "it loaded neither";
    look.bytes = (const uint8_t *)data;
    if (look.length > 2 && strncmp(data, "#!", 2) == 0)
        return "it is a script, and no process that it started looked for an OpenCL platform or registered a kernel of "
               "CUDA's runtime";
    if (info.st_mode & (S_ISUID | S_ISGID))
        return "it is set-user-ID or set-group-ID, and for such programs the host's loader heeds no environment";
    if (!read_program(&look))
        return "it is no program of this computer's own kind, to which Heddle's libraries could be linked";
    return program_reason(about, &look, arena);
}

const char *exec_absent_reason(const struct exec_absent *about, struct arena *arena) {
    const char *how = about->code ? arena_printf(arena, " (its exit status is %d)", about->code) : "";
    const char *reason;
    if (is_there(arena, about->session, SESSION_OPENED))
        reason = "it opened the device and launched nothing";
    else if (is_there(arena, about->session, SESSION_FOUND_OPENCL))
        reason = "it found the platform and made no context on its device";
    else if (is_there(arena, about->session, SESSION_FOUND_CUDA))
        reason = "it has kernels for CUDA's runtime and called none of its functions that need a device";
    else
        reason = file_reason(about, arena);
    return arena_printf(arena, "%s%s", reason, how);
}

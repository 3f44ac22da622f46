/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded before a program begins (LD_PRELOAD): where it was linked with CUDA's static runtime, as nvcc does by default, that
 * runtime's functions become jumps into libheddle_cudart.so. The executable's table of symbols says where they are. Needs nothing
 * of the other rooms: it is in every process that `heddle exec` starts. Tried on x86-64; written, but not tried, for aarch64. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libheddle_cudart.so"

#if defined(__x86_64__)
enum { JUMP_BYTES = 12 };
static void write_jump(unsigned char *at, const void *to) {
    const unsigned char code[JUMP_BYTES] = {0x48, 0xb8, [10] = 0xff, [11] = 0xe0}; /* movabs $to, %rax; jmp *%rax */
    memcpy(at, code, sizeof code);
    memcpy(at + 2, &to, sizeof to);
}
#elif defined(__aarch64__)
enum { JUMP_BYTES = 16 };
static void write_jump(unsigned char *at, const void *to) {
    static const uint32_t code[] = {0x58000050, 0xd61f0200}; /* ldr x16, .+8; br x16 */
    memcpy(at, code, sizeof code);
    memcpy(at + sizeof code, &to, sizeof to);
    __builtin___clear_cache((char *)at, (char *)at + JUMP_BYTES);
}
#else
#error "no jump is known for this processor"
#endif

/* The executable as a file. */
struct executable {
    const unsigned char *data;
    size_t bytes;
    const ElfW(Shdr) * sections;
    unsigned section_count;
    const ElfW(Sym) * symbols; /* NULL: it is stripped */
    size_t symbol_count;
    const char *names;
    size_t name_bytes;
    uintptr_t base; /* what is added to its addresses where it was loaded */
};

static bool within(const struct executable *e, uint64_t offset, uint64_t bytes) {
    return offset <= e->bytes && bytes <= e->bytes - offset;
}

static bool open_executable(struct executable *e) {
    struct stat about;
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (fstat(file, &about) == 0 && about.st_size >= (off_t)sizeof(ElfW(Ehdr))) {
        e->bytes = (size_t)about.st_size;
        void *data = mmap(NULL, e->bytes, PROT_READ, MAP_PRIVATE, file, 0);
        e->data = data == MAP_FAILED ? NULL : data;
    }
    close(file);
    return e->data != NULL;
}

/* Its sections, and of these the table of symbols; false: it has none that make sense. */
static bool read_sections(struct executable *e) {
    const ElfW(Ehdr) *header = (const void *)e->data;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(ElfW(Shdr)) ||
        !within(e, header->e_shoff, (uint64_t)header->e_shnum * sizeof(ElfW(Shdr))))
        return false;
    e->sections = (const void *)(e->data + header->e_shoff);
    e->section_count = header->e_shnum;
    for (unsigned i = 0; i < e->section_count; i++) {
        const ElfW(Shdr) *section = &e->sections[i];
        if (section->sh_type != SHT_SYMTAB || section->sh_link >= e->section_count)
            continue;
        const ElfW(Shdr) *names = &e->sections[section->sh_link];
        if (!within(e, section->sh_offset, section->sh_size) || !within(e, names->sh_offset, names->sh_size))
            return false;
        e->symbols = (const void *)(e->data + section->sh_offset);
        e->symbol_count = section->sh_size / sizeof(ElfW(Sym));
        e->names = (const char *)e->data + names->sh_offset;
        e->name_bytes = names->sh_size;
    }
    return true;
}

static bool has_section(const struct executable *e, const char *name) {
    const ElfW(Ehdr) *header = (const void *)e->data;
    if (header->e_shstrndx >= e->section_count)
        return false;
    const ElfW(Shdr) *names = &e->sections[header->e_shstrndx];
    for (unsigned i = 0; within(e, names->sh_offset, names->sh_size) && i < e->section_count; i++) {
        const uint32_t at = e->sections[i].sh_name;
        if (at + strlen(name) < names->sh_size && strcmp((const char *)e->data + names->sh_offset + at, name) == 0)
            return true;
    }
    return false;
}

/* The name of a function that is in the executable; NULL: of anything else. */
static const char *function_name(const struct executable *e, size_t index) {
    const ElfW(Sym) *symbol = &e->symbols[index];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF || symbol->st_name >= e->name_bytes)
        return NULL;
    return e->names + symbol->st_name;
}

static bool has_function(const struct executable *e, const char *name) {
    for (size_t i = 0; i < e->symbol_count; i++) {
        const char *found = function_name(e, i);
        if (found && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

/* Does it ask the loader for CUDA's runtime? */
static bool needs_shared_runtime(const struct link_map *map) {
    const char *names = NULL;
    for (const ElfW(Dyn) *one = map->l_ld; one && one->d_tag != DT_NULL; one++)
        if (one->d_tag == DT_STRTAB)
            names = (const char *)one->d_un.d_ptr;
    for (const ElfW(Dyn) *one = map->l_ld; names && one->d_tag != DT_NULL; one++)
        if (one->d_tag == DT_NEEDED && strncmp(names + one->d_un.d_val, "libcudart.so", 12) == 0)
            return true;
    return false;
}

/* The version whose structs the program has: by functions that one of them alone has. */
static const char *version_of(const struct executable *e) {
    if (has_function(e, "cudaGetDeviceProperties_v2"))
        return "libcudart.so.12";
    return has_function(e, "cudaThreadSynchronize") ? "libcudart.so.11.0" : "libcudart.so.13";
}

/* Where this library is, and how long the name of its folder is, the last slash included. */
static const char *own_path(int *folder_length) {
    Dl_info here;
    if (!dladdr(LIBRARY, &here) || !here.dli_fname) /* something of this library */
        return NULL;
    const char *end = strrchr(here.dli_fname, '/');
    *folder_length = end ? (int)(end - here.dli_fname) + 1 : 0;
    return here.dli_fname;
}

static void *open_library(void) {
    int length = 0;
    char path[PATH_MAX];
    const char *own = own_path(&length);
    if (!own || snprintf(path, sizeof path, "%.*s" LIBRARY, length, own) >= (int)sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* A program may name the folder of its libraries so that no other is looked at (DT_RPATH): it has another's runtime then. */
static void look_for_others(const struct link_map *map) {
    int length = 0;
    const char *own = own_path(&length);
    for (; map && own; map = map->l_next)
        if (strstr(map->l_name, "/libcudart.so.") && strncmp(map->l_name, own, (size_t)length) != 0)
            fprintf(stderr,
                    "heddle: this program does not run on the simulated GPU: it names another runtime of CUDA, %s\n",
                    map->l_name);
}

/* A function shorter than a jump is followed by padding, or else by another. */
static bool has_room(const struct executable *e, size_t index) {
    const uint64_t start = e->symbols[index].st_value;
    for (size_t i = 0; e->symbols[index].st_size < JUMP_BYTES && i < e->symbol_count; i++)
        if (function_name(e, i) && e->symbols[i].st_value > start && e->symbols[i].st_value < start + JUMP_BYTES)
            return false;
    return e->symbols[index].st_size >= JUMP_BYTES || start % 16 == 0;
}

/* False: the host does not let us write there. */
static bool redirect(const struct executable *e, const ElfW(Sym) * symbol, const void *to) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = e->base + symbol->st_value;
    const uintptr_t first = at / page * page, end = (at + JUMP_BYTES + page - 1) / page * page;
    void *start = (void *)first;
    if (mprotect(start, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    write_jump((unsigned char *)at, to);
    return mprotect(start, end - first, PROT_READ | PROT_EXEC) == 0;
}

static void redirect_all(const struct executable *e) {
    void *library = open_library();
    const char *version = version_of(e);
    if (!library) {
        fprintf(stderr, "heddle: CUDA's static runtime cannot be replaced: %s\n", dlerror());
        return;
    }
    for (size_t i = 0; i < e->symbol_count; i++) {
        const char *name = function_name(e, i);
        if (!name || (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0))
            continue;
        const void *to = dlvsym(library, name, version); /* what is none of the runtime's has none */
        if (!to)
            continue;
        if (!has_room(e, i) || !redirect(e, &e->symbols[i], to))
            fprintf(stderr, "heddle: %s of CUDA's static runtime cannot be replaced; link with -cudart shared\n", name);
    }
}

__attribute__((constructor)) static void begin(void) {
    struct executable e = {0};
    struct link_map *map = NULL;
    void *program = NULL;
    if (!open_executable(&e))
        return;
    if (read_sections(&e) && has_section(&e, ".nv_fatbin") && (program = dlopen(NULL, RTLD_NOW)) &&
        dlinfo(program, RTLD_DI_LINKMAP, &map) == 0) {
        e.base = map->l_addr;
        if (needs_shared_runtime(map))
            look_for_others(map);
        else if (has_function(&e, "__cudaRegisterFatBinary"))
            redirect_all(&e);
        else if (!e.symbols)
            fputs("heddle: this CUDA program holds CUDA's static runtime and is stripped, so its functions cannot be "
                  "found: "
                  "it does not run on the simulated GPU. Link it with -cudart shared, or do not strip it.\n",
                  stderr);
    }
    munmap((void *)(uintptr_t)e.data, e.bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/process.h"
#include "result/layout.h"

/* A process on another computer cannot be asked: it touches its folder every minute. When it was not for so long, others may
 * do the same work; when it was not for a day, the folder goes. */
enum { SILENT_SECONDS = 600, STALE_SECONDS = 24 * 3600, RESULT_LIMIT_BYTES = 1 << 30 };

enum status store_open(struct store *store, const char *folder, struct arena *arena, struct report *report) {
    const char *chosen = getenv("HEDDLE_STORE"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    *store = (struct store){.arena = arena, .folder = folder};
    if (gethostname(store->host, sizeof store->host - 1) != 0 || !store->host[0])
        strcpy(store->host, "host");
    for (char *c = store->host; *c; c++)
        *c = *c == '/' ? '-' : *c;
    if (folder)
        return STATUS_OK;
    if (chosen && *chosen)
        store->folder = arena_strdup(arena, chosen);
    else if (data && data[0] == '/')
        store->folder = arena_printf(arena, "%s/heddle/store", data);
    else if (home && home[0] == '/')
        store->folder = arena_printf(arena, "%s/.local/share/heddle/store", home);
    else
        return report_add(report, STATUS_INVALID, "there is no folder to keep results in: give --store DIR");
    return STATUS_OK;
}

static const char *ending(enum store_state state) { return state == STORE_DONE ? ".json" : ".failed.json"; }

char *store_path(const struct store *store, struct arena *arena, const char *key, enum store_state state) {
    return arena_printf(arena, "%s/%.2s/%s%s", store->folder, key, key, ending(state));
}

static enum store_found read_whole(const char *path, struct arena *arena, char **text, size_t *length) {
    if (access(path, F_OK) != 0)
        return STORE_NONE;
    const enum status status = file_read(path, RESULT_LIMIT_BYTES, arena, text, length, NULL);
    return !status && result_check_seal(*text, *length) == RESULT_SEALED ? STORE_WHOLE : STORE_DAMAGED;
}

enum store_found store_read(const struct store *store, const char *key, enum store_state state, struct arena *arena,
                            char **text, size_t *length) {
    return read_whole(store_path(store, arena, key, state), arena, text, length);
}

json_t *store_document(const struct store *store, const char *key, enum store_state state, struct arena *arena) {
    char *text = NULL;
    size_t length = 0;
    return store_read(store, key, state, arena, &text, &length) == STORE_WHOLE ? json_loadb(text, length, 0, NULL)
                                                                               : NULL;
}

static enum store_found look(const struct store *store, const char *key, enum store_state state) {
    struct arena scratch = {0};
    char *text = NULL;
    size_t length = 0;
    const enum store_found found = store_read(store, key, state, &scratch, &text, &length);
    arena_free(&scratch);
    return found;
}

bool store_has(const struct store *store, const char *key) {
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%.2s/%s%s", store->folder, key, key, ending(STORE_DONE));
    return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

enum store_state store_find(const struct store *store, const char *key) {
    if (look(store, key, STORE_DONE) == STORE_WHOLE)
        return STORE_DONE;
    return look(store, key, STORE_FAILED) == STORE_WHOLE ? STORE_FAILED : STORE_MISSING;
}

bool store_is_damaged(const struct store *store, const char *key) {
    return look(store, key, STORE_DONE) == STORE_DAMAGED || look(store, key, STORE_FAILED) == STORE_DAMAGED;
}

static void index_folder(const struct store *store, const char *prefix, struct store_index *out, struct arena *arena) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", store->folder, prefix);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const size_t length = strspn(entry->d_name, "0123456789abcdef");
        const char *rest = entry->d_name + length;
        const enum store_state state = strcmp(rest, ending(STORE_DONE)) == 0 ? STORE_DONE : STORE_FAILED;
        if (length != STORE_KEY_BYTES - 1 || strcmp(rest, ending(state)) != 0)
            continue;
        struct store_entry *one = ARENA_PUSH(arena, out);
        memcpy(one->key, entry->d_name, length);
    }
    if (folder)
        closedir(folder);
}

static int by_key(const void *a, const void *b) {
    const struct store_entry *one = a, *other = b;
    return strcmp(one->key, other->key);
}

struct store_index store_index(const struct store *store, struct arena *arena) {
    struct store_index out = {0};
    for (unsigned i = 0; i < 256; i++) {
        char prefix[3];
        snprintf(prefix, sizeof prefix, "%02x", i);
        index_folder(store, prefix, &out, arena);
    }
    if (out.count)
        qsort(out.items, out.count, sizeof *out.items, by_key);
    return out;
}

bool store_index_has(const struct store_index *index, const char *key) {
    struct store_entry wanted;
    snprintf(wanted.key, sizeof wanted.key, "%s", key);
    return index->count && bsearch(&wanted, index->items, index->count, sizeof wanted, by_key);
}

static enum status refuse(const char *path, const char *what, struct report *report) {
    return report_add(report, STATUS_SYSTEM, "%s: %s: %s", path, what, strerror(errno));
}

enum status store_scratch(const struct store *store, const char *key, char **out, struct report *report) {
    *out = arena_printf(store->arena, "%s/tmp/%.2s/%s.%s.%ld", store->folder, key, key, store->host, (long)getpid());
    if (!folder_make(store->arena, *out))
        return refuse(*out, "the store cannot be written", report);
    return STATUS_OK;
}

void store_touch(const char *scratch) { utimensat(AT_FDCWD, scratch, NULL, 0); }

void store_scratch_remove(const struct store *store, const char *scratch) { folder_remove(store->arena, scratch); }

/* A name lasts when its folder is written. */
static void sync_folder(const char *path) {
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* Gives the file its name unless somebody has it. 0: ours, 1: there was one, -1: refused. link(2) is atomic on NFS too,
 * where a lost reply makes it say EEXIST of what it did itself: then our file has two names. */
static int publish(const char *temporary, const char *path) {
    struct stat about;
    if (link(temporary, path) == 0 || (errno == EEXIST && stat(temporary, &about) == 0 && about.st_nlink == 2))
        return 0;
    if (errno == EEXIST)
        return 1;
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return -1;
    /* a file system without hard links */
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return 0;
    return errno == EEXIST ? 1 : -1;
}

/* False: refused. One that is damaged gives way. */
static bool publish_over_damaged(const struct store *store, const char *key, enum store_state state,
                                 const char *temporary, const char *path) {
    const int published = publish(temporary, path);
    if (published == 1 && look(store, key, state) == STORE_DAMAGED)
        return rename(temporary, path) == 0;
    return published >= 0;
}

enum status store_keep(const struct store *store, const char *scratch, const char *key, enum store_state state,
                       json_t *document, struct report *report) {
    struct arena arena = {0};
    size_t length = 0;
    const char *path = store_path(store, store->arena, key, state), *folder = file_dir(store->arena, path);
    const char *temporary = arena_printf(store->arena, "%s/document", scratch);
    const char *text = result_seal(document, &arena, &length);
    enum status status = STATUS_OK;
    if (!text) {
        status = report_add(report, STATUS_SYSTEM, "no memory for the result, or it is larger than 1 GiB");
    } else if (!folder_make(store->arena, folder)) {
        status = refuse(folder, "the store cannot be written", report);
    } else {
        if (!file_create(temporary, text, length) || !publish_over_damaged(store, key, state, temporary, path))
            status = refuse(path, "the result cannot be kept", report);
        unlink(temporary); /* or whoever writes there next would write into the result */
        sync_folder(folder);
    }
    arena_free(&arena);
    return status;
}

void store_forget_failure(const struct store *store, const char *key) {
    unlink(store_path(store, store->arena, key, STORE_FAILED));
}

/* Not one that is dead but that nobody has buried, as happens where the first process of a container does not. */
static bool process_lives(long pid) {
    char path[64], text[512];
    if (pid <= 0 || (kill((pid_t)pid, 0) != 0 && errno != EPERM))
        return false;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *state = strrchr(text, ')'); /* the name before it may hold anything */
    return !state || (strncmp(state, ") Z", 3) != 0 && strncmp(state, ") X", 3) != 0);
}

/* Of "KEY.HOST.PID" in tmp/ab/: whether its process lives. */
static bool is_alive(const struct store *store, const char *name, time_t silent_seconds) {
    const char *host = name + STORE_KEY_BYTES, *dot = strrchr(name, '.');
    const size_t host_length = strlen(store->host);
    if (host + host_length == dot && strncmp(host, store->host, host_length) == 0)
        return process_lives(strtol(dot + 1, NULL, 10));
    char path[PATH_MAX];
    struct stat about;
    const int length = snprintf(path, sizeof path, "%s/tmp/%.2s/%s", store->folder, name, name);
    if (length < 0 || (size_t)length >= sizeof path || stat(path, &about) != 0)
        return false;
    return about.st_mtime + silent_seconds > time(NULL);
}

static bool is_scratch(const char *name) {
    return strspn(name, "0123456789abcdef") == STORE_KEY_BYTES - 1 && name[STORE_KEY_BYTES - 1] == '.' &&
           strrchr(name, '.') > name + STORE_KEY_BYTES;
}

/* Running points whose key begins as this one. */
static DIR *open_tmp(const struct store *store, const char *key) {
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/tmp/%.2s", store->folder, key);
    return length > 0 && (size_t)length < sizeof path ? opendir(path) : NULL;
}

bool store_is_running(const struct store *store, const char *key) {
    DIR *tmp = open_tmp(store, key);
    bool found = false;
    for (struct dirent *entry; tmp && !found && (entry = readdir(tmp));)
        found = is_scratch(entry->d_name) && strncmp(entry->d_name, key, STORE_KEY_BYTES - 1) == 0 &&
                is_alive(store, entry->d_name, SILENT_SECONDS);
    if (tmp)
        closedir(tmp);
    return found;
}

static unsigned clean_one(const struct store *store, const char *prefix) {
    DIR *tmp = open_tmp(store, prefix);
    unsigned removed = 0;
    for (struct dirent *entry; tmp && (entry = readdir(tmp));)
        if (is_scratch(entry->d_name) && !is_alive(store, entry->d_name, STALE_SECONDS)) {
            const char *path = arena_printf(store->arena, "%s/tmp/%s/%s", store->folder, prefix, entry->d_name);
            folder_remove(store->arena, path);
            removed++;
        }
    if (tmp)
        closedir(tmp);
    return removed;
}

unsigned store_clean(const struct store *store) {
    unsigned removed = 0;
    for (unsigned i = 0; i < 256; i++) {
        char prefix[3];
        snprintf(prefix, sizeof prefix, "%02x", i);
        removed += clean_one(store, prefix);
    }
    return removed;
}

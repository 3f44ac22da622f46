/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HEDDLE_PLUGIN_HOST
#include <heddle-plugin.h>

#include "base/added.h"
#include "base/file.h"
#include "machine/model.h"
#include "machine/plugin_check.h"

enum { FILE_LIMIT_BYTES = 64 << 20 };

/* What is loaded belongs to the process, as the library that is loaded does. */
static struct {
    pthread_mutex_t lock;
    struct arena arena;
    struct plugin_file files[ADDED_MAX]; /* each has a part */
    unsigned count, parts;
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct plugin_host host = {
#define FUNCTION(type, name, parameters, arguments) .name = name,
#define PROCEDURE(name, parameters, arguments) .name = name,
#include "machine/plugin_functions.def"
#undef FUNCTION
#undef PROCEDURE
};

const struct plugin_file *plugin_at(unsigned number) { return number < loaded.count ? &loaded.files[number] : NULL; }

const char *plugin_paths(struct arena *arena) {
    const char *all = NULL;
    for (unsigned i = 0; i < loaded.count; i++)
        all = all ? arena_printf(arena, "%s\n%s", all, loaded.files[i].path) : loaded.files[i].path;
    return all;
}

/* ---- adding ---- */

static const char *const *names_of(const struct plugin *plugin) {
    struct {
        const char **items;
        unsigned count, capacity;
    } names = {0};
    struct arena *arena = &loaded.arena;
#define NAMES(list, key)                                                                                               \
    for (unsigned i = 0; plugin->list && plugin->list[i]; i++)                                                         \
        *ARENA_PUSH(arena, &names) = arena_printf(arena, key "=%s", plugin->list[i]->name);
    NAMES(mechanisms, "divergence.mechanism")
    NAMES(schedulers, "sm.scheduler")
    NAMES(predictors, "sm.predictor")
    NAMES(replacements, "replacement")
#undef NAMES
    *ARENA_PUSH(arena, &names) = NULL;
    return names.items;
}

/* Each was checked, and has room. */
static void add(const struct plugin *plugin) {
#define ADD(list, kind)                                                                                                \
    for (unsigned i = 0; plugin->list && plugin->list[i]; i++)                                                         \
        added_put(kind, plugin->list[i]);
    ADD(mechanisms, ADDED_MECHANISM)
    ADD(schedulers, ADDED_SCHEDULER)
    ADD(predictors, ADDED_PREDICTOR)
    ADD(replacements, ADDED_REPLACEMENT)
#undef ADD
}

/* ---- loading ---- */

static enum status open_library(const char *path, const struct plugin **out, void **library, struct report *report) {
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*library)
        return report_add(report, STATUS_INVALID,
                          "cannot be loaded as a shared library: %s; 'heddle new' begins a plug-in", dlerror());
    *out = dlsym(*library, "heddle_plugin");
    if (!*out)
        return report_add(report, STATUS_INVALID,
                          "%s: not a plug-in: it has no heddle_plugin (see HEDDLE_PLUGIN in heddle-plugin.h)", path);
    const char *abi = (*out)->abi;
    if (!abi || strcmp(abi, HEDDLE_PLUGIN_ABI) != 0)
        return report_add(report, STATUS_INVALID,
                          "%s: built for the plug-in interface %s, and this Heddle has %s: build it again with the "
                          "headers of this one",
                          path, abi ? abi : "without a name", HEDDLE_PLUGIN_ABI);
    return STATUS_OK;
}

static bool is_loaded(const char *hash) {
    for (unsigned i = 0; i < loaded.count; i++)
        if (strcmp(loaded.files[i].hash, hash) == 0)
            return true;
    return false;
}

static enum status load(const char *path, struct report *report) {
    char *bytes = NULL;
    size_t length = 0;
    struct arena scratch = {0};
    enum status status = file_read(path, FILE_LIMIT_BYTES, &scratch, &bytes, &length, report);
    char hash[DIGEST_BYTES] = "";
    if (!status)
        digest_text(bytes, length, hash);
    arena_free(&scratch);
    if (status || is_loaded(hash))
        return status;
    const struct plugin *plugin = NULL;
    void *library = NULL;
    status = open_library(path, &plugin, &library, report);
    if (!status)
        status = plugin_check(plugin, path, &loaded.parts, report);
    if (status) {
        if (library)
            dlclose(library);
        return status;
    }
    *plugin->host = &host;
    add(plugin);
    loaded.files[loaded.count++] =
        (struct plugin_file){arena_strdup(&loaded.arena, path), arena_strdup(&loaded.arena, hash), names_of(plugin)};
    model_add(hash);
    return STATUS_OK;
}

enum status plugin_load(const char *path, struct report *report) {
    char absolute[PATH_MAX];
    if (!realpath(path, absolute))
        return report_add(report, STATUS_INVALID, "%s: there is no such plug-in file", path);
    pthread_mutex_lock(&loaded.lock);
    const enum status status = load(absolute, report);
    pthread_mutex_unlock(&loaded.lock);
    return status;
}

enum status plugin_load_environment(struct report *report) {
    const char *paths = getenv(PLUGIN_VARIABLE);
    enum status status = STATUS_OK;
    struct arena arena = {0};
    while (!status && paths && *paths) {
        const size_t length = strcspn(paths, "\n");
        if (length)
            status = plugin_load(arena_strndup(&arena, paths, length), report);
        paths += length + (paths[length] == '\n');
    }
    arena_free(&arena);
    return status;
}

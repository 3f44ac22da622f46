/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over what lies in a store: bytes that are no sealed document are as none; sealed documents of any shape are read as
 * results, failures and jobs. No point is run: no program is ever found. */
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "machine/model.h"
#include "result/layout.h"
#include "result/read.h"
#include "memory_file.h"
#include "store/job.h"

static const char key[] = "0123456789abcdef0123456789abcdef";

static enum status no_workload(struct arena *arena, const char *name, const char **program, const char **kernel,
                               struct report *report) {
    (void)arena, (void)program, (void)kernel;
    return report_add(report, STATUS_INVALID, "there is no '%s'", name);
}

static enum status no_launch(struct arena *arena, const char *typed, const char **path, struct report *report) {
    (void)arena, (void)path;
    return report_add(report, STATUS_INVALID, "there is no '%s'", typed);
}

static uint64_t no_instructions(const char *workload) {
    (void)workload;
    return 0;
}

static void visit(void *context, const char *name, const json_t *value) { (void)context, (void)name, (void)value; }

/* The checksums apart: a sealed file may be laid out otherwise than we do. */
static bool are_equal(json_t *a, json_t *b) {
    json_object_del(a, "host");
    json_object_del(b, "host");
    return json_equal(a, b);
}

/* As whoever writes jobs would. */
static void run_job(const struct store *store, json_t *root, struct arena *arena) {
    static const struct point_finder finder = {no_workload, no_instructions, no_launch};
    struct memory_file file;
    struct report report = {0};
    size_t length = 0;
    json_object_set_new(root, "schema", json_string("heddle-job-1"));
    json_object_set_new(root, "model", json_string(model_hash()));
    const char *text = result_seal(root, arena, &length);
    memory_file_make(&file, text, length);
    if (job_run_task(store, file.path, 0, &finder, &report) != STATUS_OK && !report.messages)
        abort(); /* refused without a word */
    report_free(&report);
    close(file.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char *folder;
    struct arena arena = {0};
    struct store store;
    if (!folder) {
        static struct arena forever;
        folder = folder_make_temporary(&forever);
    }
    if (store_open(&store, folder, &arena, NULL) != STATUS_OK)
        abort();
    const char *path = store_path(&store, &arena, key, STORE_DONE);
    if (!folder_make(&arena, file_dir(&arena, path)) || file_write(path, data, size, NULL) != STATUS_OK)
        abort();
    const bool sealed = result_check_seal((const char *)data, size) == RESULT_SEALED;
    if ((store_find(&store, key) == STORE_DONE) != sealed || store_is_damaged(&store, key) == sealed)
        abort();
    json_t *document = json_loadb((const char *)data, size, 0, NULL);
    char *scratch = NULL;
    if (json_is_object(document) && store_scratch(&store, key, &scratch, NULL) == STATUS_OK) {
        if (store_keep(&store, scratch, key, STORE_DONE, document, NULL) == STATUS_OK) {
            json_t *kept = store_document(&store, key, STORE_DONE, &arena);
            if (!kept || !are_equal(kept, document))
                abort(); /* what was kept is not what comes back */
            result_counters(json_object_get(kept, "total"), &arena, visit, NULL);
            json_decref(kept);
        }
        store_scratch_remove(&store, scratch);
        run_job(&store, document, &arena);
    }
    json_decref(document);
    unlink(path);
    arena_free(&arena);
    return 0;
}

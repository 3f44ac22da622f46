/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of results, each kept by the key of what was run, written once and never again. There are no locks: a result
 * appears under its name in one step or not at all, so processes may die at any moment, on any computer that shares
 * the folder.
 *   ab/KEY.json         a result
 *   ab/KEY.failed.json  a point that was wrong or stopped, with what it said
 *   tmp/ab/KEY.HOST.PID/   what a running point works in; left behind by those that died, and removed
 *   jobs/SWEEP/         what was handed to a cluster's scheduler (slurm.h) */
#ifndef HEDDLE_STORE_STORE_H
#define HEDDLE_STORE_STORE_H

#include <jansson.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/status.h"

enum { STORE_KEY_BYTES = DIGEST_BYTES };

enum store_state { STORE_MISSING, STORE_DONE, STORE_FAILED };

struct store {
    const char *folder;
    struct arena *arena;
    char host[65];
};

/* `folder` NULL: $HEDDLE_STORE, else $XDG_DATA_HOME/heddle/store, else ~/.local/share/heddle/store. Nothing is made
 * before something is kept. */
enum status store_open(struct store *store, const char *folder, struct arena *arena, struct report *report);
/* Whether it has the point, whole: a file that is not what was written is as none. */
enum store_state store_find(const struct store *store, const char *key);
/* The document of a point, in the arena. STORE_DAMAGED: there is a file, and its checksum says that it is not what was
 * written, or it cannot be read. All that is read of a store is read here. */
enum store_found { STORE_WHOLE, STORE_NONE, STORE_DAMAGED };
enum store_found store_read(const struct store *store, const char *key, enum store_state state, struct arena *arena,
                            char **text, size_t *length);
/* The whole of it, parsed; NULL: there is none, or it is damaged. */
json_t *store_document(const struct store *store, const char *key, enum store_state state, struct arena *arena);
/* A file of the point is damaged; it is replaced when the point is run again. */
bool store_is_damaged(const struct store *store, const char *key);
/* Whether there is a file of its result, whole or not. */
bool store_has(const struct store *store, const char *key);
/* All keys that the store has files of: for who asks for very many. */
struct store_index {
    struct store_entry {
        char key[STORE_KEY_BYTES];
    } * items;
    unsigned count, capacity;
};
struct store_index store_index(const struct store *store, struct arena *arena);
bool store_index_has(const struct store_index *index, const char *key);
char *store_path(const struct store *store, struct arena *arena, const char *key, enum store_state state);
/* A folder for this process to run the point in. It also tells others that somebody is at it. */
enum status store_scratch(const struct store *store, const char *key, char **out, struct report *report);
/* The point takes long: its scratch folder is not a leftover. */
void store_touch(const char *scratch);
void store_scratch_remove(const struct store *store, const char *scratch);
/* Keeps a document for good, sealed (result/layout.h), unless there is one that is whole: then that stays, which is
 * no error. */
enum status store_keep(const struct store *store, const char *scratch, const char *key, enum store_state state,
                       json_t *document, struct report *report);
/* The failed point may be run again. */
void store_forget_failure(const struct store *store, const char *key);
/* A living process runs this point, as far as can be known. */
bool store_is_running(const struct store *store, const char *key);
/* Removes what dead processes left. */
unsigned store_clean(const struct store *store);

#endif

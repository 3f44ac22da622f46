/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assoc.h"

void assoc_create(struct assoc *table, struct arena *arena, size_t keys, uint32_t entries, uint32_t ways) {
    *table = (struct assoc){.ways = ways ? ways : entries};
    if (!entries) {
        table->values = ARENA_ARRAY(arena, uint16_t, keys);
        for (size_t i = 0; i < keys; i++)
            table->values[i] = ASSOC_NONE;
        return;
    }
    table->sets = entries / table->ways;
    table->entries = ARENA_ARRAY(arena, struct assoc_entry, entries);
    for (uint32_t i = 0; i < entries; i++)
        table->entries[i].value = ASSOC_NONE;
}

static struct assoc_entry *set_of(const struct assoc *table, uint32_t key) {
    return table->entries + (size_t)(key % table->sets) * table->ways;
}

/* The key's entry, NULL: none. */
static struct assoc_entry *entry_of(const struct assoc *table, uint32_t key) {
    struct assoc_entry *set = set_of(table, key);
    for (uint32_t i = 0; i < table->ways; i++)
        if (set[i].value != ASSOC_NONE && set[i].key == key)
            return &set[i];
    return NULL;
}

/* A free entry of the key's set, or the one that was not used for longest. */
static struct assoc_entry *entry_for(const struct assoc *table, uint32_t key) {
    struct assoc_entry *set = set_of(table, key), *oldest = set;
    for (uint32_t i = 0; i < table->ways; i++) {
        if (set[i].value == ASSOC_NONE)
            return &set[i];
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    return oldest;
}

uint16_t assoc_find(const struct assoc *table, uint32_t key) {
    if (!table->entries)
        return table->values[key];
    const struct assoc_entry *entry = entry_of(table, key);
    return entry ? entry->value : ASSOC_NONE;
}

bool assoc_has_room(const struct assoc *table, uint32_t key) {
    return !table->entries || entry_of(table, key) || entry_for(table, key)->value == ASSOC_NONE;
}

static void count_one_more(struct assoc *table) {
    if (++table->count > table->largest)
        table->largest = table->count;
}

bool assoc_put(struct assoc *table, uint32_t key, uint16_t value) {
    if (!table->entries) {
        if (table->values[key] == ASSOC_NONE)
            count_one_more(table);
        table->values[key] = value;
        return false;
    }
    struct assoc_entry *entry = entry_of(table, key);
    const bool is_new = !entry;
    if (is_new)
        entry = entry_for(table, key);
    const bool evicts = is_new && entry->value != ASSOC_NONE;
    if (is_new && !evicts)
        count_one_more(table);
    *entry = (struct assoc_entry){key, value, ++table->uses};
    return evicts;
}

void assoc_remove(struct assoc *table, uint32_t key) {
    if (assoc_find(table, key) == ASSOC_NONE)
        return;
    if (table->entries)
        entry_of(table, key)->value = ASSOC_NONE;
    else
        table->values[key] = ASSOC_NONE;
    table->count--;
}

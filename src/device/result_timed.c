#include "device/result_timed.h"
#include "device/result.h"
#include <stdio.h>
#include <string.h>

const char *const cycle_class_names[CYCLE_CLASSES] = {"W1-4",   "W5-8",   "W9-12",  "W13-16", "W17-20", "W21-24",
                                                      "W25-28", "W29-32", "memory", "idle",   "stall"};

/* The classes are fields of sm_stats in this order. */
uint64_t cycle_class(const struct sm_stats *stats, unsigned class) {
    static const size_t offsets[CYCLE_CLASSES] = {
        offsetof(struct sm_stats, issued_1), offsetof(struct sm_stats, issued_2), offsetof(struct sm_stats, issued_3),
        offsetof(struct sm_stats, issued_4), offsetof(struct sm_stats, issued_5), offsetof(struct sm_stats, issued_6),
        offsetof(struct sm_stats, issued_7), offsetof(struct sm_stats, issued_8), offsetof(struct sm_stats, memory),
        offsetof(struct sm_stats, idle),     offsetof(struct sm_stats, stall)};
    uint64_t value;
    memcpy(&value, (const char *)stats + offsets[class], sizeof value);
    return value;
}

json_t *result_count(uint64_t value) {
    const uint64_t largest = (UINT64_C(1) << 53) - 1;
    return json_integer((json_int_t)(value < largest ? value : largest));
}

static void add_instructions(struct sm_inst_stats *into, const struct sm_inst_stats *from) {
    for (unsigned k = 0; k < WAIT_COUNT; k++)
        into->waits[k] += from->waits[k];
    into->transactions += from->transactions;
    into->misses += from->misses;
}

bool result_total_timed(const struct run *run, struct gpu_stats *total, struct arena *arena) {
    *total = (struct gpu_stats){.instructions = ARENA_ARRAY(arena, struct sm_inst_stats, run->module->code_count)};
    bool any = false;
    for (unsigned i = 0; i < run->done; i++) {
        const struct gpu_stats *one = run->results[i].timed;
        if (!one)
            continue;
        any = true;
        total->cycles += one->cycles;
        total->dram_cycles += one->dram_cycles;
        stat_merge(&total->sm, &one->sm, sm_stats_table);
        stat_merge(&total->l1, &one->l1, cache_stat_table);
        stat_merge(&total->l2, &one->l2, cache_stat_table);
        stat_merge(&total->dram, &one->dram, dram_stat_table);
        stat_merge(&total->request_crossbar, &one->request_crossbar, crossbar_stat_table);
        stat_merge(&total->reply_crossbar, &one->reply_crossbar, crossbar_stat_table);
        for (uint32_t pc = 0; one->instructions && pc < run->module->code_count; pc++)
            add_instructions(&total->instructions[pc], &one->instructions[pc]);
    }
    return any;
}

void result_waits(const struct gpu_stats *stats, uint32_t code_count, uint64_t waits[WAIT_COUNT]) {
    memset(waits, 0, WAIT_COUNT * sizeof waits[0]);
    for (uint32_t pc = 0; stats->instructions && pc < code_count; pc++)
        for (unsigned k = 0; k < WAIT_COUNT; k++)
            waits[k] += stats->instructions[pc].waits[k];
}

static json_t *waits_json(const uint64_t waits[WAIT_COUNT]) {
    json_t *out = json_object();
    for (unsigned k = 0; k < WAIT_COUNT; k++)
        json_object_set_new(out, sm_wait_names[k], result_count(waits[k]));
    return out;
}

void result_add_inst_timed(json_t *into, const struct sm_inst_stats *timed) {
    json_object_set_new(into, "stalls", waits_json(timed->waits));
    json_object_set_new(into, "transactions", result_count(timed->transactions));
    json_object_set_new(into, "misses", result_count(timed->misses));
}

/* The name in result files; the model's table says `pending` for what readers know as pending hits. */
static const char *public_name(const char *name) { return strcmp(name, "pending") == 0 ? "pending_hits" : name; }

static json_t *table_json(const void *stats, const struct stat_description *table) {
    json_t *out = json_object();
    for (const struct stat_description *stat = table; stat->name; stat++)
        json_object_set_new(out, public_name(stat->name),
                            stat->is_ratio ? json_real(stat_ratio(stats, stat))
                                           : result_count(stat_counter(stats, stat)));
    return out;
}

static json_t *quotient(uint64_t part, uint64_t whole) { return json_real(whole ? (double)part / (double)whole : 0); }

/* Counters of the SMs that are about memory. */
static bool is_memory_counter(const char *name) {
    static const char *const names[] = {"shared_passes", "transactions", "requests_sent", "replies_received"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

void result_add_timed(json_t *into, const struct gpu_stats *timed, const struct run_stats *stats, uint32_t code_count) {
    uint64_t waits[WAIT_COUNT];
    result_waits(timed, code_count, waits);
    json_t *classes = json_object(), *memory = json_object();
    json_object_set_new(into, "cycles", result_count(timed->cycles));
    json_object_set_new(into, "ipc", quotient(stats->thread_instructions, timed->cycles));
    json_object_set_new(into, "warp_ipc", quotient(stats->warp_instructions, timed->cycles));
    json_object_set_new(into, "slots", result_count(timed->sm.slots));
    json_object_set_new(into, "fetches", result_count(timed->sm.fetches));
    json_object_set_new(into, "cycle_classes", classes);
    for (unsigned i = 0; i < CYCLE_CLASSES; i++)
        json_object_set_new(classes, cycle_class_names[i], result_count(cycle_class(&timed->sm, i)));
    json_object_set_new(into, "stalls", waits_json(waits));
    json_object_set_new(into, "memory", memory);
    for (const struct stat_description *stat = sm_stats_table; stat->name; stat++)
        if (is_memory_counter(stat->name))
            json_object_set_new(memory, stat->name, result_count(stat_counter(&timed->sm, stat)));
    json_object_set_new(memory, "l1", table_json(&timed->l1, cache_stat_table));
    json_object_set_new(memory, "l2", table_json(&timed->l2, cache_stat_table));
    json_object_set_new(memory, "request_crossbar", table_json(&timed->request_crossbar, crossbar_stat_table));
    json_object_set_new(memory, "reply_crossbar", table_json(&timed->reply_crossbar, crossbar_stat_table));
    json_t *dram = table_json(&timed->dram, dram_stat_table);
    json_object_set_new(dram, "channel_cycles", result_count(timed->dram_cycles));
    json_object_set_new(dram, "bandwidth_utilisation", quotient(timed->dram.bus_busy_cycles, timed->dram_cycles));
    json_object_set_new(memory, "dram", dram);
}

static void table_units(json_t *into, const char *prefix, const struct stat_description *table) {
    for (const struct stat_description *stat = table; stat->name; stat++) {
        char key[96];
        snprintf(key, sizeof key, "%s.%s", prefix, public_name(stat->name));
        json_object_set_new(into, key, json_string(stat->unit));
    }
}

void result_add_timed_units(json_t *into) {
    static const char *const units[][2] = {{"cycles", "cycles"},
                                           {"ipc", "thread instructions per cycle"},
                                           {"warp_ipc", "warp instructions per cycle"},
                                           {"slots", "slots"},
                                           {"fetches", "fetches"},
                                           {"cycle_classes", "slots"},
                                           {"stalls", "warp cycles"},
                                           {"transactions", "accesses"},
                                           {"misses", "accesses"},
                                           {"memory.dram.channel_cycles", "DRAM cycles"},
                                           {"memory.dram.bandwidth_utilisation", "ratio"}};
    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
        json_object_set_new(into, units[i][0], json_string(units[i][1]));
    for (const struct stat_description *stat = sm_stats_table; stat->name; stat++)
        if (is_memory_counter(stat->name)) {
            char key[96];
            snprintf(key, sizeof key, "memory.%s", stat->name);
            json_object_set_new(into, key, json_string(stat->unit));
        }
    table_units(into, "memory.l1", cache_stat_table);
    table_units(into, "memory.l2", cache_stat_table);
    table_units(into, "memory.request_crossbar", crossbar_stat_table);
    table_units(into, "memory.reply_crossbar", crossbar_stat_table);
    table_units(into, "memory.dram", dram_stat_table);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "result/timed.h"
#include "result/result.h"
#include "sm/timed.h"
#include <stdio.h>
#include <string.h>

const char *const cycle_class_names[CYCLE_CLASSES] = {"W1-4",   "W5-8",   "W9-12",  "W13-16", "W17-20", "W21-24",
                                                      "W25-28", "W29-32", "memory", "idle",   "stall"};

const char *const stall_stage_names[SLOT_STALL_COUNT] = {"sp",         "int",       "dp",        "sfu",    "tensor",
                                                         "load_store", "in_flight", "scheduler", "texture"};

uint64_t cycle_class(const uint64_t slots[SLOT_COUNT], unsigned class) {
    if (class < SLOT_STALL)
        return slots[class];
    uint64_t sum = 0;
    for (unsigned i = 0; i < SLOT_STALL_COUNT; i++)
        sum += slots[SLOT_STALL + i];
    return sum;
}

json_t *result_count(uint64_t value) {
    const uint64_t largest = (UINT64_C(1) << 53) - 1;
    return json_integer((json_int_t)(value < largest ? value : largest));
}

void result_merge_timed(struct gpu_stats *total, const struct gpu_stats *one, struct arena *arena) {
    total->cycles += one->cycles;
    total->dram_cycles += one->dram_cycles;
    stat_merge(&total->sm, &one->sm, sm_stats_table);
    stat_merge(&total->l1, &one->l1, cache_stat_table);
    stat_merge(&total->constant, &one->constant, cache_stat_table);
    stat_merge(&total->texture, &one->texture, cache_stat_table);
    total->l1_bytes = one->l1_bytes;
    stat_merge(&total->l2, &one->l2, cache_stat_table);
    stat_merge(&total->dram, &one->dram, dram_stat_table);
    stat_merge(&total->request_crossbar, &one->request_crossbar, crossbar_stat_table);
    stat_merge(&total->reply_crossbar, &one->reply_crossbar, crossbar_stat_table);
    histogram_merge(&total->histograms, &one->histograms, sm_histogram_table);
    histogram_merge(&total->dram_histograms, &one->dram_histograms, dram_histogram_table);
    sm_inst_stats_add(&total->nobody, &one->nobody);
    for (unsigned k = 0; k < WAIT_COUNT; k++)
        total->waits[k] += one->waits[k];
    total->has_clusters |= one->has_clusters;
    stat_merge(&total->dsm, &one->dsm, dsm_stats_table);
    total->predicts |= one->predicts;
    stat_merge(&total->predictor, &one->predictor, predictor_stats_table);
    for (unsigned part = 0; part < OWN_PARTS; part++) {
        total->own[part] = one->own[part];
        if (one->own_stats[part] && !total->own_stats[part])
            total->own_stats[part] = arena_alloc(arena, one->own[part]->stats_bytes);
        if (one->own_stats[part])
            stat_merge(total->own_stats[part], one->own_stats[part], one->own[part]->stats);
    }
}

bool result_total_timed(const struct run *run, const struct function *kernel, struct gpu_stats *total,
                        struct arena *arena) {
    *total = (struct gpu_stats){.instructions = ARENA_ARRAY(arena, struct sm_inst_stats, run->module->code_count)};
    bool any = false;
    for (unsigned i = 0; i < run->done; i++) {
        const struct gpu_stats *one = run->results[i].timed;
        if (!one || (kernel && run->launches[i].kernel != kernel))
            continue;
        any = true;
        result_merge_timed(total, one, arena);
        for (uint32_t pc = 0; one->instructions && pc < run->module->code_count; pc++)
            sm_inst_stats_add(&total->instructions[pc], &one->instructions[pc]);
    }
    return any;
}

static json_t *waits_json(const uint64_t waits[WAIT_COUNT]) {
    json_t *out = json_object();
    for (unsigned k = 0; k < WAIT_COUNT; k++)
        json_object_set_new(out, sm_wait_names[k], result_count(waits[k]));
    return out;
}

static void add_classes(json_t *into, const uint64_t slots[SLOT_COUNT]) {
    json_t *classes = json_object(), *stages = json_object();
    for (unsigned i = 0; i < CYCLE_CLASSES; i++)
        json_object_set_new(classes, cycle_class_names[i], result_count(cycle_class(slots, i)));
    for (unsigned i = 0; i < SLOT_STALL_COUNT; i++)
        if (i != (unsigned)SM_STALL_TEXTURE || slots[SLOT_STALL + i]) /* few programs have images */
            json_object_set_new(stages, stall_stage_names[i], result_count(slots[SLOT_STALL + i]));
    json_object_set_new(into, "cycle_classes", classes);
    json_object_set_new(into, "stall_stages", stages);
}

/* Slots of schedulers that had no warp. */
static json_t *nobody_json(const struct sm_inst_stats *nobody) {
    json_t *out = json_object();
    json_object_set_new(out, "memory", result_count(nobody->slots[SLOT_MEMORY]));
    json_object_set_new(out, "idle", result_count(nobody->slots[SLOT_IDLE]));
    return out;
}

void result_add_inst_timed(json_t *into, const struct sm_inst_stats *timed) {
    add_classes(into, timed->slots);
    json_object_set_new(into, "stalls", waits_json(timed->waits));
    json_object_set_new(into, "transactions", result_count(timed->transactions));
    json_object_set_new(into, "misses", result_count(timed->misses));
}

/* The name in result files; the model's table says `pending` for what readers know as pending hits. */
static const char *public_name(const char *name) { return strcmp(name, "pending") == 0 ? "pending_hits" : name; }

static json_t *add_table(json_t *into, const void *stats, const struct stat_description *table) {
    for (const struct stat_description *stat = table; stat->name; stat++)
        json_object_set_new(into, public_name(stat->name),
                            stat->is_ratio ? json_real(stat_ratio(stats, stat))
                                           : result_count(stat_counter(stats, stat)));
    return into;
}

static json_t *table_json(const void *stats, const struct stat_description *table) {
    return add_table(json_object(), stats, table);
}

/* Of a launch that samples images: what its texture units did, and where they have caches of their own what those did. */
static json_t *texture_json(const struct gpu_stats *timed) {
    json_t *out = json_object();
    for (const struct stat_description *stat = sm_texture_table; stat->name; stat++)
        json_object_set_new(out, stat->name + strlen("texture_"), result_count(stat_counter(&timed->sm, stat)));
    if (timed->texture.accesses)
        json_object_set_new(out, "cache", table_json(&timed->texture, cache_stat_table));
    return out;
}

/* Where the own counters of parts stand: those of a predictor among those that every predictor has. */
static const char *const own_places[OWN_PARTS] = {[OWN_MECHANISM] = "mechanism",
                                                  [OWN_SCHEDULER] = "scheduler",
                                                  [OWN_PREDICTOR] = "predictor",
                                                  [OWN_L1_POLICY] = "memory.l1.replacement",
                                                  [OWN_L2_POLICY] = "memory.l2.replacement",
                                                  [OWN_CONSTANT_POLICY] = "memory.constant_cache.replacement"};

/* The object at a place, "memory.l1.replacement", made where there is none. */
static json_t *object_at(json_t *into, const char *place) {
    while (*place) {
        const size_t length = strcspn(place, ".");
        json_t *inner = json_object_getn(into, place, length);
        if (!inner)
            json_object_setn_new(into, place, length, inner = json_object());
        into = inner;
        place += length + (place[length] == '.');
    }
    return into;
}

static void add_own(json_t *into, const struct gpu_stats *timed, unsigned part) {
    if (timed->own_stats[part])
        add_table(object_at(into, own_places[part]), timed->own_stats[part], timed->own[part]->stats);
}

static json_t *quotient(uint64_t part, uint64_t whole) { return json_real(whole ? (double)part / (double)whole : 0); }

bool result_energy(const struct machine *machine, const struct gpu_stats *timed, const struct run_stats *stats,
                   struct energy *out) {
    const struct cache_params *l1 = &machine->l1, *l2 = &machine->l2;
    struct energy_shape shape = {.l1_bytes = l1->sector_bytes ? l1->sector_bytes : l1->line_bytes,
                                 .l2_bytes = l2->sector_bytes ? l2->sector_bytes : l2->line_bytes,
                                 .texture_bytes = machine->sm.texture_cache_line,
                                 .flit_bytes = machine->crossbar.flit_bytes};
    const struct energy_clock clock = {machine->sm_count, machine->gpu.sm_khz};
    if (!energy_is_known(&machine->energy))
        return false;
    energy_compute(&machine->energy, &shape, &clock, stats, timed, out);
    return true;
}

/* Nothing where the machine has no energies. */
static void add_energy(json_t *into, const struct machine *machine, const struct gpu_stats *timed,
                       const struct run_stats *stats) {
    struct energy energy;
    if (!result_energy(machine, timed, stats, &energy))
        return;
    json_t *out = json_object();
    json_object_set_new(out, "total", json_real(energy.total_nanojoules));
    json_object_set_new(out, "seconds", json_real(energy.seconds));
    json_object_set_new(out, "power", json_real(energy.watts));
    json_object_set_new(out, "judged", result_count(machine->energy.judged));
    json_object_set_new(out, "error", machine->energy.judged ? json_real(machine->energy.error) : json_null());
    json_t *parts = json_object();
    for (unsigned i = 0; i < ENERGY_EVENTS; i++)
        json_object_set_new(parts, energy_event_names[i], json_real(energy.nanojoules[i]));
    json_object_set_new(out, "parts", parts);
    json_object_set_new(into, "energy", out);
}

void result_add_timed(json_t *into, const struct machine *machine, const struct gpu_stats *timed,
                      const struct run_stats *stats) {
    json_t *memory = json_object();
    json_object_set_new(into, "cycles", result_count(timed->cycles));
    json_object_set_new(into, "ipc", quotient(stats->thread_instructions, timed->cycles));
    json_object_set_new(into, "warp_ipc", quotient(stats->warp_instructions, timed->cycles));
    add_table(into, &timed->sm, sm_result_table);
    add_classes(into, timed->sm.in_slots);
    json_object_set_new(into, "nobody", nobody_json(&timed->nobody));
    json_object_set_new(into, "stalls", waits_json(timed->waits));
    for (unsigned part = 0; part < OWN_L1_POLICY; part++) {
        if (part == OWN_PREDICTOR && timed->predicts)
            json_object_set_new(into, "predictor", table_json(&timed->predictor, predictor_stats_table));
        add_own(into, timed, part);
    }
    if (timed->has_clusters)
        json_object_set_new(into, "clusters", table_json(&timed->dsm, dsm_stats_table));
    json_object_set_new(into, "memory", memory);
    add_table(memory, &timed->sm, sm_memory_table);
    json_object_set_new(memory, "l1_bytes", result_count(timed->l1_bytes));
    json_object_set_new(memory, "l1", table_json(&timed->l1, cache_stat_table));
    json_object_set_new(memory, "constant_cache", table_json(&timed->constant, cache_stat_table));
    if (timed->sm.texture_requests)
        json_object_set_new(memory, "texture", texture_json(timed));
    json_object_set_new(memory, "l2", table_json(&timed->l2, cache_stat_table));
    for (unsigned part = OWN_L1_POLICY; part < OWN_PARTS; part++)
        add_own(into, timed, part);
    json_object_set_new(memory, "request_crossbar", table_json(&timed->request_crossbar, crossbar_stat_table));
    json_object_set_new(memory, "reply_crossbar", table_json(&timed->reply_crossbar, crossbar_stat_table));
    json_t *dram = table_json(&timed->dram, dram_stat_table);
    json_object_set_new(dram, "channel_cycles", result_count(timed->dram_cycles));
    json_object_set_new(dram, "bandwidth_utilisation", quotient(timed->dram.bus_busy_cycles, timed->dram_cycles));
    json_object_set_new(memory, "dram", dram);
    add_energy(into, machine, timed, stats);
    json_object_set_new(into, "histograms", result_histograms(timed));
}

static void table_units(json_t *into, const char *prefix, const struct stat_description *table) {
    for (const struct stat_description *stat = table; stat->name; stat++) {
        char key[96];
        snprintf(key, sizeof key, "%s%s", prefix, public_name(stat->name));
        json_object_set_new(into, key, json_string(stat->unit));
    }
}

void result_add_timed_units(json_t *into, const struct machine *machine, bool predicts) {
    json_object_set_new(into, "cycles", json_string("cycles"));
    json_object_set_new(into, "ipc", json_string("thread instructions per cycle"));
    json_object_set_new(into, "warp_ipc", json_string("warp instructions per cycle"));
    table_units(into, "", sm_result_table);
    static const char *const units[][2] = {{"cycle_classes", "slots"},
                                           {"stall_stages", "slots"},
                                           {"nobody", "slots"},
                                           {"stalls", "warp cycles"},
                                           {"transactions", "accesses"},
                                           {"misses", "accesses"},
                                           {"memory.l1_bytes", "bytes"},
                                           {"memory.dram.channel_cycles", "DRAM cycles"},
                                           {"memory.dram.bandwidth_utilisation", "ratio"},
                                           {"energy.total", "nJ"},
                                           {"energy.seconds", "s"},
                                           {"energy.power", "W"},
                                           {"energy.judged", "kernels"},
                                           {"energy.error", "%"},
                                           {"energy.parts", "nJ"}};
    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
        json_object_set_new(into, units[i][0], json_string(units[i][1]));
    table_units(into, "memory.", sm_memory_table);
    for (unsigned part = 0; part < OWN_PARTS; part++) {
        const struct own *own = machine_own(machine, (enum own_part)part);
        char prefix[64];
        snprintf(prefix, sizeof prefix, "%s.", own_places[part] ? own_places[part] : "");
        if (own && own->stats && own_places[part])
            table_units(into, prefix, own->stats);
    }
    if (predicts)
        table_units(into, "predictor.", predictor_stats_table);
    table_units(into, "memory.l1.", cache_stat_table);
    table_units(into, "memory.constant_cache.", cache_stat_table);
    for (const struct stat_description *stat = sm_texture_table; stat->name; stat++) {
        char key[96];
        snprintf(key, sizeof key, "memory.texture.%s", stat->name + strlen("texture_"));
        json_object_set_new(into, key, json_string(stat->unit));
    }
    table_units(into, "memory.texture.cache.", cache_stat_table);
    table_units(into, "memory.l2.", cache_stat_table);
    table_units(into, "memory.request_crossbar.", crossbar_stat_table);
    table_units(into, "memory.reply_crossbar.", crossbar_stat_table);
    table_units(into, "memory.dram.", dram_stat_table);
    result_add_series_units(into);
    result_add_histogram_units(into);
}

void result_add_cluster_units(json_t *into) { table_units(into, "clusters.", dsm_stats_table); }

/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/caches.h"

#include "gpu/net.h"

static unsigned atom_of(const struct cache_params *params) {
    return params->sector_bytes ? params->sector_bytes : params->line_bytes;
}

/* What an access sends down at once has to fit the way down, or it would wait for ever. */
static enum status check_way_down(const struct gpu_config *config, const struct cache_params *params, const char *name,
                                  bool written, struct report *report) {
    const bool back = written && (params->write == CACHE_BACK || params->write == CACHE_LOCAL_BACK);
    const bool hands_on = written && params->write == CACHE_THROUGH && params->write_allocate == CACHE_WRITE_FETCH;
    const unsigned bytes = back ? params->line_bytes : atom_of(params);
    if (params->perfect)
        return STATUS_OK;
    if (bytes > NET_MESSAGE_BYTES)
        return report_add(report, STATUS_INVALID,
                          "%s.line_bytes is %u: this cache would %s %u bytes in one message, which carries %d at most",
                          name, (unsigned)params->line_bytes, back ? "write back" : "fetch", bytes, NET_MESSAGE_BYTES);
    if (config->gpu->link_capacity < 2 && (back || hands_on))
        return report_add(report, STATUS_INVALID,
                          "link.capacity is %u: an access to %s may send two messages at once, a fetch and %s",
                          (unsigned)config->gpu->link_capacity, name,
                          back ? "the line that makes room" : "the store that it is for");
    return STATUS_OK;
}

static enum status check_own_l2(const struct gpu_config *config, const struct cache_params *l1, struct report *report) {
    const struct cache_params *l2 = &config->l2;
    if (!config->gpu->l2_private || !config->gpu->l2_enabled)
        return STATUS_OK;
    if (l2->write != CACHE_BACK || l2->write_allocate == CACHE_WRITE_FETCH || l2->allocate != CACHE_ON_MISS)
        return report_add(report, STATUS_INVALID,
                          "l2.private: an SM's own L2 has l2.write=back, l2.write_allocate=lazy or none, and "
                          "l2.allocate=miss");
    if (atom_of(l1) != atom_of(l2))
        return report_add(
            report, STATUS_INVALID,
            "l2.private: the L2 is asked for %u bytes at a time (l2.line_bytes, l2.sector_bytes), but the L1 "
            "asks for %u",
            atom_of(l2), atom_of(l1));
    return check_way_down(config, l2, "l2", true, report);
}

/* Does what the SMs' caches send down fit the links, and their own L2s, if there are any, below the L1s? */
static enum status check(const struct gpu_config *config, const struct cache_params *l1, struct report *report) {
    enum status status = check_way_down(config, l1, "l1", true, report);
    if (status == STATUS_OK)
        status = check_way_down(config, &config->instruction, "instruction_cache", false, report);
    if (status == STATUS_OK)
        status = check_way_down(config, &config->constant, "constant_cache", false, report);
    return status == STATUS_OK ? check_own_l2(config, l1, report) : status;
}

void caches_create(struct gpu_caches *caches, struct arena *arena, const struct gpu_config *config) {
    *caches = (struct gpu_caches){.config = config, .arena = arena};
    caches->of = ARENA_ARRAY(arena, struct sm_caches, config->sm_count);
}

/* No stores, and no policy but that of most caches. */
static struct cache_params texture_cache(const struct sm_params *sm) {
    return (struct cache_params){.size_bytes = sm->texture_cache_bytes,
                                 .ways = sm->texture_cache_ways,
                                 .line_bytes = sm->texture_cache_line,
                                 .replacement = "lru",
                                 .write = CACHE_THROUGH,
                                 .write_allocate = CACHE_WRITE_NONE,
                                 .allocate = CACHE_ON_FILL,
                                 .mshr_entries = sm->texture_cache_entries,
                                 .mshr_merges = sm->texture_cache_merges};
}

enum status caches_texture(struct gpu_caches *caches, uint32_t sm, struct report *report) {
    const struct cache_params params = texture_cache(caches->config->sm);
    struct sm_caches *own = &caches->of[sm];
    if (caches->config->sm->texture_lookup != SM_TEXTURE_OWN || own->texture)
        return STATUS_OK;
    const enum status status = check_way_down(caches->config, &params, "texture_cache", false, report);
    return status ? status : cache_create(&own->texture, caches->arena, &params, "texture_cache", sm, report);
}

static void forget(struct gpu_caches *caches, bool code, bool constants) {
    for (uint32_t i = 0; i < caches->config->sm_count; i++) {
        if (code && caches->of[i].instruction)
            cache_invalidate(caches->of[i].instruction);
        if (constants && caches->of[i].constant)
            cache_invalidate(caches->of[i].constant);
    }
}

/* Programs have their code and parameters at the same addresses. */
void caches_begin(struct gpu_caches *caches, const struct module *module) {
    if (caches->module != module)
        forget(caches, true, true);
    caches->module = module;
    for (uint32_t i = 0; i < caches->config->sm_count; i++) {
        if (caches->of[i].constant)
            cache_reset_policy_statistics(caches->of[i].constant);
        if (caches->of[i].l2)
            cache_reset_policy_statistics(caches->of[i].l2);
        if (caches->of[i].texture)
            cache_invalidate(caches->of[i].texture);
    }
}

void caches_end(struct gpu_caches *caches) {
    for (uint32_t i = 0; caches->config->gpu->l2_flush && i < caches->config->sm_count; i++)
        if (caches->of[i].l2)
            cache_invalidate(caches->of[i].l2);
    forget(caches, caches->config->gpu->instruction_flush, caches->config->gpu->constant_flush);
}

/* The data cache is of the launch's arena where launches begin with empty ones. One of another size begins empty too. */
static enum status make_l1(struct gpu_caches *caches, uint32_t sm, const struct cache_params *l1, struct arena *arena,
                           struct report *report) {
    struct sm_caches *own = &caches->of[sm];
    const bool stays = !caches->config->gpu->l1_flush;
    if (stays && own->l1 && own->l1_bytes == l1->size_bytes) {
        cache_reset_stats(own->l1);
        return STATUS_OK;
    }
    own->l1_bytes = l1->size_bytes;
    return cache_create(&own->l1, stays ? caches->arena : arena, l1, "l1", sm, report);
}

enum status caches_read_only(struct gpu_caches *caches, uint32_t sm, struct report *report) {
    const struct gpu_config *config = caches->config;
    struct sm_caches *own = &caches->of[sm];
    enum status status = STATUS_OK;
    if (!own->constant)
        status = cache_create(&own->constant, caches->arena, &config->constant, "constant_cache", sm, report);
    if (status == STATUS_OK && !own->instruction)
        status = cache_create(&own->instruction, caches->arena, &config->instruction, "instruction_cache", sm, report);
    return status;
}

enum status caches_of(struct gpu_caches *caches, uint32_t sm, const struct cache_params *l1, struct arena *arena,
                      struct report *report) {
    const struct gpu_config *config = caches->config;
    struct sm_caches *own = &caches->of[sm];
    enum status status = check(config, l1, report);
    own->instruction_ways = config->instruction.ways;
    own->instruction_perfect = config->instruction.perfect;
    own->l2_latency = config->gpu->l2_latency;
    if (status == STATUS_OK)
        status = caches_read_only(caches, sm, report);
    if (status == STATUS_OK && !own->l2 && config->gpu->l2_enabled && config->gpu->l2_private)
        status = cache_create(&own->l2, caches->arena, &config->l2, "l2", sm, report);
    return status == STATUS_OK ? make_l1(caches, sm, l1, arena, report) : status;
}

static void merge(struct cache_stats *sum, const struct cache *cache) {
    if (cache)
        stat_merge(sum, cache_stats(cache), cache_stat_table);
}

struct cache_stats caches_constant_statistics(const struct gpu_caches *caches) {
    struct cache_stats sum = {0};
    for (uint32_t i = 0; i < caches->config->sm_count; i++)
        merge(&sum, caches->of[i].constant);
    return sum;
}

struct cache_stats caches_texture_statistics(const struct gpu_caches *caches) {
    struct cache_stats sum = {0};
    for (uint32_t i = 0; i < caches->config->sm_count; i++)
        merge(&sum, caches->of[i].texture);
    return sum;
}

void caches_add_policies(const struct gpu_caches *caches, void *const sums[OWN_PARTS]) {
    for (uint32_t i = 0; i < caches->config->sm_count; i++) {
        if (sums[OWN_CONSTANT_POLICY] && caches->of[i].constant)
            cache_add_policy_statistics(caches->of[i].constant, sums[OWN_CONSTANT_POLICY]);
        if (sums[OWN_L2_POLICY] && caches->of[i].l2)
            cache_add_policy_statistics(caches->of[i].l2, sums[OWN_L2_POLICY]);
    }
}

struct cache_stats caches_l2_statistics(const struct gpu_caches *caches) {
    struct cache_stats sum = {0};
    for (uint32_t i = 0; caches->config->gpu->l2_private && i < caches->config->sm_count; i++)
        merge(&sum, caches->of[i].l2);
    return sum;
}

struct kept_cache {
    const struct cache_params *params;
    const char *name;
    uint32_t sm;
};

/* One that is there is kept; one that was there is made, and read. */
static enum status keep_one(struct gpu_caches *caches, const struct kept_cache *kept, struct cache **cache,
                            struct keep *keep, struct report *report) {
    bool is_there = *cache != NULL;
    enum status status = STATUS_OK;
    keep_bool(keep, &is_there);
    if (is_there && !keep->writes)
        status = cache_create(cache, caches->arena, kept->params, kept->name, kept->sm, report);
    if (is_there && status == STATUS_OK)
        cache_keep(*cache, keep);
    return status;
}

/* A data cache that stays from launch to launch is as large as the last launch left it. */
static enum status keep_l1(struct gpu_caches *caches, uint32_t sm, const struct cache_params *like, struct keep *keep,
                           struct report *report) {
    struct sm_caches *own = &caches->of[sm];
    struct cache_params l1 = *like;
    const uint64_t way_bytes = like->size_bytes / like->ways;
    keep_u64(keep, &own->l1_bytes, like->size_bytes);
    l1.size_bytes = own->l1_bytes;
    l1.ways = (uint32_t)(own->l1_bytes / way_bytes);
    return keep->good ? keep_one(caches, &(struct kept_cache){&l1, "l1", sm}, &own->l1, keep, report) : STATUS_OK;
}

enum status caches_keep(struct gpu_caches *caches, const struct module *next, const struct cache_params *l1,
                        struct keep *keep, struct report *report) {
    const struct gpu_config *config = caches->config;
    bool is_of_next = caches->module == next;
    enum status status = STATUS_OK;
    keep_bool(keep, &is_of_next);
    caches->module = keep->writes ? caches->module : is_of_next ? next : NULL;
    for (uint32_t sm = 0; sm < config->sm_count && status == STATUS_OK && keep->good; sm++) {
        struct sm_caches *own = &caches->of[sm];
        status = keep_one(caches, &(struct kept_cache){&config->constant, "constant_cache", sm}, &own->constant, keep,
                          report);
        if (status == STATUS_OK)
            status = keep_one(caches, &(struct kept_cache){&config->instruction, "instruction_cache", sm},
                              &own->instruction, keep, report);
        if (status == STATUS_OK && config->gpu->l2_enabled && config->gpu->l2_private)
            status = keep_one(caches, &(struct kept_cache){&config->l2, "l2", sm}, &own->l2, keep, report);
        if (status == STATUS_OK && !config->gpu->l1_flush)
            status = keep_l1(caches, sm, l1, keep, report);
    }
    return status;
}

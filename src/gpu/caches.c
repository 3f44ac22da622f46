#include "gpu/caches.h"

void caches_create(struct gpu_caches *caches, struct arena *arena, const struct gpu_config *config) {
    *caches = (struct gpu_caches){.config = config, .arena = arena};
    caches->of = ARENA_ARRAY(arena, struct sm_caches, config->sm_count);
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
}

void caches_end(struct gpu_caches *caches) {
    forget(caches, caches->config->gpu->instruction_flush, caches->config->gpu->constant_flush);
}

/* A data cache that is not emptied between launches; one of another size begins empty. */
static enum status keep_l1(const struct gpu_caches *caches, uint32_t sm, const struct cache_params *l1,
                           struct report *report) {
    struct sm_caches *own = &caches->of[sm];
    if (caches->config->gpu->l1_flush)
        return STATUS_OK;
    if (own->l1 && own->l1_bytes == l1->size_bytes) {
        cache_reset_stats(own->l1);
        return STATUS_OK;
    }
    own->l1_bytes = l1->size_bytes;
    return cache_create(&own->l1, caches->arena, l1, "l1", sm, report);
}

enum status caches_of(struct gpu_caches *caches, uint32_t sm, const struct cache_params *l1,
                      const struct sm_caches **out, struct report *report) {
    const struct gpu_config *config = caches->config;
    struct sm_caches *own = &caches->of[sm];
    enum status status = STATUS_OK;
    own->instruction_ways = config->instruction->ways;
    if (!own->constant)
        status = cache_create(&own->constant, caches->arena, config->constant, "constant_cache", sm, report);
    if (status == STATUS_OK && !own->instruction)
        status = cache_create(&own->instruction, caches->arena, config->instruction, "instruction_cache", sm, report);
    *out = own;
    return status == STATUS_OK ? keep_l1(caches, sm, l1, report) : status;
}

void caches_count(const struct gpu_caches *caches, struct cache_stats *constant) {
    for (uint32_t i = 0; i < caches->config->sm_count; i++)
        if (caches->of[i].constant)
            stat_merge(constant, cache_stats(caches->of[i].constant), cache_stat_table);
}

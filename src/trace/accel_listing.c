/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of a foreign trace beside the trace: a listing of its kernels, and a launch file. */
#include <stdio.h>

#include "base/file.h"
#include "trace/accel_importer.h"

enum status importer_list_kernels(struct importer *importer) {
    struct accel_import *out = importer->out;
    struct output output;
    output_begin(&output);
    if (output.to)
        fprintf(output.to, "%s\n", TRACED_MAGIC);
    for (unsigned i = 0; i < importer->kernels.count && output.to; i++) {
        const struct imported_kernel *kernel = &importer->kernels.items[i];
        fprintf(output.to, "kernel %u %u %s\n", kernel->sm, kernel->registers, kernel->name);
        for (uint32_t k = 0; k < kernel->count; k++) {
            char text[256];
            struct text_line line = {.text = text, .size = sizeof text};
            if (!kernel->seen[k].is_there)
                continue;
            traced_print(&kernel->seen[k].inst, kernel->sm, &line);
            fprintf(output.to, "%s\n", text);
        }
    }
    if (!output.to || !output_close(&output))
        return report_add(importer->report, STATUS_SYSTEM, "the host has no memory for the listing");
    out->listing = arena_copy(out->arena, output.text, output.length + 1), out->listing_bytes = output.length;
    output_free(&output);
    const char *name = arena_printf(out->arena, "%s.traced", out->name);
    const enum status status = traced_load(name, out->listing, out->listing_bytes, &importer->module, importer->report);
    for (unsigned i = 0; !status && i < importer->kernels.count; i++)
        importer->kernels.items[i].first_pc = importer->module->functions[i]->first_pc;
    return status;
}

enum status importer_list_launches(struct importer *importer) {
    struct accel_import *out = importer->out;
    struct output output;
    output_begin(&output);
    if (!output.to)
        return report_add(importer->report, STATUS_SYSTEM, "the host has no memory for the launch file");
    fprintf(
        output.to,
        "# Imported from a foreign trace: heddle run FOLDER --replay FOLDER/%s.trace\nmodule: %s.traced\nlaunches:\n",
        out->name, out->name);
    for (unsigned i = 0; i < importer->launches.count; i++) {
        const struct accel_header *header = &importer->launches.items[i].header;
        fprintf(output.to, "  - {kernel: \"%s\", grid: [%u, %u, %u], block: [%u, %u, %u], dynamic_shared: %u}\n",
                header->name, (unsigned)header->grid[0], (unsigned)header->grid[1], (unsigned)header->grid[2],
                (unsigned)header->block[0], (unsigned)header->block[1], (unsigned)header->block[2],
                (unsigned)header->shared_bytes);
    }
    if (!output_close(&output))
        return report_add(importer->report, STATUS_SYSTEM, "the host has no memory for the launch file");
    out->launch_file = arena_copy(out->arena, output.text, output.length + 1);
    output_free(&output);
    return STATUS_OK;
}

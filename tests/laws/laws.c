/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of divergence mechanisms (study/laws.h), one launch file on many machines: laws FILE REFERENCE MACHINE...
 * REFERENCE is the mechanism of the functional run that all are held against; a MACHINE is "GPU KEY=VALUE...". Of each a
 * line "VERDICT <tab> CYCLES <tab> text" goes to the standard output. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "study/laws.h"

/* "GPU KEY=VALUE..." */
static enum status open_machine(struct machine *machine, const char *text, bool settings, struct report *report) {
    char words[2048];
    snprintf(words, sizeof words, "%s", text);
    char *rest = words;
    enum status status = machine_open(machine, strtok_r(words, " ", &rest), report);
    for (char *word; !status && settings && (word = strtok_r(NULL, " ", &rest)) != NULL;)
        status = machine_set(machine, word, "laws", report);
    return status ? status : machine_check(machine, report);
}

/* The functional run on the GPU of a machine, whatever its other settings. */
static enum status find_reference(struct laws_reference *out, const struct launch_file *file, const char *text,
                                  const char *mechanism, struct report *report) {
    struct machine machine = {0};
    enum status status = open_machine(&machine, text, false, report);
    if (!status)
        status = laws_find_reference(out, file, &machine, mechanism, report);
    machine_close(&machine);
    return status;
}

static enum status hold(const struct laws_reference *reference, const char *text, uint64_t *cycles,
                        struct report *report) {
    struct machine machine = {0};
    enum status status = open_machine(&machine, text, true, report);
    if (!status)
        status = laws_hold(reference, &machine, cycles, report);
    machine_close(&machine);
    return status;
}

static void print_verdict(enum status status, uint64_t cycles, struct report *report) {
    printf("%s\t%" PRIu64 "\t", laws_verdict_names[laws_verdict_of(status)], cycles);
    for (const char *text = report_text(report); *text; text++)
        putchar(*text == '\n' || *text == '\t' ? ' ' : *text);
    putchar('\n');
    fflush(stdout);
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct report report = {0};
    struct launch_file file;
    struct laws_reference reference = {0};
    if (argc < 4)
        return fprintf(stderr, "laws FILE REFERENCE MACHINE...\n"), 2;
    enum status status = launch_file_read(&arena, argv[1], &file, &report);
    if (status)
        return fputs(report_text(&report), stderr), 2;
    for (int i = 3; i < argc; i++) {
        const size_t name = strcspn(argv[i], " ") + 1;
        struct report one = {0};
        uint64_t cycles = 0;
        if (i == 3 || strncmp(argv[i], argv[i - 1], name) != 0) { /* neighbours on one GPU share it */
            laws_free(&reference);
            status = find_reference(&reference, &file, argv[i], argv[2], &one);
        }
        if (status && !one.text)
            report_add(&one, status, "the functional run failed on this GPU");
        const enum status verdict = status ? status : hold(&reference, argv[i], &cycles, &one);
        print_verdict(verdict, cycles, &one);
        report_free(&one);
    }
    laws_free(&reference);
    arena_free(&arena);
    report_free(&report);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a machine: defaults, a configuration file, settings on top, each value with its origin. A file may build on
 * another machine (`base: NAME`), and name its energies (`energy: NAME`, configs/energy/NAME.yaml) and the standard of its DRAM (`dram: NAME`,
 * configs/dram/NAME.yaml): its own keys are read last and win. */
#ifndef HEDDLE_MACHINE_MACHINE_H
#define HEDDLE_MACHINE_MACHINE_H

#include "base/arena.h"
#include "base/param.h"
#include "base/status.h"
#include "energy/energy.h"
#include "gpu/gpu.h"
#include "isa/occupancy.h"

#define MACHINE_DEFAULT "gtx480"
#define MACHINE_SET_BY_API "set" /* origin of what a program set; that of options begins with -- */

/* The order of the choices of l1.prefer, memory.out_of_bounds and host.lanes. */
enum machine_prefer { MACHINE_PREFER_SHARED, MACHINE_PREFER_L1 };
enum machine_out_of_bounds { MACHINE_STOP, MACHINE_WARN };
enum machine_resident { MACHINE_LIMITED, MACHINE_WITHOUT_REGISTERS, MACHINE_WITHOUT_SHARED }; /* limits */
enum machine_lanes { MACHINE_LANES_AUTO, MACHINE_LANES_V1, MACHINE_LANES_V3, MACHINE_LANES_V4, MACHINE_LANES_NEON };

enum { MACHINE_OWN_BYTES = 4096 };

/* Zero-initialise, then machine_open. Holds pointers into itself: never copied or moved. */
struct machine {
#define PARAM PARAM_FIELD
#include "machine/machine_params.def"
#undef PARAM
    struct sm_params sm;
    struct gpu_params gpu;
    struct cache_params l1, l2, instruction, constant;
    struct crossbar_params crossbar;
    struct dram_params dram;
    struct energy_params energy;
    _Alignas(8) unsigned char own[MACHINE_OWN_BYTES]; /* values of the own keys of parts */
    const char *name;                                 /* "gtx480", or the file's name without folder and ending */
    const char *about;                                /* one line */
    const char *file;                                 /* where it is no shipped one: its path */
    struct param_set params;
    struct arena arena;
};

/* `gpu` is the name of a shipped machine or the path of a configuration file (it has a '/' or ends in .yaml);
 * NULL: MACHINE_DEFAULT. machine_close is right after a failure too. */
enum status machine_open(struct machine *machine, const char *gpu, struct report *report);
/* The same from text, for tests; `base` and `dram` are still looked up. */
enum status machine_open_text(struct machine *machine, const char *name, const char *text, size_t length,
                              struct report *report);
/* "KEY=VALUE"; origin and where are what it is called in results and in messages ("--set"). */
enum status machine_set(struct machine *machine, const char *setting, const char *origin, struct report *report);
/* What no single key can say: values that contradict each other. Call it when all are set. */
enum status machine_check(const struct machine *machine, struct report *report);
/* What a launch in time would be refused for, besides. Builds the machine once more to hear it: not for every run. */
enum status machine_check_timed(const struct machine *machine, struct report *report);
void machine_close(struct machine *machine);

/* The parts of the machine in time; points into it. */
struct gpu_config machine_gpu_config(const struct machine *machine);
/* The data cache of an SM whose resident blocks use so much shared memory. */
struct cache_params machine_l1(const struct machine *machine, uint64_t shared_in_use);
/* Shared memory of an SM at most. */
uint64_t machine_shared_bytes(const struct machine *machine);
/* What the machine gives an SM, for occupancy_compute. */
struct occupancy_limits machine_occupancy_limits(const struct machine *machine);
/* The same where `without` is no limit. */
struct occupancy_limits machine_limits_without(const struct machine *machine, enum machine_resident without);

/* Names of the shipped machines in alphabetical order, NULL-terminated; empty when their folder is not found. DRAM standards, in
 * the folder dram of theirs, are none. */
const char *const *machine_list(struct arena *arena);
/* For plug-ins. Do keys begin with the group and a dot? */
bool machine_has_keys_of(const char *group);
/* May parts with so many bytes of keys be added? */
bool machine_has_room(size_t key_bytes);
/* What the part chosen has of its own; NULL: there is none such, or this machine never asks it. */
const struct own *machine_own(const struct machine *machine, enum own_part which);
/* Values of its keys, asked or not. */
const void *machine_own_params(const struct machine *machine, enum own_part which);
/* The structures that the mechanism chosen needs in an SM; none: nobody has said. The machine is one that was checked. */
enum status machine_cost(const struct machine *machine, struct cost *out, struct report *report);
/* The SM that structures are counted for. */
struct cost_shape machine_cost_shape(const struct machine *machine);
/* Threads of a warp as the mechanism chosen has them, which blocks should be a multiple of; not more than a block may have. */
unsigned machine_warp_threads(const struct machine *machine);
/* Why the mechanism chosen has nothing to say without time; NULL: it has. */
const char *machine_needs_time(const struct machine *machine);
/* Whether the way of a warp is its own, so that it can be replayed: its lanes are not grouped by when they or others come. */
bool machine_repeats(const struct machine *machine);
/* What a functional run would be refused for, said beforehand. */
enum status machine_check_functional(const struct machine *machine, struct report *report);
/* What a run has and where it comes from, as param_text and param_origin: a value that the mechanism chosen replaces, which
 * no option asked for, is recorded as it runs. */
const char *machine_value(const struct machine *machine, const struct param_description *param);
const char *machine_origin(const struct machine *machine, const struct param_description *param);
/* What to know before cycles are set beside those of other mechanisms; NULL: nothing. */
const char *machine_note(const struct machine *machine, struct arena *arena);
/* Not part of what a result depends on: a key that begins with "host.", of a part that is not chosen, that the mechanism
 * chosen leaves unread, or that asks for no what-if (ideal.resident). */
bool machine_is_idle_key(const struct machine *machine, const struct param_description *param);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* `heddle exec --check`: every launch of a program is watched, and what was found lies in a file for who started the process. */
#ifndef HEDDLE_RESULT_GUEST_CHECK_H
#define HEDDLE_RESULT_GUEST_CHECK_H

#include "device/host.h"
#include "result/session_log.h"

#define SESSION_CHECK ".check" /* a document of check/document.h */

struct guest_check; /* of one device */

/* NULL: nobody asked (HEDDLE_CHECK). */
struct guest_check *guest_check_create(const char *path, bool is_opencl);
/* All of these take NULL. A device begins, and one ends. */
void guest_check_device(struct guest_check *check, struct device *device, uint32_t warp_size);
void guest_check_device_end(struct guest_check *check);
/* Before a launch and after it; `log` takes a remark where it cannot be watched. */
void guest_check_begin(struct guest_check *check, struct launch *launch, struct session_log *log);
void guest_check_end(struct guest_check *check, const struct launch *launch, enum status status,
                     const struct report *report);
/* Memory of the program. `is_written`: the host writes it when it likes. */
void guest_check_allocated(struct guest_check *check, const struct host_range *range, bool is_written);
void guest_check_freed(struct guest_check *check, uint64_t start);
/* The process ends, and what it has not given back is told. */
void guest_check_leaks(struct guest_check *check);
void guest_check_free(struct guest_check *check);

#endif

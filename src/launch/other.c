/* SPDX-License-Identifier: Apache-2.0 */
/* Files that belong to other commands, said as a whole: who gives one has no use for a list of keys. */
#include "launch/launch_file.h"

enum status launch_file_refuse_other(const struct yaml *yaml, struct report *report) {
    const struct yaml_node *root = yaml->root;
    if (yaml_get(root, "schema") && yaml_get(root, "machine"))
        return report_add(report, STATUS_INVALID,
                          "%s is a result, not a launch file; 'heddle report %s' makes a page of it", yaml->name,
                          yaml->name);
    if (yaml_get(root, "module") || yaml_get(root, "part_of"))
        return STATUS_OK;
    if (yaml_get(root, "workloads") || (yaml_get(root, "launches") && (yaml_get(root, "gpu") || yaml_get(root, "set"))))
        return report_add(report, STATUS_INVALID, "%s is a sweep, not a launch file; 'heddle sweep run %s' runs it",
                          yaml->name, yaml->name);
    if (yaml_get(root, "base"))
        return report_add(report, STATUS_INVALID, "%s is a machine, not a launch file; '--gpu %s' runs a launch on it",
                          yaml->name, yaml->name);
    return STATUS_OK;
}

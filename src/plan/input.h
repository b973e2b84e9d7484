/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the functions of this folder check first. For them only.
 */
#ifndef PLAN_INPUT_H
#define PLAN_INPUT_H

#include "plan/plan.h"

/* -EINVAL where a rank's node is not one of the topology. */
int plan_check_nodes(const plan_input *in);

#endif

/* SPDX-License-Identifier: MIT */
/* A policy from outside: of the actions that could start at an instant, the one that stands last in
 * the program starts first. It shows the least that a plug-in is made of.
 *
 *     cc -std=c17 -shared -fPIC -I/usr/local/include/weir backwards.c -o backwards.so
 *     weir simulate graph.weir --policy ./backwards.so
 */
#include "policies/policy.h"

const struct weir_policy *weir_policy_export(void);

static enum weir_status plan(void *state, const struct weir_view *view, struct weir_draft *draft,
                             struct weir_error *err)
{
    (void)state;
    for (uint32_t i = 0; i < view->n_nodes; i++) {
        enum weir_status status = draft->set_priority(
            draft, (weir_node){i}, i, "it stands later in the program", "program order", err);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

static const struct weir_policy backwards = {
    .version = WEIR_POLICY_VERSION,
    .size = sizeof(struct weir_policy),
    .name = "backwards",
    .summary = "later actions of the program first",
    .plan = plan,
};

const struct weir_policy *weir_policy_export(void)
{
    return &backwards;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which policies there are, and loading one from outside. */
#include "policies/registry.h"

#include <dlfcn.h>
#include <string.h>

#include "policies/builtin.h"

const struct weir_policy *const *policy_registry(void)
{
    static const struct weir_policy *const policies[] = {
        &policy_fifo, &policy_grpw,     &policy_grpw_all, &policy_lft, &policy_lst, &policy_mslk,
        &policy_mts,  &policy_recorded, &policy_retain,   &policy_spt, &policy_wcs, NULL,
    };

    return policies;
}

static void list_names(char *out, size_t out_bytes)
{
    size_t used = 0;

    out[0] = '\0';
    for (const struct weir_policy *const *at = policy_registry(); *at != NULL; at++) {
        int n = snprintf(out + used, out_bytes - used, "%s%s", used > 0 ? ", " : "", (*at)->name);

        if (n < 0 || (size_t)n >= out_bytes - used) {
            return;
        }
        used += (size_t)n;
    }
}

static const struct weir_policy *find_builtin(const char *name)
{
    for (const struct weir_policy *const *at = policy_registry(); *at != NULL; at++) {
        if (strcmp((*at)->name, name) == 0) {
            return *at;
        }
    }
    return NULL;
}

/* Is what a plug-in exports something this Weir can call? */
static enum weir_status check_plugin(const char *path, const struct weir_policy *policy,
                                     struct weir_error *err)
{
    /* The first version ends with `end`: a smaller struct was never published. */
    const size_t least = offsetof(struct weir_policy, end) + sizeof policy->end;

    if (policy == NULL || policy->name == NULL || policy->summary == NULL) {
        return weir_error_set(err, WEIR_INPUT, "%s: exports no policy with a name and a summary",
                              path);
    }
    if (policy->version != WEIR_POLICY_VERSION || policy->size < least) {
        return weir_error_set(err, WEIR_INPUT,
                              "%s: policy %s was built for version %u of the interface, and this "
                              "weir has version %u; build it against the installed headers",
                              path, policy->name, policy->version, WEIR_POLICY_VERSION);
    }
    if (find_builtin(policy->name) != NULL) {
        return weir_error_set(err, WEIR_INPUT,
                              "%s: its policy is called %s, as one of Weir's own is: a stored run "
                              "could not tell them apart; give it another name",
                              path, policy->name);
    }
    return WEIR_OK;
}

static enum weir_status load(const char *path, const struct weir_policy **out,
                             struct weir_error *err)
{
    const struct weir_policy *(*export_policy)(void), *policy;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol;
    enum weir_status status;

    if (library == NULL) {
        return weir_error_set(err, WEIR_INPUT,
                              "cannot load policy: %s; give the path of a shared object that "
                              "exports one, as weir-policy(3) shows",
                              dlerror());
    }
    symbol = dlsym(library, WEIR_POLICY_EXPORT);
    if (symbol == NULL) {
        dlclose(library);
        return weir_error_set(err, WEIR_INPUT, "%s: no function %s; see policies/policy.h", path,
                              WEIR_POLICY_EXPORT);
    }
    memcpy(&export_policy, &symbol, sizeof export_policy);
    policy = export_policy();
    status = check_plugin(path, policy, err);
    if (status != WEIR_OK) {
        dlclose(library);
        return status;
    }
    *out = policy;
    /* cppcheck-suppress resourceLeak ; the library stays loaded: the policy is in it */
    return WEIR_OK;
}

enum weir_status policy_find(const char *name, const struct weir_policy **out,
                             struct weir_error *err)
{
    char names[256];
    const struct weir_policy *builtin;

    if (strchr(name, '/') != NULL) {
        return load(name, out, err);
    }
    builtin = find_builtin(name);
    if (builtin != NULL) {
        *out = builtin;
        return WEIR_OK;
    }
    list_names(names, sizeof names);
    return weir_error_set(err, WEIR_USAGE,
                          "no policy is called '%s': the policies are %s; a plug-in is named by a "
                          "path with a slash",
                          name, names);
}

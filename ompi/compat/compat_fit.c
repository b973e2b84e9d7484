/* SPDX-License-Identifier: BSD-3-Clause */
#include "ompi/compat/compat_fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/file/file.h"
#include "ompi/group/group.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/util/output.h"

typedef struct version {
    int major, minor, release;
} version;

/* The first release of each group whose structs are alike: ompio_file_t got a member at 4.1.3,
 * ompi_communicator_t one at 5.0.7. Compared up to 4.1.8, 5.0.10 and 6.0.0rc2; later ones count as
 * the last group of their series unless a size or a handle differs. */
static const version groups[] = {{4, 1, 0}, {4, 1, 3}, {5, 0, 0}, {5, 0, 7}, {6, 0, 0}};
enum { GROUPS = sizeof groups / sizeof *groups };

static const version built = {OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION};

/* GROUPS for a series that is not known. */
static int group_of(const version *v)
{
    int group = GROUPS;
    for (int i = 0; i < GROUPS; i++)
        if (groups[i].major == v->major && groups[i].minor == v->minor &&
            groups[i].release <= v->release)
            group = i;
    return group;
}

static version parse_version(const char *library)
{
    version v = {0, 0, 0};
    (void)sscanf(library, "Open MPI v%d.%d.%d", &v.major, &v.minor, &v.release);
    return v;
}

/* Which has no header. */
OBJ_CLASS_DECLARATION(ompi_file_t);

#define SIZES(type) #type, sizeof(type), type##_class.cls_sizeof

/* The class whose objects have another size; NULL if there is none. */
static const char *find_other_size(void)
{
    const struct {
        const char *name;
        size_t built, runs;
    } sizes[] = {{SIZES(ompi_communicator_t)}, {SIZES(ompi_group_t)}, {SIZES(ompi_file_t)},
                 {SIZES(ompi_request_t)},      {SIZES(opal_proc_t)},  {SIZES(ompi_datatype_t)},
                 {SIZES(opal_convertor_t)},    {SIZES(opal_info_t)},  {SIZES(opal_mutex_t)}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].built != sizes[i].runs)
            return sizes[i].name;
    return NULL;
}

static void get_library(char library[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int length = 0;
    (void)PMPI_Get_library_version(library, &length);
}

void compat_report_misfit(const char *component, const char *what)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *rank = getenv("PMIX_RANK");
    if (NULL != rank && 0 != strcmp(rank, "0"))
        return;
    get_library(library);
    opal_output(0,
                "%s: built for Open MPI %d.%d.%d, but this is %.*s%s%s: not used; build it for "
                "this one",
                component, built.major, built.minor, built.release, (int)strcspn(library, ","),
                library, NULL == what ? "" : ", with another ", NULL == what ? "" : what);
}

bool compat_fits_library(const char *component)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    get_library(library);
    const version runs = parse_version(library);
    bool is_known = group_of(&built) < GROUPS && group_of(&built) == group_of(&runs);
    const char *other = is_known ? find_other_size() : NULL;
    if (!is_known || NULL != other)
        compat_report_misfit(component, other);
    return is_known && NULL == other;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_fit.h"

#include <dlfcn.h>
#include <stdatomic.h>
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

/* what: NULL, or what differs though the releases are alike. */
static void report(const char *library, const char *what)
{
    const char *rank = getenv("PMIX_RANK");
    if (NULL != rank && 0 != strcmp(rank, "0"))
        return;
    opal_output(0,
                "fcoll:tatp: built for Open MPI %d.%d.%d, but this is %.*s%s%s: not used; build it "
                "for this one",
                built.major, built.minor, built.release, (int)strcspn(library, ","), library,
                NULL == what ? "" : ", with another ", NULL == what ? "" : what);
}

static void get_library(char library[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int length = 0;
    (void)PMPI_Get_library_version(library, &length);
}

bool tatp_fits_library(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    get_library(library);
    const version runs = parse_version(library);
    bool is_known = group_of(&built) < GROUPS && group_of(&built) == group_of(&runs);
    const char *other = is_known ? find_other_size() : NULL;
    if (!is_known || NULL != other)
        report(library, other);
    return is_known && NULL == other;
}

/* The object that has the address, or NULL. */
static const void *find_object(const void *address)
{
    Dl_info info;
    return 0 != dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* The last two members: functions of one object, which nothing else in a handle looks like. */
static bool has_functions(const ompio_file_t *fh)
{
    const void *view, *parameter;
    memcpy(&view, &fh->f_generate_current_file_view, sizeof view);
    memcpy(&parameter, &fh->f_get_mca_parameter_value, sizeof parameter);
    const void *object = find_object(view);
    return NULL != object && object == find_object(parameter);
}

bool tatp_fits_handle(const ompio_file_t *fh)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    if (has_functions(fh))
        return true;
    if (!atomic_flag_test_and_set(&reported)) {
        char library[MPI_MAX_LIBRARY_VERSION_STRING];
        get_library(library);
        report(library, "ompio_file_t");
    }
    return false;
}

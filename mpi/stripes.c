/* SPDX-License-Identifier: BSD-3-Clause */
/* The stripes of new files, by the hints with which the MPI opens them. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/calls.h"
#include "mpi/front.h"
#include "mpi/process.h"
#include "mpi/store.h"
#include "storage/stripes.h"

enum { STRIPE_BYTES = 1 << 20 }; /* Lustre's default */

static bool has_hint(MPI_Info info, enum coll_hint hint)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int is_set = 0;
    if (info != MPI_INFO_NULL)
        mpi.Info_get(info, coll_hint_name(hint), MPI_MAX_INFO_VAL, text, &is_set);
    return is_set != 0;
}

/* A file that is new, where hints set its stripes and the program sets none. */
static bool needs_stripes(const char *name, int mode, MPI_Info info)
{
    const char *path = front_store_path(name);
    char *copy = strdup(path);
    bool needs = copy != NULL && (mode & MPI_MODE_CREATE) != 0 && front_process_sets_stripes() &&
                 !has_hint(info, COLL_HINT_STRIPING_UNIT) &&
                 !has_hint(info, COLL_HINT_STRIPING_FACTOR) && access(path, F_OK) != 0 &&
                 storage_takes_stripes(dirname(copy));
    free(copy);
    return needs;
}

static int count_nodes(MPI_Comm comm)
{
    MPI_Comm node;
    int rank, is_first, nodes;
    mpi.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    mpi.Comm_rank(node, &rank);
    mpi.Comm_free(&node);
    is_first = rank == 0;
    mpi.Allreduce(&is_first, &nodes, 1, MPI_INT, MPI_SUM, comm);
    return nodes;
}

/* 0: the file system's default. Collective; rank 0 decides. */
static int choose_stripes(MPI_Comm comm, const char *name, int mode, MPI_Info info)
{
    int rank, count;
    mpi.Comm_rank(comm, &rank);
    count = rank == 0 && needs_stripes(name, mode, info);
    mpi.Bcast(&count, 1, MPI_INT, 0, comm);
    if (count == 0)
        return 0;
    const int nodes = count_nodes(comm);
    count = nodes > 1 ? storage_choose_count(nodes, storage_count_targets("")) : 0;
    mpi.Bcast(&count, 1, MPI_INT, 0, comm);
    if (rank == 0 && count > 0)
        front_log(1, "%s is created with %d stripes of %d bytes, for %d nodes", name, count,
                  STRIPE_BYTES, nodes);
    return count;
}

static void set_hint(MPI_Info info, enum coll_hint hint, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    mpi.Info_set(info, coll_hint_name(hint), text);
}

front_word front_choose_info(front_word comm, const char *name, int mode, front_word info)
{
    MPI_Info chosen;
    const int count = choose_stripes((MPI_Comm)comm, name, mode, (MPI_Info)info);
    if (count == 0)
        return info;
    if ((MPI_Info)info == MPI_INFO_NULL)
        mpi.Info_create(&chosen);
    else
        mpi.Info_dup((MPI_Info)info, &chosen);
    set_hint(chosen, COLL_HINT_STRIPING_FACTOR, count);
    set_hint(chosen, COLL_HINT_STRIPING_UNIT, STRIPE_BYTES);
    return (front_word)chosen;
}

void front_release_info(front_word info, front_word chosen)
{
    MPI_Info own = (MPI_Info)chosen;
    if (chosen != info)
        mpi.Info_free(&own);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The stripes of new files, by the hints with which the MPI opens them. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "mpi/front.h"
#include "mpi/process.h"
#include "mpi/store.h"
#include "mpi/view.h"
#include "storage/stripes.h"

enum { STRIPE_BYTES = 1 << 20 }; /* Lustre's default */

/* ROMIO reads a file of hints, below those of the program. Cray's MPICH has a variable. */
static bool has_hints_of_site(void)
{
    const char *name = getenv("ROMIO_HINTS"), *cray = getenv("MPICH_MPIIO_HINTS");
    FILE *stream = name != NULL ? fopen(name, "re") : NULL;
    char key[64];
    bool has = cray != NULL && strstr(cray, "striping_") != NULL;
    if (stream == NULL)
        stream = fopen("/etc/romio-hints", "re");
    if (stream == NULL)
        return has;
    while (!has && fscanf(stream, " %63s%*[^\n]", key) == 1)
        has = strncmp(key, "striping_", strlen("striping_")) == 0;
    fclose(stream);
    return has;
}

/* A file that is new, where hints set its stripes and nobody has set any. */
static bool needs_stripes(const char *name, int mode, MPI_Info info)
{
    const char *path = front_store_path(name);
    char *copy = strdup(path), text[MPI_MAX_INFO_VAL + 1];
    bool needs = copy != NULL && (mode & MPI_MODE_CREATE) != 0 && front_process_sets_stripes() &&
                 !front_hint_find(info, COLL_HINT_STRIPING_UNIT, text) &&
                 !front_hint_find(info, COLL_HINT_STRIPING_FACTOR, text) && !has_hints_of_site() &&
                 access(path, F_OK) != 0 && storage_takes_stripes(dirname(copy));
    free(copy);
    return needs;
}

static int compare_nodes(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* node: of each rank; is sorted. */
static int count_nodes(int64_t *node, int ranks)
{
    int nodes = 1;
    qsort(node, (size_t)ranks, sizeof *node, compare_nodes);
    for (int i = 1; i < ranks; i++)
        nodes += node[i] != node[i - 1];
    return nodes;
}

static int choose_count(const char *name, int64_t *node, int ranks)
{
    const int nodes = count_nodes(node, ranks);
    const int count = nodes > 1 ? storage_choose_count(nodes, storage_count_targets("")) : 0;
    if (count > 0)
        front_log(1, "%s is created with %d stripes of %d bytes, for %d nodes", name, count,
                  STRIPE_BYTES, nodes);
    return count;
}

/* 0: the file system's default. Collective; rank 0 decides. */
static int choose_stripes(MPI_Comm comm, const char *name, int mode, MPI_Info info)
{
    int rank, ranks, count;
    int64_t own = front_process_node(), *node = NULL;
    mpi.Comm_rank(comm, &rank);
    mpi.Comm_size(comm, &ranks);
    if (rank == 0 && needs_stripes(name, mode, info))
        node = base_alloc((size_t)ranks, sizeof *node);
    count = node != NULL;
    mpi.Bcast(&count, 1, MPI_INT, 0, comm);
    if (count == 0)
        return 0;
    mpi.Gather(&own, 1, MPI_INT64_T, node, 1, MPI_INT64_T, 0, comm);
    if (rank == 0)
        count = choose_count(name, node, ranks);
    mpi.Bcast(&count, 1, MPI_INT, 0, comm);
    free(node);
    return count;
}

front_word front_choose_info(front_word comm, const char *name, int mode, front_word info)
{
    MPI_Info chosen;
    coll_hint_values hints = {{0}};
    const int count = choose_stripes((MPI_Comm)comm, name, mode, (MPI_Info)info);
    if (count == 0)
        return info;
    if ((MPI_Info)info == MPI_INFO_NULL)
        mpi.Info_create(&chosen);
    else
        mpi.Info_dup((MPI_Info)info, &chosen);
    hints.of[COLL_HINT_STRIPING_FACTOR] = count;
    hints.of[COLL_HINT_STRIPING_UNIT] = STRIPE_BYTES;
    front_hints_write(chosen, &hints);
    return (front_word)chosen;
}

void front_release_info(front_word info, front_word chosen)
{
    MPI_Info own = (MPI_Info)chosen;
    if (chosen != info)
        mpi.Info_free(&own);
}

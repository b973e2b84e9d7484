/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiling library: counts files that are opened and collective writes, and prints them. Built
 * with NEXT it finds the functions behind its own by the dynamic linker, as preloaded ones do; with
 * LATE it keeps rank 1 so many seconds in MPI_Init; with POOR, a newline or NUL, there is no
 * memory for lines, or for what comes behind the first NUL of a file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#ifdef NEXT
#define CALL(name) ((__typeof__(&P##name))dlsym(RTLD_NEXT, "P" #name))
#else
#define CALL(name) P##name
#endif

static int opened, written;

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    opened++;
    return CALL(MPI_File_open)(comm, name, mode, info, file);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void *data, int count,
                          MPI_Datatype type, MPI_Status *status)
{
    written++;
    return CALL(MPI_File_write_at_all)(file, offset, data, count, type, status);
}

#ifdef LATE
int MPI_Init(int *argc, char ***argv)
{
    int rank, rc = PMPI_Init(argc, argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        sleep(LATE);
    return rc;
}
#endif

#ifdef POOR
ssize_t getdelim(char **text, size_t *room, int end, FILE *stream)
{
    if (end == POOR && (end == '\n' || *text != NULL))
        return -1;
    return ((__typeof__(&getdelim))dlsym(RTLD_NEXT, "getdelim"))(text, room, end, stream);
}

ssize_t __getdelim(char **text, size_t *room, int end, FILE *stream)
{
    return getdelim(text, room, end, stream);
}
#endif

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("profile: %d opened, %d written\n", opened, written);
    return PMPI_Finalize();
}

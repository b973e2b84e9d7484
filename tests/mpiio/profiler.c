/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiling library: prints how often it saw functions of files, and those at explicit offsets,
 * and how many requests were tested together.
 * Built with NEXT it finds the functions behind its own by the dynamic linker, as preloaded ones
 * do; with LATE it keeps rank 1 so many seconds in MPI_Init; with POOR, a newline or NUL, there is
 * no memory for lines, or for what comes behind the first NUL of a file. */
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

static int opened, written, read_back, started, together, tested;

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    opened++;
    return CALL(MPI_File_open)(comm, name, mode, info, file);
}

#define SEE(name, name_at, counter, data_type, result_type)                                        \
    int MPI_##name(MPI_File file, data_type *data, int count, MPI_Datatype type,                   \
                   result_type *result)                                                            \
    {                                                                                              \
        counter++;                                                                                 \
        return CALL(MPI_##name)(file, data, count, type, result);                                  \
    }                                                                                              \
    int MPI_##name_at(MPI_File file, MPI_Offset offset, data_type *data, int count,                \
                      MPI_Datatype type, result_type *result)                                      \
    {                                                                                              \
        counter++;                                                                                 \
        return CALL(MPI_##name_at)(file, offset, data, count, type, result);                       \
    }

int MPI_Testall(int count, MPI_Request *request, int *flag, MPI_Status *status)
{
    tested += count;
    return CALL(MPI_Testall)(count, request, flag, status);
}

int MPI_Waitall(int count, MPI_Request *request, MPI_Status *status)
{
    tested += count;
    return CALL(MPI_Waitall)(count, request, status);
}

SEE(File_write, File_write_at, written, const void, MPI_Status)
SEE(File_read, File_read_at, read_back, void, MPI_Status)
SEE(File_iwrite, File_iwrite_at, started, const void, MPI_Request)
SEE(File_write_all, File_write_at_all, together, const void, MPI_Status)

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
        printf("seen: open %d, write %d, read %d, iwrite %d, write_all %d, tested %d\n", opened,
               written, read_back, started, together, tested);
    return PMPI_Finalize();
}

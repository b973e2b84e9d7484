/* SPDX-License-Identifier: BSD-3-Clause */
/* opens FILE [unlinked|replaced|limited|last|scarce|gone]: writes integers of all ranks in turn by
 * four aggregators, and reads them back through the library and by the MPI. Between opening and
 * access the file is unlinked, replaced by another one, or no rank but the first can open any file;
 * or it is the last of 151 files of processes that may have 256 descriptors, the second one where
 * there are three communicators left, or the first one where there is one. Prints how many
 * descriptors of the file the processes have together, and how many values are wrong. */
#include <dirent.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNT = 4096 };

static int rank, ranks;

static int count_descriptors(const struct stat *file)
{
    int all, own = 0;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat status;
        own += fstat(atoi(entry->d_name), &status) == 0 && S_ISREG(status.st_mode) &&
               status.st_ino == file->st_ino && status.st_dev == file->st_dev;
    }
    closedir(folder);
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void put_another(const char *name)
{
    char other[PATH_MAX];
    snprintf(other, sizeof other, "%s.other", name);
    FILE *f = fopen(other, "w");
    if (f == NULL || fputs("another", f) < 0 || fclose(f) != 0 || rename(other, name) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The MPI needs descriptors, too, when ranks first send to each other. */
static void connect_all(void)
{
    static char to[1 << 20], from[1 << 20];
    MPI_Alltoall(to, (int)sizeof to / ranks, MPI_CHAR, from, (int)sizeof from / ranks, MPI_CHAR,
                 MPI_COMM_WORLD);
}

static void interfere(const char *name, const char *how)
{
    struct rlimit limit;
    if (rank == 0 && strcmp(how, "unlinked") == 0)
        unlink(name);
    if (rank == 0 && strcmp(how, "replaced") == 0)
        put_another(name);
    connect_all();
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 3;
    if (rank > 0 && strcmp(how, "limited") == 0)
        setrlimit(RLIMIT_NOFILE, &limit);
}

/* All communicators but some. */
static void use_up_communicators(int left)
{
    MPI_Comm comm, before[3];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (long i = 0; MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS; i++)
        before[i % 3] = comm;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    while (left-- > 0)
        MPI_Comm_free(&before[left]);
}

static MPI_File open_file(const char *name)
{
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "4");
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Info_free(&info);
    return file;
}

static int value_of(int i)
{
    return rank * COUNT + i + 1;
}

static int count_wrong(int got[COUNT])
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        wrong += got[i] != value_of(i);
        got[i] = 0;
    }
    return wrong;
}

static int access_file(MPI_File file)
{
    static int data[COUNT];
    MPI_Datatype view;
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * ranks, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, view, "native", MPI_INFO_NULL);
    for (int i = 0; i < COUNT; i++)
        data[i] = value_of(i);
    int wrong = MPI_File_write_all(file, data, COUNT, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    MPI_File_read_at_all(file, 0, data, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    wrong += count_wrong(data);
    MPI_File_read_at(file, 0, data, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    wrong += count_wrong(data);
    MPI_Type_free(&view);
    return wrong;
}

int main(int argc, char **argv)
{
    enum { OTHERS = 150 };
    const char *how = argc > 2 ? argv[2] : "";
    const int others = strcmp(how, "last") == 0 ? OTHERS : strcmp(how, "scarce") == 0;
    struct rlimit limit = {.rlim_cur = 256, .rlim_max = 256};
    struct stat status;
    MPI_File other[OTHERS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (others == OTHERS)
        setrlimit(RLIMIT_NOFILE, &limit);
    if (strcmp(how, "scarce") == 0 || strcmp(how, "gone") == 0)
        use_up_communicators(others > 0 ? 3 : 1);
    for (int i = 0; i < others; i++)
        other[i] = open_file("other.dat");
    MPI_File file = open_file(argv[1]);
    if (stat(argv[1], &status) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    getrlimit(RLIMIT_NOFILE, &limit);
    MPI_Barrier(MPI_COMM_WORLD);
    interfere(argv[1], how);
    int all, wrong = access_file(file);
    setrlimit(RLIMIT_NOFILE, &limit);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const int descriptors = count_descriptors(&status);
    if (rank == 0)
        printf("%d descriptors, %d values are wrong\n", descriptors, all);
    for (int i = 0; i < others; i++)
        MPI_File_close(&other[i]);
    MPI_File_close(&file);
    MPI_Finalize();
    return all > 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of each rank write records at the pointer of one file, which Open MPI 4
 * cannot always; OPEN: they open files at the same time, which ROMIO cannot. Usage: threads FILE
 * [OPEN] */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, SEEKS = 300000, RECORDS = 2000, OPENS = 20 };

typedef struct task {
    pthread_t thread;
    int number;
    MPI_Comm comm;
    const char *name;
    int wrong;
} task;

static int rank;
static MPI_File shared;

static void *move(void *state)
{
    (void)state;
    for (int i = 0; i < SEEKS; i++)
        MPI_File_seek(shared, 1, MPI_SEEK_CUR);
    return NULL;
}

static void *write_records(void *state)
{
    const task *t = state;
    MPI_Request request;
    for (int i = 0; i < RECORDS; i++) {
        const int record = t->number * RECORDS + i + 1;
        if (i % 2 == 0) {
            MPI_File_write(shared, &record, 1, MPI_INT, MPI_STATUS_IGNORE);
        } else {
            MPI_File_iwrite(shared, &record, 1, MPI_INT, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    return NULL;
}

/* Files of its own, by the threads of this number of all ranks. */
static void *open_files(void *state)
{
    task *t = state;
    char name[1024];
    MPI_File file;
    for (int i = 0; i < OPENS; i++) {
        int data = rank + i, back = -1;
        snprintf(name, sizeof name, "%s.%d", t->name, t->number);
        MPI_File_open(t->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file);
        MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
        MPI_File_write_at_all(file, rank, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_read_at_all(file, rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
        t->wrong += back != data;
    }
    return NULL;
}

/* Returns how often something was wrong. */
static int run(task *tasks, void *(*work)(void *))
{
    int wrong = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&tasks[i].thread, NULL, work, &tasks[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(tasks[i].thread, NULL);
        wrong += tasks[i].wrong;
    }
    return wrong;
}

static int count_missing(void)
{
    static int record[THREADS * RECORDS];
    static char is_there[THREADS * RECORDS + 1];
    int missing = 0;
    MPI_File_read_at(shared, 0, record, THREADS * RECORDS, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < THREADS * RECORDS; i++)
        if (record[i] > 0 && record[i] <= THREADS * RECORDS)
            is_there[record[i]] = 1;
    for (int i = 1; i <= THREADS * RECORDS; i++)
        missing += !is_there[i];
    return missing;
}

/* Returns how often something was wrong. */
static int use_pointer(task *tasks, const char *name)
{
    MPI_Offset moved, written;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &shared);
    MPI_File_set_view(shared, (MPI_Offset)(rank * THREADS * RECORDS * (int)sizeof(int)), MPI_INT,
                      MPI_INT, "native", MPI_INFO_NULL);
    run(tasks, move);
    MPI_File_get_position(shared, &moved);
    MPI_File_seek(shared, 0, MPI_SEEK_SET);
    run(tasks, write_records);
    MPI_File_get_position(shared, &written);
    int wrong = (moved != THREADS * SEEKS) + (written != THREADS * RECORDS) + count_missing();
    MPI_File_close(&shared);
    return wrong;
}

int main(int argc, char **argv)
{
    task tasks[THREADS];
    int provided, wrong, all;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 77);
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = (task){.number = i, .name = argv[1]};
        MPI_Comm_dup(MPI_COMM_WORLD, &tasks[i].comm);
    }
    wrong = argc > 2 ? run(tasks, open_files) : use_pointer(tasks, argv[1]);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", all);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&tasks[i].comm);
    MPI_Finalize();
    return all != 0;
}

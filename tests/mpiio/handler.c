/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program does in the error handler of a file: with this file and with others, and it leaves
 * the call that fails by longjmp. Usage: handler FILE */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, wrong;
static const char *name;

static void expect(int is_right, const char *what)
{
    if (!is_right)
        printf("rank %d: %s\n", rank, what);
    wrong += !is_right;
}

static MPI_File open_file(MPI_Comm comm, const char *suffix)
{
    char path[1024];
    MPI_File file;
    snprintf(path, sizeof path, "%s%s", name, suffix);
    MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    return file;
}

/* Each rank writes a number, which it reads behind the view; `first`: bytes before that of rank 0.
 */
static void use_file(MPI_File file, int first, const char *what)
{
    static int number;
    int data = ++number * ranks + rank, back = -1;
    MPI_File_write_at_all(file, rank, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, first, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at_all(file, rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
    expect(back == data, what);
}

/* ---- handlers: the last call of each may be a jump to the function ---- */

static MPI_Offset position;

static void ask(MPI_File *file, int *error, ...)
{
    (void)error;
    MPI_File_get_position(*file, &position);
}

static void seek(MPI_File *file, int *error, ...)
{
    (void)error;
    MPI_File_seek(*file, 100, MPI_SEEK_SET);
}

static void set_view(MPI_File *file, int *error, ...)
{
    (void)error;
    MPI_File_set_view(*file, 4096, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}

static void use_both(MPI_File *file, int *error, ...)
{
    static int data;
    MPI_Request request;
    MPI_File other = open_file(MPI_COMM_WORLD, ".other");
    (void)error;
    data = rank + 4711;
    use_file(other, 0, "another file in the handler");
    MPI_File_iwrite_at_all(other, 0, &data, 1, MPI_INT, &request);
    MPI_File_set_atomicity(*file, 1);
    use_file(*file, 4096, "the file in the handler");
    MPI_File_sync(*file);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&other);
}

enum { BLOCKS = 64 };
static char *block[BLOCKS]; /* texts in memory that closing has freed */

static void close_file(MPI_File *file, int *error, ...)
{
    (void)error;
    MPI_File_close(file);
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc(16 * i + 8);
        sprintf(block[i], "%0*d", 16 * i + 7, 0);
    }
}

static void check_blocks(void)
{
    for (int i = 0; i < BLOCKS && block[i] != NULL; i++) {
        expect(strspn(block[i], "0") == (size_t)(16 * i + 7), "memory after closing");
        free(block[i]);
        block[i] = NULL;
    }
}

static jmp_buf start;

static void jump(MPI_File *file, int *error, ...)
{
    (void)file;
    (void)error;
    longjmp(start, 1);
}

/* ---- calls that fail ---- */

static void read_alone(MPI_File file)
{
    int data;
    MPI_File_read_at(file, -1, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
}

static void read_together(MPI_File file)
{
    int data;
    MPI_File_read_at_all(file, -1, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
}

static void begin_together(MPI_File file)
{
    int data;
    MPI_File_read_at_all_begin(file, -1, &data, 1, MPI_INT);
}

static void begin_view(MPI_File file)
{
    MPI_File_set_view(file, -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}

/* ---- cases ---- */

static void handle(MPI_File file, MPI_File_errhandler_function *function,
                   void (*fail)(MPI_File file))
{
    MPI_Errhandler handler;
    MPI_File_create_errhandler(function, &handler);
    MPI_File_set_errhandler(file, handler);
    MPI_Errhandler_free(&handler);
    fail(file);
    check_blocks();
}

static void run_cases(void (*fail)(MPI_File file))
{
    MPI_File file = open_file(MPI_COMM_WORLD, "");
    MPI_File_seek(file, 17, MPI_SEEK_SET);
    handle(file, ask, fail);
    expect(position == 17, "the position in the handler");
    handle(file, seek, fail);
    MPI_File_get_position(file, &position);
    expect(position == 100, "the position that the handler has sought");
    handle(file, set_view, fail);
    use_file(file, 4096, "the view that the handler has set");
    handle(file, use_both, fail);
    handle(file, close_file, fail);
    /* a file that even ranks use alone may have its handle */
    file = open_file(MPI_COMM_SELF, rank % 2 == 0 ? ".even" : ".odd");
    if (rank % 2 == 0)
        use_file(file, 0, "a file of one rank");
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 leaves a call; then all ranks write a file together, from a deeper function. */
static void jump_and_use(int depth)
{
    volatile char room[512];
    room[0] = (char)depth;
    if (depth > 0) {
        jump_and_use(depth - 1);
        expect(room[0] == (char)depth, "the stack");
        return;
    }
    MPI_File file = open_file(MPI_COMM_WORLD, "");
    use_file(file, 0, "a file after a jump");
    if (setjmp(start) == 0)
        handle(file, rank == 0 ? jump : ask, read_together);
    MPI_File_close(&file);
}

static void run_jumps(void)
{
    MPI_File file;
    MPI_Errhandler handler;
    MPI_File_create_errhandler(jump, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    if (rank == 0 && setjmp(start) == 0)
        MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    jump_and_use(8);
}

int main(int argc, char **argv)
{
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    name = argv[1];
    run_cases(read_alone);
    run_cases(read_together);
    run_cases(begin_together);
    run_cases(begin_view);
    run_jumps();
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", all);
    MPI_Finalize();
    return all != 0;
}

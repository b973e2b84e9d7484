/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the error classes of wrong calls on a file, and where those at the file pointer leave it:
 * through libtatp-mpiio.so they are the MPI's. Usage: errors FILE */
#include <mpi.h>
#include <stdio.h>

#define END_OF_OFFSETS 0x7fffffffffffffffLL

static int rank;

static void print(const char *call, int rc)
{
    int class = 0;
    MPI_Error_class(rc, &class);
    if (rank == 0)
        printf("%s: %d\n", call, class);
}

#define TRY(call) print(#call, call)

static int refuse(MPI_Datatype type, int key, void *state, void *in, void *out, int *copies)
{
    (void)type;
    (void)key;
    (void)state;
    (void)in;
    (void)out;
    (void)copies;
    return MPI_ERR_OTHER;
}

/* The program's type has an attribute that cannot be copied. */
static void write_by_own_type(MPI_File f, const int *data)
{
    int key;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Type_create_keyval(refuse, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_attr(type, key, NULL);
    TRY(MPI_File_write_at_all(f, 0, data, 1, type, MPI_STATUS_IGNORE));
    TRY(MPI_File_iwrite_at_all(f, 0, data, 1, type, &request));
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&key);
}

/* ---- calls of one rank at the file pointer ---- */

static void print_position(MPI_File f)
{
    MPI_Offset position;
    MPI_File_get_position(f, &position);
    printf("    at %lld\n", (long long)position);
}

static void access_alone(MPI_File f, MPI_Offset from, int count, MPI_Datatype type)
{
    static char data[4096];
    MPI_Request request;
    if (rank > 0)
        return;
    MPI_File_seek(f, from, MPI_SEEK_SET);
    TRY(MPI_File_read(f, data, count, type, MPI_STATUS_IGNORE));
    print_position(f);
    MPI_File_seek(f, from, MPI_SEEK_SET);
    if (MPI_File_iread(f, data, count, type, &request) == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    print_position(f);
    MPI_File_seek(f, from, MPI_SEEK_SET);
    TRY(MPI_File_write(f, data, count, type, MPI_STATUS_IGNORE));
    print_position(f);
    MPI_File_seek(f, from, MPI_SEEK_SET);
    if (MPI_File_iwrite(f, data, count, type, &request) == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    print_position(f);
}

static void move_pointer(const char *name, int mode)
{
    MPI_File f;
    MPI_Datatype pair, holes;
    MPI_Type_contiguous(2, MPI_INT, &pair); /* is not committed */
    MPI_Type_vector(10, 1, 2, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    for (int kind = 0; kind < 3; kind++) {
        const MPI_Datatype etype = kind == 0 ? MPI_BYTE : MPI_INT;
        MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &f);
        MPI_File_set_view(f, 4 * rank, etype, kind == 2 ? holes : etype, "native", MPI_INFO_NULL);
        if (mode == MPI_MODE_RDWR)
            MPI_File_set_size(f, 515);
        access_alone(f, 20, 1, MPI_INT);
        access_alone(f, 100, 150, MPI_INT);
        access_alone(f, 600, 50, MPI_INT);
        access_alone(f, 100, 7, holes);
        access_alone(f, 100, 0, MPI_INT);
        access_alone(f, 100, -1, MPI_INT);
        access_alone(f, 100, 1, pair);
        access_alone(f, 100, 1, MPI_DATATYPE_NULL);
        access_alone(f, 100, 3, MPI_BYTE);
        MPI_File_close(&f);
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&holes);
}

int main(int argc, char **argv)
{
    int data[4] = {0};
    MPI_Offset position;
    MPI_File f, none_open;
    MPI_Status s;
    MPI_Datatype pair, none;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(2, MPI_INT, &pair); /* is not committed */
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);

    TRY(MPI_File_open(MPI_COMM_WORLD, NULL, MPI_MODE_RDONLY, MPI_INFO_NULL, &none_open));
    write_by_own_type(f, data);
    TRY(MPI_File_write_at_all(f, 0, data, -1, MPI_INT, &s));
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
    MPI_File_set_errhandler(f, MPIR_ERRORS_THROW_EXCEPTIONS);
    TRY(MPI_File_write_at_all(f, 0, data, -1, MPI_INT, &s));
    MPI_File_set_errhandler(f, MPI_ERRORS_RETURN);
#endif
    TRY(MPI_File_write_at_all(f, 0, data, 1, MPI_DATATYPE_NULL, &s));
    TRY(MPI_File_read_at_all(f, -1, data, 1, MPI_INT, &s));
    TRY(MPI_File_read_at_all(f, -1, data, -1, MPI_INT, &s));
    TRY(MPI_File_write_at_all(f, 0, data, 1, pair, &s));
    TRY(MPI_File_write_at_all(f, 0, data, 0, pair, &s));
    TRY(MPI_File_read_all(f, data, 1, pair, &s));

    TRY(MPI_File_write_all_end(f, data, &s));
    TRY(MPI_File_write_all_begin(f, data, 1, pair));
    TRY(MPI_File_write_all_end(f, data, &s));
    TRY(MPI_File_read_at_all_begin(f, -1, data, 1, MPI_INT));
    TRY(MPI_File_read_at_all_end(f, data, &s));
    TRY(MPI_File_write_all_begin(f, data, 1, MPI_INT));
    TRY(MPI_File_write_all_begin(f, data, 1, MPI_INT));
    TRY(MPI_File_write_all(f, data, 1, MPI_INT, &s));
    TRY(MPI_File_write_all_end(f, data, &s));
    TRY(MPI_File_write_all_end(f, data, &s));

    TRY(MPI_File_seek(f, -1, MPI_SEEK_SET));
    TRY(MPI_File_seek(f, 0, 77));
    TRY(MPI_File_seek(f, END_OF_OFFSETS - 1, MPI_SEEK_SET));
    TRY(MPI_File_seek(f, END_OF_OFFSETS - 1, MPI_SEEK_CUR));
    TRY(MPI_File_write_all(f, data, 1, MPI_INT, &s));
    MPI_File_get_position(f, &position);
    print("position is kept", position == END_OF_OFFSETS - 1 ? MPI_SUCCESS : MPI_ERR_OTHER);
    TRY(MPI_File_write_at_all(f, END_OF_OFFSETS - 1, data, 0, MPI_INT, &s));
    TRY(MPI_File_write_at_all(f, END_OF_OFFSETS - 1, data, 1, MPI_INT, &s));
    TRY(MPI_File_read_at_all(f, END_OF_OFFSETS - 1, data, 1, MPI_INT, &s));

    TRY(MPI_File_set_view(f, 0, MPI_INT, pair, "native", MPI_INFO_NULL));
    TRY(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    TRY(MPI_File_write_at_all(f, 0, data, 3, MPI_BYTE, &s));
    TRY(MPI_File_write_all(f, data, 3, MPI_BYTE, &s));
    TRY(MPI_File_read_all(f, data, 3, MPI_BYTE, &s));
    TRY(MPI_File_write_all_begin(f, data, 3, MPI_BYTE));
    TRY(MPI_File_write_all_end(f, data, &s));
    TRY(MPI_File_write_at_all(f, END_OF_OFFSETS / 4 + 1, data, 1, MPI_INT, &s));
    TRY(MPI_File_write_at_all(f, rank, data, 1, MPI_INT, &s));
    TRY(MPI_File_set_view(f, 0, MPI_INT, none, "native", MPI_INFO_NULL));
    TRY(MPI_File_write_at_all(f, 0, data, 1, MPI_INT, &s));
    TRY(MPI_File_write_at_all(f, 0, data, 3, MPI_BYTE, &s));
    TRY(MPI_File_close(&f));

    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    TRY(MPI_File_write_all(f, data, 1, MPI_INT, &s));
    TRY(MPI_File_write_all(f, data, -1, MPI_INT, &s));
    MPI_File_close(&f);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
    TRY(MPI_File_read_all(f, data, 1, MPI_INT, &s));
    MPI_File_close(&f);
    move_pointer(argv[1], MPI_MODE_RDWR);
    move_pointer(argv[1], MPI_MODE_RDONLY);
    move_pointer(argv[1], MPI_MODE_WRONLY);
    MPI_Type_free(&pair);
    MPI_Type_free(&none);
    return MPI_Finalize();
}

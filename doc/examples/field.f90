! SPDX-License-Identifier: BSD-3-Clause
! Writes a field of n x n values into one file by blocks, one for each rank, and reads it back.
program field
    use mpi_f08
    implicit none
    integer, parameter :: n = 2048
    integer :: rank, ranks, side, bit, i, wrong, place(2), block(2)
    double precision, allocatable :: written(:, :), got(:, :)
    double precision :: begin, middle, finish
    type(MPI_Datatype) :: view
    type(MPI_File) :: file

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)

    ! Blocks are numbered along a Z-shaped curve: each bit of the rank is one of x or y in turn.
    side = 1
    place = 0
    do bit = 0, 15
        if (side**2 >= ranks) exit
        if (btest(rank, 2 * bit)) place(1) = ibset(place(1), bit)
        if (btest(rank, 2 * bit + 1)) place(2) = ibset(place(2), bit)
        side = 2 * side
    end do
    call require(abs(side**2 - ranks) + mod(n, side), "the number of ranks is not 4, 16, 64, ...")
    block = n / side

    allocate (written(block(1), block(2)), got(block(1), block(2)))
    written = reshape([(dble(rank) * product(block) + i, i=1, product(block))], block)

    call MPI_Type_create_subarray(2, [n, n], block, place * block, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, view)
    call MPI_Type_commit(view)
    call MPI_File_open(MPI_COMM_WORLD, "field_f.dat", MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, i)
    call require(i, "cannot open field_f.dat")
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_DOUBLE_PRECISION, view, "native", MPI_INFO_NULL)

    begin = MPI_Wtime()
    call MPI_File_write_at_all(file, 0_MPI_OFFSET_KIND, written, size(written), MPI_DOUBLE_PRECISION, &
                               MPI_STATUS_IGNORE, i)
    call require(i, "cannot write")
    middle = MPI_Wtime()
    call MPI_File_read_at_all(file, 0_MPI_OFFSET_KIND, got, size(got), MPI_DOUBLE_PRECISION, &
                              MPI_STATUS_IGNORE, i)
    call require(i, "cannot read")
    finish = MPI_Wtime()
    call MPI_File_close(file, i)
    call require(i, "cannot close field_f.dat")

    wrong = count(got /= written)
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(a, f0.3, a, f0.3, a, i0, a, i0, a)', "written in ", middle - begin, " s, read in ", &
        finish - middle, " s, ", wrong, " of ", n * n, " values wrong"
    call MPI_Type_free(view)
    call MPI_Finalize()
    if (wrong > 0) stop 1

contains
    subroutine require(rc, what)
        integer, intent(in) :: rc
        character(*), intent(in) :: what
        if (rc == MPI_SUCCESS) return
        print '(a, a)', "field: ", what
        call MPI_Abort(MPI_COMM_WORLD, 1)
    end subroutine
end program

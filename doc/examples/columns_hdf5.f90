! SPDX-License-Identifier: BSD-3-Clause
! Each rank writes a block of rows of an HDF5 dataset, in a file a block of columns: by collective calls if the first argument is
! "collective". Build: h5pfc -o columns columns_hdf5.f90
program columns
    use hdf5
    use mpi
    implicit none
    integer, parameter :: rows = 1024, columns_ = 4096
    integer :: rank, ranks, error, mine
    integer(hid_t) :: access, file, space, memory, dataset, transfer
    integer(hsize_t) :: shape_(2), block_(2), start(2)
    double precision, allocatable :: values(:, :)
    double precision :: seconds, longest
    character(len=16) :: argument

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call get_command_argument(1, argument)
    mine = rows / ranks
    shape_ = [mine * ranks, columns_]
    block_ = [mine, columns_]
    start = [mine * rank, 0]
    allocate(values(mine, columns_))
    values = rank

    call h5open_f(error)
    call h5pcreate_f(H5P_FILE_ACCESS_F, access, error)
    call h5pset_fapl_mpio_f(access, MPI_COMM_WORLD, MPI_INFO_NULL, error)
    call h5fcreate_f("columns.h5", H5F_ACC_TRUNC_F, file, error, access_prp=access)
    call h5screate_simple_f(2, shape_, space, error)
    call h5screate_simple_f(2, block_, memory, error)
    call h5dcreate_f(file, "data", H5T_NATIVE_DOUBLE, space, dataset, error)
    call h5sselect_hyperslab_f(space, H5S_SELECT_SET_F, start, block_, error)

    call h5pcreate_f(H5P_DATASET_XFER_F, transfer, error)
    if (argument == "collective") call h5pset_dxpl_mpio_f(transfer, H5FD_MPIO_COLLECTIVE_F, error)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    seconds = MPI_Wtime()
    call h5dwrite_f(dataset, H5T_NATIVE_DOUBLE, values, block_, error, memory, space, xfer_prp=transfer)
    if (error /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, error)
    seconds = MPI_Wtime() - seconds

    call h5pclose_f(transfer, error)
    call h5dclose_f(dataset, error)
    call h5sclose_f(memory, error)
    call h5sclose_f(space, error)
    call h5fclose_f(file, error)
    call h5pclose_f(access, error)
    call h5close_f(error)
    call MPI_Reduce(seconds, longest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
    if (rank == 0) print "(a, f0.3, a)", "written in ", longest, " s"
    call MPI_Finalize(error)
end program columns

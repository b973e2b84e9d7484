/* SPDX-License-Identifier: BSD-3-Clause */
/* Workloads of programs that call HDF5: a dataset for each variable, collective transfers. */
#include "workload.h"

#include <hdf5.h>
#include <stdlib.h>

typedef struct hdf5_file {
    hid_t file, memory, space, transfer;
    hid_t set[]; /* of each step */
} hdf5_file;

static hid_t valid(hid_t id, const char *what)
{
    if (id < 0)
        fail(what, "HDF5 failed");
    return id;
}

static hid_t open_by_mpi(const workload *w, const char *path, bool create, bool write)
{
    MPI_Info info = make_hints(w->run);
    hid_t access = valid(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
    valid(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, info), "H5Pset_fapl_mpio");
    valid(H5Pset_all_coll_metadata_ops(access, 1), "H5Pset_all_coll_metadata_ops");
    valid(H5Pset_coll_metadata_write(access, 1), "H5Pset_coll_metadata_write");
    hid_t file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                        : H5Fopen(path, write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
    valid(file, path);
    H5Pclose(access);
    MPI_Info_free(&info);
    return file;
}

static void sizes_of(const int64_t *from, hsize_t to[3])
{
    for (int d = 0; d < 3; d++)
        to[d] = (hsize_t)from[d];
}

static hid_t whole_space(const workload *w)
{
    hsize_t size[3];
    sizes_of(w->selection.size, size);
    return valid(H5Screate_simple(w->selection.dims, size, NULL), "H5Screate_simple");
}

static void hdf5_create(const workload *w, const char *path)
{
    hid_t file = open_by_mpi(w, path, true, true), space = whole_space(w);
    hid_t creation = valid(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
    valid(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
    for (size_t i = 0; i < w->step_count; i++) {
        char name[WORKLOAD_NAME];
        workload_name(name, i);
        H5Dclose(valid(
            H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
            name));
    }
    H5Pclose(creation);
    H5Sclose(space);
    valid(H5Fclose(file), "H5Fclose");
}

static void *hdf5_open(workload *w, const char *path, bool write)
{
    hdf5_file *f = take_memory(1, sizeof *f + w->step_count * sizeof(hid_t));
    const hyperslab *s = &w->selection;
    hsize_t start[3], stride[3], count[3], block[3], elements = (hsize_t)w->steps[0].bytes / 8;
    sizes_of(s->start, start);
    sizes_of(s->stride, stride);
    sizes_of(s->count, count);
    sizes_of(s->block, block);
    f->file = open_by_mpi(w, path, false, write);
    f->space = whole_space(w);
    valid(H5Sselect_hyperslab(f->space, H5S_SELECT_SET, start, stride, count, block),
          "H5Sselect_hyperslab");
    f->memory = valid(H5Screate_simple(1, &elements, NULL), "H5Screate_simple");
    f->transfer = valid(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    valid(H5Pset_dxpl_mpio(f->transfer, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
    for (size_t i = 0; i < w->step_count; i++) {
        char name[WORKLOAD_NAME];
        workload_name(name, i);
        f->set[i] = valid(H5Dopen2(f->file, name, H5P_DEFAULT), name);
    }
    return f;
}

static bool hdf5_transfer(workload *w, void *file, bool write, bool independent)
{
    hdf5_file *f = file;
    (void)independent;
    for (size_t i = 0; i < w->step_count; i++) {
        char *data = w->data + w->steps[i].buffer;
        valid(write ? H5Dwrite(f->set[i], H5T_NATIVE_DOUBLE, f->memory, f->space, f->transfer, data)
                    : H5Dread(f->set[i], H5T_NATIVE_DOUBLE, f->memory, f->space, f->transfer, data),
              write ? "H5Dwrite" : "H5Dread");
    }
    return true;
}

static void hdf5_close(workload *w, void *file)
{
    hdf5_file *f = file;
    for (size_t i = 0; i < w->step_count; i++)
        H5Dclose(f->set[i]);
    H5Pclose(f->transfer);
    H5Sclose(f->memory);
    H5Sclose(f->space);
    valid(H5Fclose(f->file), "H5Fclose");
    free(f);
}

const workload_library workload_hdf5 = {.reopens = true,
                                        .create = hdf5_create,
                                        .open = hdf5_open,
                                        .transfer = hdf5_transfer,
                                        .close = hdf5_close};

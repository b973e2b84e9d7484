#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Collective access from the memory of a device: of accelerator/fake, a component whose memory the CPU cannot access.
. "$top_srcdir/tests/lib/mpi.sh" || exit 1

need_component fcoll tatp
matrix=(device_\*/\* unified_\*/\* mixed_\*/\* host_\*/\* external32_\*/\*)

# Open MPI 4.1 opens no component for devices: a component that was built for one with CUDA, under a convertor with CUDA.
if [[ $OMPI_VERSION == 4.* ]]; then
    need_skew
    tap_check "built for an Open MPI with CUDA" skew openmpi/opal_config.h 's/^\(#define OPAL_CUDA_SUPPORT\) 0/\1 1/'
    export OMPI_MCA_mca_base_component_path=$tap_dir/components:$OMPI_PKGLIBDIR
    cases=("${matrix[@]}")
    conform device_io "4 ranks, CUDA" run_here 4 --mca fcoll tatp -x LD_PRELOAD="$programs/.libs/cuda_convertor.so"
    tap_plan
fi

mkdir "$tap_dir/components"
cp "$programs/.libs/mca_accelerator_fake.so" "$tap_dir/components"
export OMPI_MCA_mca_base_component_path=$tap_dir/components:$TATP_COMPONENT_PATH
one_node=(--mca pml ob1 --mca btl "self,sm" --mca fcoll tatp)
no_windows=(--mca fcoll_tatp_shared_memory false)

# here RANKS LABEL ARGUMENT...: "${cases[@]}" of device_io
here() { conform device_io "$1 ranks, $2" run_here "$1" "${one_node[@]}" "${@:3}"; }

cases=("${matrix[@]}" freed_\*/\*)
here 4 "one node"
here 4 "no streams, cycles of 1,000 bytes" -x FAKE_ACCELERATOR_STREAMS=0 -x DEVICE_BYTES=65536 \
    --mca fcoll_tatp_cycle_buffer_size 1000
here 4 "late copies, cycles of 100,000 bytes" "${no_windows[@]}" -x FAKE_ACCELERATOR_LATE=100 \
    --mca fcoll_tatp_cycle_buffer_size 100000
! tap_full || here 1 "one node"

# One copy after another fails.
cases=(failing_\*/\*)
here 4 "one node" -x DEVICE_BYTES=65536 --mca fcoll_tatp_cycle_buffer_size 3000
! tap_full || here 4 "no shared memory, no streams" "${no_windows[@]}" -x DEVICE_BYTES=65536 -x FAKE_ACCELERATOR_STREAMS=0 \
    --mca fcoll_tatp_cycle_buffer_size 3000

# How many copies, and of how many bytes.
cases=(counted_\*/\*)
here 2 "one node" --mca fcoll_tatp_stats "$tap_dir/stats"
tap_is "$("$PYTHON3" -c 'import json, sys
lines = [json.loads(line) for line in sys.stdin]
print(all(line["bytes"] <= line["device_bytes"] and line["device_copies"] > 0 < line["device_seconds"] for line in lines))' \
    <"$tap_dir/stats")" True "copies are in the statistics"
! tap_full || here 2 "no shared memory" "${no_windows[@]}"

# Any program's buffers in device memory.
moved=$tap_dir/moved
preload=(-x LD_PRELOAD="$programs/.libs/device_buffers.so" -x DEVICE_BUFFERS_STATS="$moved")

# were_moved RANKS LABEL: what the last run accessed was in device memory on each rank.
were_moved() {
    tap_is "$(grep -s -c -E '^rank [0-9]+: [1-9][0-9]* calls in device memory' "$moved")" "$1" "$1 ranks, $2: all ranks used device memory"
    rm -f "$moved"
}

# Nothing converts device memory.
mapfile -t cases < <("$programs/conformance" --list | grep -v -e '^count_2_' -e '^external32')
conform conformance "4 ranks, device memory" run_here 4 "${one_node[@]}" "${preload[@]}"
were_moved 4 "conformance"
cases=(--threads threads outstanding/\*)
conform conformance "4 ranks, device memory, threads" run_here 4 "${one_node[@]}" "${preload[@]}"
were_moved 4 "threads"

# random CASES RANKS NAME ARGUMENT...
random() {
    random_views "$1" 0 "$2 ranks, random views, $3" run_here "$2" "${one_node[@]}" "${preload[@]}" "${@:4}"
    were_moved "$2" "random views, $3"
}
random 750 4 "one node"
random 250 4 "late copies, cycles of 64 bytes" -x FAKE_ACCELERATOR_LATE=100 --mca fcoll_tatp_cycle_buffer_size 64
! tap_full || random 250 7 "no shared memory, no streams" "${no_windows[@]}" -x FAKE_ACCELERATOR_STREAMS=0

# In host memory nothing is copied, with the component in place.
random_views 100 0 "4 ranks, random views in host memory" run_here 4 "${one_node[@]}" -x FAKE_ACCELERATOR_STATS="$tap_dir/asked"
tap_is "$(cat "$tap_dir"/asked.* | grep -c '"copies": 0,.*"host_ranges": 0,')" 4 "no copies"

# Libraries: as in test_libraries.sh.
export PNETCDF_HINTS=nc_driver=mpiio
for library in hdf5 pnetcdf; do
    if [[ ! -x $programs/$library ]]; then
        tap_absent $library
        tap_skip "$library" "built without it"
        continue
    fi
    for access in write read; do
        tap_check "4 ranks, $library: $access" run_here 4 "${one_node[@]}" "${preload[@]}" "$programs/$library" $access "$files/$library"
        were_moved 4 "$library: $access"
    done
    tap_check "4 ranks, $library: read individually" run_here 4 --mca fcoll individual "$programs/$library" read "$files/$library"
done

start_cluster
# on_cluster LABEL ARGUMENT...
on_cluster() { conform device_io "$ranks ranks, $1" run -np "$ranks" --map-by node --mca fcoll tatp "${@:2}"; }
ranks=7
! tap_full || ranks=16
cases=("${matrix[@]}")
on_cluster "cluster"
! tap_full || on_cluster "cluster, cycles of 100,000 bytes" "${no_windows[@]}" --mca fcoll_tatp_cycle_buffer_size 100000
# These know no device.
tap_full || cases=(device_bytes_\*/\* device_vector_\*/\*)
by_transport ucx "$ranks ranks, ucx" on_cluster "ucx"
! tap_full || by_transport ofi "$ranks ranks, ofi" on_cluster "ofi"
tap_plan

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Collective access from the memory of GPUs through libtatp-mpiio.so, by made-up libraries of their vendors, whose memory the
# CPU cannot access: as test_device.sh of tests/mpi.
. "$top_srcdir/tests/lib/mpiio.sh" || exit 1

need_other
mkdir "$tap_dir/gpu"
# ROCm's releases have names of their own. Level Zero has a loader of drivers.
build=("${CC:-cc}" -O1 -shared -fPIC "$top_srcdir/tests/mpiio/gpu.c" -o)
"${build[@]}" "$tap_dir/gpu/libcuda.so.1" && "${build[@]}" "$tap_dir/gpu/libamdhip64.so.6" -DHIP &&
    "${build[@]}" "$tap_dir/gpu/libze_loader.so.1" -DZE -Wl,-soname,libze_loader.so.1 &&
    "${CC:-cc}" -shared -o "$tap_dir/gpu/libze_intel_gpu.so.1" -Wl,--defsym,is_loaded=1 -x c /dev/null || exit 1
"$OTHER_MPICC" -O1 -shared -fPIC -o "$tap_dir/buffers.so" "$top_srcdir/tests/mpi/device_buffers.c" || exit 1

# device_cases PATTERN: of those that the library carries out
device_cases() {
    mapfile -t cases < <("$programs/device_io" --list | grep -E "^($1).*/(write_all|read_all|split_write|split_read)$")
}

preloaded=$library:$tap_dir/gpu/libze_loader.so.1
device_cases host_
conform device_io "4 ranks, no driver of Level Zero" other 4

# Vendors differ in how memory is told apart and copied: each kind of memory with one layout, and with all by the last of them.
for vendor in "libze_loader.so.1:$tap_dir/gpu/libze_intel_gpu.so.1" libamdhip64.so.6 libcuda.so.1; do
    preloaded=$library:$tap_dir/gpu/$vendor
    layouts=
    [[ $vendor == libcuda* ]] || tap_full || layouts='bytes_(blocks|records)|mixed_indexed_records'
    # One copy after another fails.
    device_cases "failing_.*($layouts)"
    environment=(DEVICE_BYTES=65536 TATP_CYCLE_BUFFER_SIZE=3000)
    conform device_io "4 ranks, ${vendor%:*}" other 4
    device_cases "(device_|unified_|mixed_|host_|freed_).*($layouts)"
    environment=()
    conform device_io "4 ranks, ${vendor%:*}" other 4
done
environment=(TATP_SHARED_MEMORY=false TATP_CYCLE_BUFFER_SIZE=1000 DEVICE_BYTES=65536)
conform device_io "4 ranks, cycles of 1,000 bytes" other 4
# How many copies, and of how many bytes.
device_cases counted_
stats=$tap_dir/stats
environment=(TATP_STATS="$stats")
conform device_io "2 ranks" other 2
tap_is "$(grep -c '"device_bytes": [1-9]' "$stats")" "$(grep -c '"op"' "$stats")" "copies are in the statistics"

# Any program's buffers in device memory.
preloaded=$tap_dir/buffers.so:$preloaded
environment=(DEVICE_BUFFERS_STATS="$tap_dir/moved")
random_views 750 0 "random views, 4 ranks" other 4
tap_is "$(grep -c -E '^rank [0-9]+: [1-9][0-9]* calls in device memory' "$tap_dir/moved")" 4 "all ranks used device memory"
tap_plan

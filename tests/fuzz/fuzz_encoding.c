/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer entry: any bytes as an encoded list of runs; what is accepted is ordered, has a bounded
 * number of runs, and is the same after encoding it again. */
#include "access/encoding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const access_list *list, size_t bytes)
{
    if (!access_is_ordered(list) || list->count > 64 * bytes || access_lower(list) < 0)
        abort();
    int64_t stream = 0;
    for (size_t i = 0; i < list->count; i++) {
        const access_run *run = &list->run[i];
        if (run->length < 1 || run->count < 1 || run->stream != stream ||
            (run->count == 1 && run->stride != 0))
            abort();
        stream += run->count * run->length;
    }
    if (stream != list->bytes)
        abort();
}

static void check_round_trip(const access_list *list)
{
    access_message message = {0};
    access_list back = {0};
    if (access_encode_runs(list, 0, &message) != 0 ||
        access_decode_runs(&back, message.element, message.count) != 0)
        abort();
    if (back.count != list->count || back.bytes != list->bytes ||
        memcmp(back.run, list->run, list->count * sizeof *list->run) != 0)
        abort();
    free(message.element);
    access_release(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t count = size / sizeof(int64_t);
    int64_t *element = calloc(count + 1, sizeof *element);
    access_list list = {0};
    if (element == NULL)
        return 0;
    memcpy(element, data, count * sizeof *element);
    int rc = access_decode_runs(&list, element, count);
    if (rc == 0 && list.count > 0) {
        check_list(&list, size);
        check_round_trip(&list);
    } else if (rc != 0 && (rc != -EINVAL || list.count > 0)) {
        abort();
    }
    access_release(&list);
    free(element);
    return 0;
}

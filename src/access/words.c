/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs as int64 elements, for messages. */
#include "access/list.h"

enum { RUN_OFFSET, RUN_LENGTH, RUN_STRIDE, RUN_COUNT };

void access_to_words(const access_list *list, int64_t shift, int64_t *word)
{
    for (size_t i = 0; i < list->count; i++, word += ACCESS_RUN_WORDS) {
        const access_run *run = &list->run[i];
        word[RUN_OFFSET] = run->offset + shift;
        word[RUN_LENGTH] = run->length;
        word[RUN_STRIDE] = run->stride;
        word[RUN_COUNT] = run->count;
    }
}

int access_append_words(access_list *list, const int64_t *word, size_t runs)
{
    int rc = 0;
    for (size_t i = 0; i < runs && rc == 0; i++, word += ACCESS_RUN_WORDS) {
        access_run run = {word[RUN_OFFSET], word[RUN_LENGTH], word[RUN_STRIDE], word[RUN_COUNT],
                          list->bytes};
        rc = access_append_run(list, &run);
    }
    return rc;
}

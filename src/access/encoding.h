/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ordered lists of runs as messages. Conventions: access.h. encoding.c has the format.
 *
 * A run takes 1/64 byte where it repeats earlier ones, 3 or 4 bytes where its gap and length are
 * small, at most 37. A message has at most 64 runs a byte, so that the list takes at most
 * 2,560 bytes of memory for each byte of the message.
 */
#ifndef ACCESS_ENCODING_H
#define ACCESS_ENCODING_H

#include "access/list.h"

/* Elements of a message. Zeroed: empty. Release by free(element). */
typedef struct access_message {
    int64_t *element;
    size_t count, capacity;
} access_message;

/* Appends `count` elements. -ENOMEM. */
int access_message_append(access_message *message, const int64_t *more, size_t count);

/* Appends an ordered list to the message, every offset moved by `shift`; nothing where it is empty.
 * The position in the stream is not encoded. -EINVAL: not ordered, or an offset becomes negative or
 * an end exceeds int64; -ENOMEM. After an error the message is unchanged. O(runs). */
int access_encode_runs(const access_list *list, int64_t shift, access_message *message);

/* Decodes `count` elements, all of what one call of access_encode_runs appended, into an empty
 * list; its stream begins at 0. -EINVAL: malformed, for any elements, or the list is not empty;
 * -ENOMEM. After an error the list is empty. O(runs). */
int access_decode_runs(access_list *list, const int64_t *element, size_t count);

#endif

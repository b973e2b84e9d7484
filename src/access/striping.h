/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a file is cut into stripes: unit u of the file is in object u % count; when `count` objects
 * are full, the next `count` ones follow.
 */
#ifndef ACCESS_STRIPING_H
#define ACCESS_STRIPING_H

#include <stddef.h>
#include <stdint.h>

typedef struct file_striping {
    int64_t unit;   /* bytes of a stripe */
    int64_t object; /* bytes of an object at most: whole stripes */
    size_t count;   /* objects that take stripes in turn */
} file_striping;

/* What a file system lets one choose. */
typedef struct file_striping_limits {
    int64_t grain; /* stripes and objects are multiples of it; bytes, as the next two */
    int64_t least_object, most_object;
    size_t targets; /* number of storage targets */
} file_striping_limits;

#endif

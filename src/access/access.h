/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flattened accesses: which bytes of a file (or of memory) a stream of bytes maps to, as lists of
 * strided extents ("runs"). list.h builds lists, cursor.h walks ordered ones, memory.h copies
 * between the stream and a user's buffer, pages.h writes small pieces.
 *
 * Units: bytes. Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_ACCESS_H
#define ACCESS_ACCESS_H

#include "access/cursor.h"
#include "access/list.h"
#include "access/memory.h"
#include "access/pages.h"

#endif

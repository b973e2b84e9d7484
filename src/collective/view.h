/* SPDX-License-Identifier: BSD-3-Clause */
/* A view of a file: copies of one access list. */
#ifndef COLLECTIVE_VIEW_H
#define COLLECTIVE_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "access/access.h"

/* What tells a view from all others, also of earlier files. */
typedef struct coll_view_id {
    access_fingerprint period;
    int64_t first, extent;
} coll_view_id;

/* Zero at first. */
typedef struct coll_view {
    coll_view_id id;
    access_list period; /* one copy, offsets relative to its beginning */
    int64_t extent;     /* from one copy to the next, bytes */
} coll_view;

/* Where an access begins: byte `used` of the copy of the view at byte `offset` of the file. */
typedef struct coll_position {
    int64_t offset, used;
} coll_position;

/* Takes over the period. */
void coll_view_set(coll_view *view, const access_list *period, int64_t extent);
void coll_view_release(coll_view *view);
/* The same position, so that equal accesses have comparable ones. */
coll_position coll_view_normalize(const coll_view *view, coll_position position);

/* What a call accesses in the file, as ordered lists: one in views that go forward without overlap,
 * which is all that MPI allows for writing; more where a view overlaps itself. Zeroed: not known.
 */
typedef struct coll_layers {
    access_list *layer;
    size_t count;
    access_list all; /* what is in the layers, as the view has it */
} coll_layers;

/* What `bytes` bytes from the position on access, unless that is known; it may borrow the view's.
 */
int coll_layers_expand(coll_layers *layers, const coll_view *view, coll_position position,
                       int64_t bytes);
/* An empty one where there is none. */
const access_list *coll_layers_at(const coll_layers *layers, size_t i);
void coll_layers_release(coll_layers *layers);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/view.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void coll_view_set(coll_view *view, const access_list *period, int64_t extent)
{
    const int64_t first = period->count > 0 ? period->run[0].offset : 0;
    view->id = (coll_view_id){access_get_fingerprint(period), first, extent};
    access_release(&view->period);
    view->period = *period;
    view->extent = extent;
}

void coll_view_release(coll_view *view)
{
    access_release(&view->period);
}

static bool is_contiguous(const coll_view *view)
{
    return view->period.count == 1 && view->period.run[0].count == 1 &&
           view->period.run[0].length == view->extent;
}

/* In a contiguous view, as the default one, each byte may begin a copy. */
coll_position coll_view_normalize(const coll_view *view, coll_position position)
{
    int64_t offset;
    if (is_contiguous(view) && !__builtin_add_overflow(position.offset, position.used, &offset))
        return (coll_position){offset, 0};
    return position;
}

static int list_accesses(const coll_view *view, coll_position position, int64_t bytes,
                         access_list *list)
{
    int64_t end;
    if (bytes == 0 || view->period.bytes == 0)
        return 0;
    if (__builtin_add_overflow(position.used, bytes, &end))
        return -EOVERFLOW;
    if (position.offset == 0 && position.used == 0 && bytes == view->period.bytes) {
        *list = access_borrow(&view->period);
        return 0;
    }
    return access_append_tiled(list, &view->period, position.offset, view->extent, position.used,
                               bytes);
}

int coll_layers_expand(coll_layers *layers, const coll_view *view, coll_position position,
                       int64_t bytes)
{
    if (layers->layer != NULL)
        return 0;
    int rc = list_accesses(view, position, bytes, &layers->all);
    if (rc != 0)
        return rc;
    if (!access_is_ordered(&layers->all))
        return access_layers(&layers->all, &layers->layer, &layers->count);
    layers->layer = &layers->all;
    layers->count = 1;
    return 0;
}

const access_list *coll_layers_at(const coll_layers *layers, size_t i)
{
    static const access_list nothing;
    return i < layers->count ? &layers->layer[i] : &nothing;
}

void coll_layers_release(coll_layers *layers)
{
    if (layers->layer != &layers->all) {
        for (size_t i = 0; i < layers->count; i++)
            access_release(&layers->layer[i]);
        free(layers->layer);
    }
    access_release(&layers->all);
}

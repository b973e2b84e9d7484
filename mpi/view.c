/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/view.h"

#include <string.h>

#include "mpi/datatype.h"
#include "mpi/process.h"

/* ---- the view ---- */

void front_view_read(front_view *view, MPI_File handle, const char *name, int rank)
{
    MPI_Datatype etype, filetype;
    access_list period = {0};
    char representation[MPI_MAX_DATAREP_STRING + 1] = "";
    if (mpi.File_get_view(handle, &view->displacement, &etype, &filetype, representation) !=
        MPI_SUCCESS) {
        view->is_native = true; /* the error is that of the call, which the other ranks make */
        view->error = MPI_ERR_IO;
        return;
    }
    const front_type_size size = front_type_measure(filetype);
    view->etype = front_type_measure(etype).bytes;
    view->filetype = size.bytes;
    view->is_native = strcmp(representation, "native") == 0;
    view->error = view->is_native ? front_type_flatten(filetype, 0, &period) : MPI_SUCCESS;
    front_type_free(etype);
    front_type_free(filetype);
    if (view->is_native && view->error == MPI_SUCCESS)
        coll_view_set(&view->bytes, &period, size.extent);
    else
        access_release(&period);
    if (!view->is_native && rank == 0)
        front_log(1, "%s is left to the MPI: its view has the representation %s", name,
                  representation);
}

int64_t front_view_etypes(const front_view *view, int64_t count, MPI_Datatype type)
{
    int64_t bytes;
    if (count <= 0 || view->etype == 0 ||
        __builtin_mul_overflow(count, front_type_measure(type).bytes, &bytes))
        return 0;
    return bytes % view->etype == 0 ? bytes / view->etype : -1;
}

int front_view_find(const front_view *view, int64_t etypes, coll_position *position)
{
    int64_t at, skipped, size = view->bytes.period.bytes;
    if (__builtin_mul_overflow(etypes, view->etype, &at))
        return MPI_ERR_IO;
    int64_t copies = size > 0 ? at / size : 0;
    if (__builtin_mul_overflow(copies, view->bytes.extent, &skipped) ||
        __builtin_add_overflow(skipped, view->displacement, &position->offset))
        return MPI_ERR_IO;
    position->used = at - copies * size;
    *position = coll_view_normalize(&view->bytes, *position);
    return 0;
}

/* ---- the file pointer ---- */

front_move front_pointer_move(front_view *view, int64_t count, MPI_Datatype type)
{
    const int64_t etypes = view->filetype > 0 ? front_view_etypes(view, count, type) : 0;
    front_move move = {.before = view->pointer};
    do
        if (etypes <= 0 || __builtin_add_overflow(move.before, etypes, &move.after))
            move.after = move.before;
    while (!atomic_compare_exchange_weak(&view->pointer, &move.before, move.after));
    return move;
}

void front_pointer_correct(front_view *view, front_move move, int64_t position)
{
    atomic_compare_exchange_strong(&view->pointer, &move.after, position);
}

int front_pointer_seek(front_view *view, int64_t offset, int whence, int64_t end)
{
    int64_t now = view->pointer, position;
    if (whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END)
        return MPI_ERR_ARG;
    do {
        const int64_t from = whence == MPI_SEEK_SET ? 0 : whence == MPI_SEEK_CUR ? now : end;
        if (__builtin_add_overflow(from, offset, &position) || position < 0)
            return MPI_ERR_ARG;
    } while (!atomic_compare_exchange_weak(&view->pointer, &now, position));
    return MPI_SUCCESS;
}

/* ---- hints ---- */

bool front_hint_find(MPI_Info info, enum coll_hint hint, char text[MPI_MAX_INFO_VAL + 1])
{
    int is_set = 0;
    if (info != MPI_INFO_NULL)
        mpi.Info_get(info, coll_hint_name(hint), MPI_MAX_INFO_VAL, text, &is_set);
    return is_set;
}

coll_hint_values front_hints_read(MPI_Info info, int rank)
{
    coll_hint_values hints = {{0}};
    char text[MPI_MAX_INFO_VAL + 1];
    for (enum coll_hint i = 0; i < COLL_HINTS; i++)
        if (front_hint_find(info, i, text))
            hints.of[i] = coll_hint_read(rank == 0 ? front_process() : NULL, i, text);
    return hints;
}

void front_hints_write(MPI_Info info, const coll_hint_values *hints)
{
    char text[COLL_HINT_TEXT];
    for (enum coll_hint i = 0; i < COLL_HINTS; i++)
        if (hints->of[i] > 0)
            mpi.Info_set(info, coll_hint_name(i), coll_hint_text(i, hints->of[i], text));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two roles of a rank in the cycles share: contributor (fcoll_tatp_contribute.c) and
 * aggregator (fcoll_tatp_aggregate.c). */
#ifndef MCA_FCOLL_TATP_CYCLES_H
#define MCA_FCOLL_TATP_CYCLES_H

#include "fcoll_tatp.h"

#include "access/merge.h"

/* What a rank has in a window of a domain: messages, or one copy on the node. */
typedef struct tatp_part {
    size_t of;            /* index of the target or contributor */
    access_cursor cursor; /* where the part begins */
    int64_t bytes;
    char *packed; /* where its bytes are: outbox or inbox, the user's buffer, the window */
    bool direct;  /* `packed` is the final place */
    bool done;
    ompi_request_t **request; /* of its messages, in the step's store */
    size_t messages, through;
    int64_t arrived; /* bytes, of the messages that are through */
} tatp_part;

/* One window that is under way, in one of the roles. */
typedef struct tatp_step {
    int64_t window;           /* index */
    int64_t end;              /* positions below this belong to the window or an earlier one */
    tatp_part *part;          /* aggregator: the present batch */
    size_t parts, open;       /* of these, not done */
    char *box;                /* packed data of parts that are not direct */
    ompi_request_t **request; /* for all messages of the parts */
    size_t requests;          /* that are taken */
    /* aggregator only */
    size_t next;    /* the contributor that the next batch begins with */
    int64_t guests; /* contributors that copy by themselves */
    int64_t valid;  /* reading: positions from here on are beyond the end of file */
} tatp_step;

/* Windows under way in ascending order, the first at step[first]. */
typedef struct tatp_ring {
    tatp_step step[TATP_DEPTH];
    size_t first, count;
    bool all_open; /* no window comes after them */
} tatp_ring;

/* What this rank has to do with one aggregator's domain. */
typedef struct tatp_target {
    int aggregator;
    bool local;                     /* its windows are shared with this rank, or this rank's own */
    tatp_window window[TATP_DEPTH]; /* when local */
    const access_list *list;
    access_cursor cursor;
    unsigned int sent; /* messages */
} tatp_target;

/* When an aggregator did what with some of its windows, in microseconds since the data began to
 * move; see fcoll_tatp_timeline.c. */
#define TATP_TIMELINE_WINDOWS 32
enum tatp_moment {
    TATP_SHUFFLE_BEGINS,
    TATP_SHUFFLE_ENDS,
    TATP_ACCESS_BEGINS,
    TATP_ACCESS_ENDS,
    TATP_MOMENTS
};
typedef struct tatp_timeline {
    double start;
    int64_t every; /* of so many windows one is noted; 0: none */
    int32_t at[TATP_TIMELINE_WINDOWS][TATP_MOMENTS];
} tatp_timeline;

struct tatp_cycles {
    tatp_pass *pass;
    tatp_buffers *buffers;                          /* taken for the time of a call */
    size_t window_bytes, inbox_bytes, outbox_bytes; /* of one window */
    size_t in_requests;                             /* room in a step of the aggregator's */
    bool ordered;     /* writing in atomic mode: where writes overlap, the same rank's bytes
                         stay everywhere, so that all are put into place in order of rank */
    bool shared;      /* the windows of this node are shared */
    int64_t sequence; /* windows of earlier calls by this schedule */
    int error;

    tatp_target *target;
    size_t targets;
    tatp_ring out;

    access_cursor *in_cursor;       /* per contributor: the first byte not yet in an opened batch */
    access_list covered;            /* what all contributors together access */
    access_cursor cover;            /* the first byte of it that is not yet written or read */
    bool *guest;                    /* per contributor: copies by itself */
    tatp_window window[TATP_DEPTH]; /* of this rank's domain */
    tatp_flags flags[TATP_DEPTH];   /* theirs, when they are private */
    tatp_ring in;
    tatp_timeline timeline;
};

/* ---- fcoll_tatp_cycles.c ---- */
void tatp_keep_error(tatp_cycles *cycles, int rc);
/* The place for the window that has position `next` in it, after all that are under way, fewer than
 * TATP_DEPTH. */
tatp_step *tatp_ring_open(tatp_ring *ring, int64_t next, int64_t cycle);
tatp_step *tatp_ring_at(tatp_ring *ring, size_t i);
void tatp_ring_close_first(tatp_ring *ring);
/* By what the flags call a window in this call. */
int64_t tatp_window_name(const tatp_cycles *cycles, int64_t window);
int64_t tatp_window_begin(const tatp_cycles *cycles, const tatp_step *step);
/* How many messages that many bytes are. */
size_t tatp_count_messages(const tatp_cycles *cycles, int64_t bytes);
/* Both start a part's messages; the first `bytes` of it are sent. A synchronous part is through
 * only when it has been taken in: short messages would run ahead of a slow receiver without end. */
void tatp_send_part(tatp_cycles *cycles, tatp_step *step, tatp_part *part, int64_t bytes, int peer,
                    bool synchronous);
void tatp_receive_part(tatp_cycles *cycles, tatp_step *step, tatp_part *part, int peer);
/* Whether all of a part's messages are through. */
bool tatp_part_arrived(tatp_cycles *cycles, tatp_part *part);

/* ---- fcoll_tatp_timeline.c ---- */
void tatp_timeline_start(tatp_cycles *cycles, double now);
void tatp_timeline_note(tatp_cycles *cycles, int64_t window, enum tatp_moment moment);

/* Each does what can be done without waiting, and says whether that was anything; and whether all
 * is done. */
/* ---- fcoll_tatp_contribute.c ---- */
bool tatp_contribute(tatp_cycles *cycles);
bool tatp_has_contributed(const tatp_cycles *cycles);
/* ---- fcoll_tatp_aggregate.c ---- */
bool tatp_aggregate(tatp_cycles *cycles);
bool tatp_has_aggregated(const tatp_cycles *cycles);

#endif

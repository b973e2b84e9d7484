/* SPDX-License-Identifier: BSD-3-Clause */
/* What watches a file: statistics, the record, the front end. Each is called on all ranks at the
 * same points of its life. */
#ifndef COLLECTIVE_OBSERVER_H
#define COLLECTIVE_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "collective/nodes.h"
#include "collective/plan.h"
#include "collective/settings.h"

#include "exchange/transport.h"

/* The stages of two-phase I/O as the TATP paper counts them: view and accessed range; file domains
 * and their assignment; access requests; shuffle; file access. */
enum { COLL_ST1, COLL_ST2, COLL_ST3, COLL_ST4, COLL_ST5, COLL_STAGES };

/* Seconds, on this rank. */
typedef struct coll_times {
    double of[COLL_STAGES];
} coll_times;

/* One access of all ranks, as this rank knows it. */
typedef struct coll_observed {
    coll_group *group;
    const coll_nodes *nodes;
    const coll_plan_settings *settings;
    const char *file; /* that is accessed */
    bool write;
    bool makes_plan;
    /* The next three are those of a new plan. */
    const access_list *list; /* what this rank accesses, ordered */
    int64_t lo, hi;          /* range over all ranks */
    coll_plan *plan;         /* rank 0 may release its entries; NULL if there is none */
    /* The others say what was carried out. */
    coll_times time;
    int64_t moved;            /* bytes of this rank's buffer */
    int64_t messages;         /* with data, sent by this rank */
    access_device_use device; /* of this rank */
    int64_t metadata;         /* bytes for this access, as coll_message_bytes counts them */
    int64_t plan_calls;       /* accesses by this plan, this one included */
} coll_observed;

/* The opening of a file, as this rank knows it. */
typedef struct coll_opening {
    const coll_group *group;
    const char *file;
    parameter_texts text; /* of this rank */
    int64_t *of;          /* enum coll_setting: its facts, which become the settings */
    coll_wishes *wishes;  /* none at first */
    double began;         /* by the clock of the process */
} coll_opening;

/* The closing of a file. */
typedef struct coll_closing {
    coll_group *group;
    const coll_nodes *nodes;
    const char *file;
    int64_t noncollective[2]; /* rank 0: bytes by calls that are not collective, of all ranks: read,
                                 written */
    double began;             /* -1: not by all ranks */
} coll_closing;

/* Any function may be NULL. *state: what the observer keeps for one plan of the file, NULL at
 * first; the observer frees it. */
typedef struct coll_observer {
    void *context;
    /* The ranks are about to agree on their settings. It may set those that the largest fact
     * decides. Returns this rank's error, which becomes that of the opening. Local. */
    int (*opens)(void *context, const coll_opening *opening);
    /* The ranks have agreed, without an error. Local. */
    void (*begins)(void *context, const coll_opening *opening);
    /* A plan was made. Collective. */
    void (*planned)(void *context, const coll_observed *access, void **state);
    /* Data are about to be moved by a plan. Returns a probe for the exchange, or NULL. Local. */
    const exchange_probe *(*starts)(void *context, const domain_layout *layout);
    /* The data were moved. No error of it is that of the access. Collective. */
    void (*moved)(void *context, const coll_observed *access, void **state);
    /* The file is closed, and the plan may be reused for the next one; or it is released, and so is
     * the state. Local. */
    void (*settle)(void *context, void **state, bool is_released);
    /* Releases what it has of the file, in whatever moment it is. Local. */
    void (*closes)(void *context, const coll_closing *closing);
} coll_observer;

#define COLL_OBSERVERS 3

/* These are the observers of a file, in their order. state: of one plan. */
typedef struct coll_observers {
    coll_observer of[COLL_OBSERVERS];
} coll_observers;

/* Returns the first error. */
int coll_observers_open(const coll_observers *observers, const coll_opening *opening);
void coll_observers_begin(const coll_observers *observers, const coll_opening *opening);
void coll_observers_plan(const coll_observers *observers, const coll_observed *access,
                         void *state[COLL_OBSERVERS]);
/* Returns the first probe, or NULL. */
const exchange_probe *coll_observers_start(const coll_observers *observers,
                                           const domain_layout *layout);
void coll_observers_move(const coll_observers *observers, const coll_observed *access,
                         void *state[COLL_OBSERVERS]);
void coll_observers_settle(const coll_observers *observers, void *state[COLL_OBSERVERS],
                           bool is_released);
void coll_observers_close(const coll_observers *observers, const coll_closing *closing);

#endif

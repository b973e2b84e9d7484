/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/observer.h"

int coll_observers_open(const coll_observers *observers, const coll_opening *opening)
{
    int rc = 0;
    for (const coll_observer *o = observers->of; o < observers->of + COLL_OBSERVERS; o++)
        if (rc == 0 && o->opens != NULL)
            rc = o->opens(o->context, opening);
    return rc;
}

void coll_observers_begin(const coll_observers *observers, const coll_opening *opening)
{
    for (const coll_observer *o = observers->of; o < observers->of + COLL_OBSERVERS; o++)
        if (o->begins != NULL)
            o->begins(o->context, opening);
}

void coll_observers_plan(const coll_observers *observers, const coll_observed *access,
                         void *state[COLL_OBSERVERS])
{
    for (size_t i = 0; i < COLL_OBSERVERS; i++)
        if (observers->of[i].planned != NULL)
            observers->of[i].planned(observers->of[i].context, access, &state[i]);
}

const exchange_probe *coll_observers_start(const coll_observers *observers,
                                           const domain_layout *layout)
{
    const exchange_probe *probe = NULL;
    for (const coll_observer *o = observers->of; o < observers->of + COLL_OBSERVERS; o++)
        if (probe == NULL && o->starts != NULL)
            probe = o->starts(o->context, layout);
    return probe;
}

void coll_observers_move(const coll_observers *observers, const coll_observed *access,
                         void *state[COLL_OBSERVERS])
{
    for (size_t i = 0; i < COLL_OBSERVERS; i++)
        if (observers->of[i].moved != NULL)
            observers->of[i].moved(observers->of[i].context, access, &state[i]);
}

void coll_observers_settle(const coll_observers *observers, void *state[COLL_OBSERVERS],
                           bool is_released)
{
    for (size_t i = 0; i < COLL_OBSERVERS; i++)
        if (observers->of[i].settle != NULL)
            observers->of[i].settle(observers->of[i].context, &state[i], is_released);
}

void coll_observers_close(const coll_observers *observers, const coll_closing *closing)
{
    for (const coll_observer *o = observers->of; o < observers->of + COLL_OBSERVERS; o++)
        if (o->closes != NULL)
            o->closes(o->context, closing);
}

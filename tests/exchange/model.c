/* SPDX-License-Identifier: BSD-3-Clause */
/* What the result of a run has to be, byte by byte. */
#include "simulation.h"

#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

size_t sim_cell(const simulation *sim, int64_t offset)
{
    for (int i = 0; i < sim->islands; i++) {
        const sim_island *island = &sim->island[i];
        if (offset >= island->offset && offset < island->offset + island->length + MAX_SHIFT)
            return island->cell + (size_t)(offset - island->offset);
    }
    return SIZE_MAX;
}

size_t sim_owner(const simulation *sim, int64_t offset)
{
    size_t j = 0;
    switch (sim->domains_kind) {
    case DOMAINS_STRIPED:
        j = (size_t)(offset / sim->unit % (int64_t)sim->columns);
        return sim->domain_of != NULL ? sim->domain_of[j] : j;
    case DOMAINS_UNITS:
        j = (size_t)((offset - sim->unit_base) / sim->unit -
                     (sim->domains.lo - sim->unit_base) / sim->unit);
        return sim->domain_of[j];
    case DOMAINS_EVEN:
    default:
        while (offset >= sim->domains.range[j].hi)
            j++;
        return j;
    }
}

static size_t shifted_cell(const simulation *sim, int run, int64_t offset)
{
    return sim_cell(sim, offset) + (size_t)(sim->shift[run] - sim->base_shift);
}

/* ---- expectations ---- */

/* Messages of what one rank has in one domain: each cycle's bytes are cut by themselves. */
static int64_t count_messages(simulation *sim, const access_list *list, int64_t *most)
{
    access_cursor cursor;
    access_piece piece;
    int64_t cycle = -1, bytes = 0, sum = 0, count = 0;
    access_cursor_init(&cursor, list);
    for (bool more = true; more;) {
        more = access_take_piece(&cursor, ACCESS_END, &piece);
        for (int64_t i = 0; i < (more ? piece.length : 1); i++) {
            int64_t next = more ? (piece.offset + i) / sim->cycle_size : -1;
            if (next != cycle) {
                count = (bytes + sim->message_size - 1) / sim->message_size;
                sum += count;
                *most = count > *most ? count : *most;
                bytes = 0;
                cycle = next;
            }
            bytes++;
        }
    }
    return sum;
}

void sim_expect_messages(simulation *sim)
{
    for (int i = 0; i < sim->ranks; i++) {
        const sim_rank *r = &sim->rank[i];
        for (size_t s = 0; s < r->shares; s++) {
            int a = sim->aggregator[r->share[s].domain];
            if (a == i || r->target[s].window != NULL)
                continue;
            int64_t count = count_messages(sim, r->target[s].list, &sim->chunk_messages[i][a]);
            for (int k = 0; k < sim->runs; k++)
                sim->messages[k][sim->write[k] ? i : a] += count;
        }
    }
}

static void expect_access(simulation *sim, int run, const sim_rank *r)
{
    const sim_memory *m = &r->memory[run];
    for (size_t b = 0; b < r->blocks; b++) {
        const sim_block *block = &r->block[b];
        char *data = sim->model + shifted_cell(sim, run, block->offset);
        for (int64_t i = 0; i < block->length; i++) {
            size_t place = m->place[block->stream + i];
            int64_t offset = block->offset + i + sim->shift[run];
            if (!sim->write[run] && offset >= sim->model_end)
                break;
            if (sim->write[run])
                data[i] = m->before[place];
            else
                m->expected[place] = data[i];
            sim->model_end = offset >= sim->model_end ? offset + 1 : sim->model_end;
            sim->moved[run][r->rank]++;
        }
    }
}

/* Where writes overlap, the highest rank's data stay. */
void sim_expect_run(simulation *sim, int run)
{
    for (int i = 0; i < sim->ranks; i++)
        expect_access(sim, run, &sim->rank[i]);
}

/* ---- checks ---- */

/* After an error each byte is as before, or as it would be without it. */
void sim_check_memory(simulation *sim, sim_rank *r)
{
    const sim_memory *m = &r->memory[r->run];
    for (size_t i = 0; i < m->bytes; i++) {
        bool right =
            m->arena[i] == m->expected[i] || (sim->reported > 0 && m->arena[i] == m->before[i]);
        if (!right) {
            sim_fail(sim, "rank %d: byte %zu of its memory is wrong after run %d", r->rank, i,
                     r->run);
            return;
        }
    }
}

static bool is_possible_error(const simulation *sim, const sim_rank *r, int rc)
{
    if (rc == r->first_fault)
        return true;
    return rc == SHORT_ERROR && sim->write[r->run] && sim->reported > 0;
}

void sim_check_result(simulation *sim, sim_rank *r, int rc, const exchange_result *result)
{
    if (!is_possible_error(sim, r, rc))
        sim_fail(sim, "rank %d: run %d ends with error %d, its first one was %d", r->rank, r->run,
                 rc, r->first_fault);
    if (sim->reported > 0)
        return;
    if (result->moved != sim->moved[r->run][r->rank])
        sim_fail(sim, "rank %d: run %d moved %" PRId64 " bytes, not %" PRId64, r->rank, r->run,
                 result->moved, sim->moved[r->run][r->rank]);
    if (result->messages != sim->messages[r->run][r->rank])
        sim_fail(sim, "rank %d: run %d sent %" PRId64 " messages, not %" PRId64, r->rank, r->run,
                 result->messages, sim->messages[r->run][r->rank]);
}

/* What an error left is what the next run begins with. */
void sim_check_file(simulation *sim)
{
    for (size_t i = 0; i < sim->cells && sim->failure == NULL; i++) {
        bool right =
            sim->file[i] == sim->model[i] || (sim->reported > 0 && sim->file[i] == sim->old[i]);
        if (!right)
            sim_fail(sim, "cell %zu of the file is wrong", i);
    }
    if (sim->reported == 0 && sim->end_of_file != sim->model_end)
        sim_fail(sim, "the file ends at %" PRId64 ", not at %" PRId64, sim->end_of_file,
                 sim->model_end);
    memcpy(sim->model, sim->file, sim->cells);
    memcpy(sim->old, sim->file, sim->cells);
    sim->model_end = sim->end_of_file;
}

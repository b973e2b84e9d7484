/* SPDX-License-Identifier: BSD-3-Clause */
/* The network as a front end of src/collective. */
#include <stdio.h>
#include <stdlib.h>

#include "simulate/network.h"

static bool port_is_local(void *context, int rank)
{
    const net_port *port = context;
    const size_t *node = port->net->node_of_rank;
    return node[rank] == node[port->rank];
}

static char *port_host(void *context, int rank)
{
    const network *n = ((const net_port *)context)->net;
    size_t node = n->node_of_rank[rank];
    char *name = malloc(256);
    if (name != NULL && n->node_name != NULL)
        snprintf(name, 256, "%s", n->node_name[node]);
    else if (name != NULL)
        snprintf(name, 256, "n%zu", node);
    return name;
}

/* Waits for something that happens to the rank. */
static int port_progress(void *context)
{
    const net_port *port = context;
    bool is_lost = port->net->order.call(port->net, port->rank, "progress");
    net_pause(port->net, port->rank);
    return is_lost ? NET_LOST : 0;
}

/* Its truncation is no error. */
static int port_discard(void *context, int from, enum coll_tag tag)
{
    exchange_request request;
    int rc = net_receive(context, from, tag, NULL, 0, &request);
    if (rc == 0)
        rc = net_wait(context, &request, NULL);
    return rc == NET_TRUNCATED ? 0 : rc;
}

static void port_end_job(void *context, int class)
{
    const net_port *port = context;
    net_fail(port->net, "rank %d ends the job with an error of class %d", port->rank, class);
}

static int port_collect(const net_port *port, const char *where, enum net_operation operation,
                        const int64_t *own, size_t count, int64_t *result)
{
    network *n = port->net;
    if (n->order.call(n, port->rank, where))
        return NET_LOST;
    int rc = net_collect(n, port->rank, operation, own, count, result);
    n->order.collected(n->order.context, port->rank, operation == NET_GATHER, count);
    return rc;
}

static int port_reduce(void *context, int64_t *value, size_t count, enum coll_operation operation)
{
    return port_collect(context, "reduce", operation == COLL_SUM ? NET_SUM : NET_MAX, value, count,
                        value);
}

static int port_gather(void *context, const int64_t *own, size_t count, int64_t *all)
{
    bool is_root = ((const net_port *)context)->rank == 0;
    return port_collect(context, "gather", NET_GATHER, own, count, is_root ? all : NULL);
}

static double port_get_time(void *context)
{
    const net_port *port = context;
    return port->net->order.clock(port->net->order.context, port->rank);
}

static struct hwloc_topology *no_machine(void *context)
{
    (void)context;
    return NULL;
}

void net_front(net_port *port, coll_process *process, coll_runtime *runtime)
{
    *process = (coll_process){
        .context = port,
        .job = {.id = "simulation",
                .size = (size_t)port->net->ranks,
                .is_first = port->rank == 0,
                .programs = COLL_PROGRAMS_ONE},
        .parameter = "parameter",
        .prefix = "",
        .mpi_setting = {"buffer", "aggregators"},
        .clock = port_get_time,
        .machine = no_machine,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .files_lock = PTHREAD_MUTEX_INITIALIZER,
    };
    *runtime = (coll_runtime){
        .context = port,
        .process = process,
        .rank = port->rank,
        .size = port->net->ranks,
        .is_local = port_is_local,
        .host = port_host,
        .isend = net_send,
        .irecv = net_receive,
        .test = net_test,
        .wait = net_wait,
        .probe = net_probe,
        .discard = port_discard,
        .progress = port_progress,
        .reduce = port_reduce,
        .gather = port_gather,
        .abort = port_end_job,
    };
}

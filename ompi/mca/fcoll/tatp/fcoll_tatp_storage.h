/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes hold the bytes of an open file (src/storage), for plans. Rank 0 finds it out, and
 * gives a file without data another layout; all ranks learn what divides the file. */
#ifndef MCA_FCOLL_TATP_STORAGE_H
#define MCA_FCOLL_TATP_STORAGE_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_nodes.h"

#include "access/domain.h"
#include "access/striping.h"
#include "matrix/matrix.h"
#include "storage/query.h"

typedef struct tatp_storage tatp_storage;

tatp_storage *tatp_storage_new(void); /* NULL: no memory; nothing is known */
void tatp_storage_free(tatp_storage *storage);

typedef struct tatp_storage_input {
    tatp_comm *comm;
    tatp_nodes *nodes;
    const char *file;               /* its name */
    int fd;                         /* of the open file */
    const char *targets, *topology; /* values of these parameters; those of rank 0 count */
    int64_t weight;                 /* the same on all ranks; 0: nothing is to be known */
    storage_speed speed;            /* the same on all ranks */
    bool fits_layout;               /* another layout is wanted if it is better; of rank 0 */
    const file_striping *striping;  /* rank 0: what the file gets first; NULL: it stays as it is */
    int64_t stripe, count; /* what hints, parameters or OMPIO say; the same on all ranks; 0: nothing
                            */
} tatp_storage_input;

typedef struct tatp_storage_found {
    bool changed;          /* since the last time */
    int64_t stripe, count; /* of a file whose stripes its file system locks; 0: not known */
    bool may_be_striped;   /* another layout is wanted, and the file system could give it */
    bool is_striped;       /* rank 0: the file has got the striping */
} tatp_storage_found;

/* Whether there is any way to know it, and whether that takes long. Local; what rank 0 finds
 * counts.
 */
storage_speed tatp_storage_get_speed(const tatp_storage_input *in);

/* Where the answer takes long, and before all ranks have agreed on anything: rank 0 begins to ask
 * if any rank is on another node. Local. */
void tatp_storage_ask_ahead(tatp_storage *storage, const tatp_storage_input *in);

/* Where the answer takes long: nothing is known until tatp_storage_find, which asks if it was not
 * asked ahead, and the result, which is the same on all ranks, is true. Local. */
bool tatp_storage_defer(tatp_storage *storage, const tatp_storage_input *in);

/* The file is closed: no answer is waited for, and the file of targets is read again for the next
 * one. What plans were made by stays known. Local. */
void tatp_storage_close(tatp_storage *storage);

/* Asks the file system, or waits for what it was asked, and reads the file of targets, unless that
 * was read since the file was opened. What it cannot use is reported once, and then nothing is
 * known; so is a striping that the file system refuses, but for a file that has data: this keeps
 * its layout. The result is the same on all ranks. Returns OMPI_SUCCESS or an error of
 * communication. Collective. */
int tatp_storage_find(tatp_storage *storage, const tatp_storage_input *in,
                      tatp_storage_found *found);

/* On rank 0: the layout of the file as lines for the record of a run, which the caller frees. Asks
 * for it, also where plans do not need it. NULL: not known. *error: OMPI_SUCCESS, or why it is
 * missing. Local. */
char *tatp_storage_record(tatp_storage *storage, const tatp_storage_input *in, int *error);

/* What follows is local. The weight of hop-bytes to servers; 0: nothing is known. The same on all
 * ranks, as the next one. */
int64_t tatp_storage_weight(const tatp_storage *storage);
/* The least multiple of a period of domains by which accesses may move that leaves all domains on
 * the same servers. */
int64_t tatp_storage_period(const tatp_storage *storage, int64_t period);

/* ---- on rank 0 ---- */

/* Before a plan for bytes [lo, hi) of the file is made: asks for those of them whose servers are
 * not known yet. For the same file as tatp_storage_find; what is not found stays as it was. */
void tatp_storage_reach(tatp_storage *storage, const tatp_storage_input *in, int64_t lo,
                        int64_t hi);

/* That of the map, with further hosts of servers behind its nodes if they are known. */
const topo *tatp_storage_topology(const tatp_storage *storage, const tatp_node_map *map);

/* The name of a node of that topology that is not one of the map. */
const char *tatp_storage_host(const tatp_storage *storage, size_t node);

/* Bytes of each domain on the servers of each node of that topology, of which node_bytes (nodes x
 * domains) are accessed; an empty matrix where nothing is known. Negative errno. */
int tatp_storage_bytes(const tatp_storage *storage, const file_domains *domains,
                       const matrix *node_bytes, matrix *bytes);

/* Where may_be_striped: which stripings the file system takes. */
file_striping_limits tatp_storage_limits(const tatp_storage *storage);

/* Where may_be_striped: the same as tatp_storage_bytes with another striping (NULL: as it is), and
 * in *most the bytes of the domains on the target that has most of them. Also -ENOENT: it is not
 * known of all of them. */
int tatp_storage_bytes_with(const tatp_storage *storage, const file_striping *striping,
                            const file_domains *domains, const matrix *node_bytes, matrix *bytes,
                            int64_t *most);

#endif

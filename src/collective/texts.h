/* SPDX-License-Identifier: BSD-3-Clause */
/* The texts of coll_show, formats for printf. %s after "parameter" is what COLL_NAMED makes. */
#ifndef COLLECTIVE_TEXTS_H
#define COLLECTIVE_TEXTS_H

#define COLL_TEXT_BAD_VALUE                                                                        \
    "The %s has the value\n\n  %s\n\n"                                                             \
    "which cannot be used. Valid values: %s.\n"
#define COLL_TEXT_HINT                                                                             \
    "The hint %s has the value\n\n  %s\n\n"                                                        \
    "which is ignored. Valid values: %s.\n"
#define COLL_TEXT_DIFFERENT                                                                        \
    "The %s is not the same on all ranks that opened the file\n\n  %s\n\n"                         \
    "Its value %s differs from that on rank 0, which applies to all ranks.\n"
#define COLL_TEXT_TOPOLOGY                                                                         \
    "The file of hops between nodes (%s)\n\n  %s%s\n\n"                                            \
    "cannot be used: %s.\n"
#define COLL_TEXT_STRICT                                                                           \
    "The %s is set: collective I/O fails because of this.\n"                                       \
    "Nothing was written.\n"
#define COLL_TEXT_ENVIRONMENT                                                                      \
    "The addresses of this job's nodes in its environment do not give the hops between them:\n\n"  \
    "  %s.\n\n"                                                                                    \
    "The run continues without these distances. To suppress this message, set the\n"               \
    "%s to none; to give the distances, set it to a file.\n"
#define COLL_TEXT_DEVICE_DATAREP                                                                   \
    "The view of the file\n\n  %s\n\n"                                                             \
    "has the data representation external32, and the data are in the memory of a device (as a\n"   \
    "GPU), where Open MPI cannot convert them. The call fails. Copy the data to host memory,\n"    \
    "or use the representation native.\n"
#define COLL_TEXT_NONCOLLECTIVE                                                                    \
    " since this opening; tatp serves collective calls only: see man 7 fcoll_tatp, CALLS THAT "    \
    "ARE "                                                                                         \
    "NOT COLLECTIVE"
#define COLL_TEXT_OMPIO                                                                            \
    "OMPIO takes %.0f MB on each of %d ranks whenever a file is opened or its view is set"
#define COLL_OMPIO_MEGABYTES(ranks) (4e-6 * (ranks) * (ranks))
#define COLL_TEXT_STATS                                                                            \
    "The statistics (%s) cannot be written to\n\n  %s\n\n"                                         \
    "because of an error: %s.\n"
#define COLL_TEXT_RECORD_CHECK                                                                     \
    "The record of this run (%s) cannot be written to\n\n  %s\n\n"                                 \
    "because of an error: %s. Name a file that does not exist, or a record, in a folder\n"         \
    "that you may write to.\n"
#define COLL_TEXT_RECORD                                                                           \
    "The record of this run (%s) cannot be written to\n\n  %s\n\n"                                 \
    "because of an error: %s. An earlier record in this file is unchanged, and the\n"              \
    "data of the run are not affected.\n"
#define COLL_TEXT_RECORD_PART                                                                      \
    "The record of this run (%s) in\n\n  %s\n\n"                                                   \
    "is incomplete because of an error: %s. The data of the run are not affected.\n"
#define COLL_TEXT_CACHE                                                                            \
    "Runs are to be recorded in your cache (%s = auto),\n\n  %s\n\n"                               \
    "which cannot be used because of an error: %s.\n"                                              \
    "This run is not recorded there; nothing else changes.\n"
#define COLL_TEXT_END                                                                              \
    "Rank %d of a file cannot exchange messages with the other ranks any more, which wait for\n"   \
    "them: the MPI refuses them with an error of class %d. The job ends. Most often memory, or\n"  \
    "another resource of the MPI, is exhausted: run fewer ranks on a node.\n"

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dla/parameters.h"

#include "base/unknown.h"

const dla_parameter dla_parameter_table[] = {
    {"file",
     "View matrix of the ranks: a file that fcoll_tatp_record or io_ompio_record_file_offset_info "
     "wrote; auto: what fcoll_tatp_record=auto recorded of the program, if that gains anything. "
     "The same as --map-by dla:file=NAME, but NAME is not unquoted, and any other --map-by "
     "policy takes precedence",
     DLA_PARAMETER_STRING, false, offsetof(dla_parameters, file), DLA_CHOICES},
    {"cart",
     "Process grid of the program, like 4x2x2; the last coordinate of a rank varies fastest. "
     "Without a view matrix, the ranks are placed by the grid; with one, the grid is only checked "
     "against the number of ranks. The same as --map-by dla:cart=AxB",
     DLA_PARAMETER_STRING, false, offsetof(dla_parameters, cart), DLA_CHOICES},
    {"order",
     "Storage order of the array: the last (C) or the first (Fortran) dimension of the grid is "
     "contiguous in the file. The same as --map-by dla:order=ORDER",
     DLA_PARAMETER_CHOICE, true, 0, DLA_ORDER},
    {"method",
     "Placement method: auto (the best result of several methods), setmatch (as published), "
     "bisection; for comparison byslot, bynode. The same as "
     "--map-by dla:method=NAME",
     DLA_PARAMETER_CHOICE, true, 0, DLA_METHOD},
    {"objective",
     "Objective that method=auto minimises: neighbours (the weight of the view matrix between "
     "nodes), profile (the recorded bytes that leave their nodes) or auto (profile, if the file "
     "has one). The same as --map-by dla:objective=NAME",
     DLA_PARAMETER_CHOICE, true, 0, DLA_OBJECTIVE},
    {"domains",
     "Kind of file domains that is assumed for a profile: even, fitted, or auto (the kind for "
     "which fewer bytes leave their nodes). The same as --map-by dla:domains=NAME",
     DLA_PARAMETER_CHOICE, true, 0, DLA_DOMAINS},
    {"threshold",
     "Two ranks are neighbours if their value in the view matrix is at most this percentage (0 to "
     "100) below the largest. The same as --map-by dla:threshold=N",
     DLA_PARAMETER_INT, true, offsetof(dla_parameters, threshold), DLA_CHOICES},
    {"refine",
     "Whether a placement is improved for each pair of nodes. The same as --map-by "
     "dla:refine=on|off",
     DLA_PARAMETER_CHOICE, true, 0, DLA_REFINE},
    {"numa",
     "Whether ranks of a node that access neighbouring regions are also bound near each other: to "
     "one NUMA node, cache or package. The same as --map-by dla:numa=on|off",
     DLA_PARAMETER_CHOICE, true, 0, DLA_NUMA},
    {"topology",
     "Topology of the network between nodes: a file in one of the formats that tatp(1) lists. "
     "Ranks that do not fit on one node are placed under one switch. The same as --map-by "
     "dla:topology=NAME, but NAME is not unquoted",
     DLA_PARAMETER_STRING, true, offsetof(dla_parameters, topology), DLA_CHOICES},
    {"bandwidth",
     "Instead of a topology, a matrix of measured bandwidths as \"dla pingpong\" writes it. The "
     "same as --map-by dla:bandwidth=NAME, but NAME is not unquoted",
     DLA_PARAMETER_STRING, true, offsetof(dla_parameters, bandwidth), DLA_CHOICES},
    {NULL, NULL, DLA_PARAMETER_STRING, false, 0, DLA_CHOICES},
};

void dla_parameters_init(dla_parameters *parameters)
{
    *parameters = (dla_parameters){.threshold = SETMATCH_DEFAULT_THRESHOLD};
}

void *dla_parameter_storage(const dla_parameter *parameter, dla_parameters *parameters)
{
    return (char *)parameters + parameter->offset;
}

void dla_parameters_check_names(const char *files,
                                void (*report)(const char *name, const char *advice))
{
    enum { ITEMS = sizeof dla_parameter_table / sizeof *dla_parameter_table };
    /* spec: the mapper of PRRTE passes the text of --map-by on by it. */
    const char *known[ITEMS + 3] = {"priority", "verbose", "spec"};
    static const base_removed removed[] = {
        {"targets", "ranks are placed without regard to storage servers"},
        {"storage_weight", "ranks are placed without regard to storage servers"},
        {"effort", "searches have one length"},
        {NULL, NULL},
    };
    for (size_t i = 0; dla_parameter_table[i].name != NULL; i++)
        known[i + 3] = dla_parameter_table[i].name;
    base_check_settings(&(base_settings){"OMPI_MCA_", "rmaps_dla_", known, report, removed}, files);
    base_check_settings(&(base_settings){"PRTE_MCA_", "rmaps_dla_", known, report, removed}, NULL);
}

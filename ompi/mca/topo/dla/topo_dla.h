/* SPDX-License-Identifier: BSD-3-Clause */
/* The component topo/dla: MPI_Cart_create and MPI_Graph_create with reorder give processes ranks by
 * their nodes. It is used where it is asked for: --mca topo dla,basic. */
#ifndef MCA_TOPO_DLA_H
#define MCA_TOPO_DLA_H

#include "ompi/compat/compat.h"
#include "ompi/mca/topo/base/base.h"
#include "ompi/mca/topo/topo.h"

OMPI_DECLSPEC extern mca_topo_base_component_t mca_topo_dla_component;

/* The parameter topo_dla_file: a view file, or NULL. */
extern char *topo_dla_file;

/* As in mca_topo_base_module_t. Collective over the old communicator. Ranks that differ in
 * `reorder` keep their order. */
int topo_dla_cart_create(mca_topo_base_module_t *module, ompi_communicator_t *old, int dims,
                         const int *extent, const int *periodic, bool reorder,
                         ompi_communicator_t **created);
int topo_dla_graph_create(mca_topo_base_module_t *module, ompi_communicator_t *old, int ranks,
                          const int *index, const int *edge, bool reorder,
                          ompi_communicator_t **created);

#endif

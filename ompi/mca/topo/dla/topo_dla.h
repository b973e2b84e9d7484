/* SPDX-License-Identifier: BSD-3-Clause */
/* The component topo/dla: communicators with a topology that are made with reorder give processes
 * ranks by their nodes. It is used where it is asked for: --mca topo dla,basic. */
#ifndef MCA_TOPO_DLA_H
#define MCA_TOPO_DLA_H

#include "ompi/compat/compat.h"
#include "ompi/mca/topo/base/base.h"
#include "ompi/mca/topo/topo.h"

OMPI_DECLSPEC extern mca_topo_base_component_t mca_topo_dla_component;

/* The parameter topo_dla_file: a view file, or NULL. */
extern char *topo_dla_file;

/* Sets the functions that create communicators of the module's type. These are collective over the
 * old communicator. Ranks that differ in `reorder` keep their order. */
void topo_dla_set_functions(mca_topo_base_module_t *module);

#endif

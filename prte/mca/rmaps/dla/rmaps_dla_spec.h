/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How schizo/dla hands the text of --map-by dla... to rmaps/dla: as the parameter rmaps_dla_spec.
 */
#ifndef PRTE_RMAPS_DLA_SPEC_H
#define PRTE_RMAPS_DLA_SPEC_H

#define RMAPS_DLA_SPEC_VARIABLE "PRTE_MCA_rmaps_dla_spec"

#endif

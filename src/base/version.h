/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The version of this project. Inside the components PACKAGE_VERSION is Open MPI's.
 */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define TATP_VERSION "2.2.0"
/* strings(1) finds this text in files. */
#define TATP_VERSION_TEXT "tatp-dla " TATP_VERSION

#endif

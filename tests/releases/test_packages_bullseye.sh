#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian 11: Open MPI 4.1.0.
suite=bullseye
. "$top_srcdir/tests/releases/packages.sh"

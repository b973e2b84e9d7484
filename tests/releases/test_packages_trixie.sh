#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian 13: Open MPI 5.0.
suite=trixie
. "$top_srcdir/tests/releases/packages.sh"

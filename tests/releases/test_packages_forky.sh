#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian's next release: Open MPI 6.0.
suite=forky
. "$top_srcdir/tests/releases/packages.sh"

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian 12: Open MPI 4.1.
suite=bookworm
. "$top_srcdir/tests/releases/packages.sh"

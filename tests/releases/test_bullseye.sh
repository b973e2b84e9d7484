#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian 11: Open MPI 4.1.0, glibc 2.31, Python 3.9 and Jinja2 2.
suite=bullseye
. "$top_srcdir/tests/releases/openmpi.sh"

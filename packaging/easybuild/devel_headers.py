# SPDX-License-Identifier: BSD-3-Clause
"""Hooks of EasyBuild: OpenMPI and PRRTE install the headers that components are built from."""


def parse_hook(ec, *args, **kwargs):
    """Adds an option to the configure command of both."""
    if ec.name in ('OpenMPI', 'PRRTE'):
        ec['configopts'] = (ec['configopts'] or '') + ' --with-devel-headers'

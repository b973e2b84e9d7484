# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.packages.openmpi.package import Openmpi as BuiltinOpenmpi

from spack.package import *


class Openmpi(BuiltinOpenmpi):
    __doc__ = BuiltinOpenmpi.__doc__

    variant("devel_headers", default=True, description="Headers that components are built from")

    def configure_args(self):
        return super().configure_args() + self.with_or_without(
            "devel-headers", variant="devel_headers"
        )

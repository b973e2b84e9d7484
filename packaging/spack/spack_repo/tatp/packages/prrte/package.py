# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.packages.prrte.package import Prrte as BuiltinPrrte

from spack.package import *


class Prrte(BuiltinPrrte):
    __doc__ = BuiltinPrrte.__doc__

    variant("devel_headers", default=True, description="Headers that components are built from")

    def configure_args(self):
        return super().configure_args() + self.with_or_without(
            "devel-headers", variant="devel_headers"
        )

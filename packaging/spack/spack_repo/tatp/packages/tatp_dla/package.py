# SPDX-License-Identifier: BSD-3-Clause
import glob
import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class TatpDla(AutotoolsPackage):
    """Topology-aware collective file access for Open MPI: the components fcoll/tatp, which
    assigns file domains to aggregators by the topology of the network, and rmaps/dla, which
    places ranks by recorded file accesses, with the programs tatp and dla."""

    license("BSD-3-Clause", checked_by="tatp-dla")

    # The archive of make dist, in the folder where Spack is started, or in a mirror.
    manual_download = True

    version("2.2.0")

    variant("report", default=True, description="What tatp report needs, which draws a page")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("check@0.10:", type="test")
    depends_on("hwloc@2:")
    depends_on("openmpi@4.1,5.0,6.0 +devel_headers", type=("build", "link", "run"))
    depends_on("prrte +devel_headers", when="^openmpi@5: ~internal-pmix")
    depends_on("python@3:", type=("build", "run"))
    depends_on("py-jinja2", type="run", when="+report")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/tatp-dla-{version}.tar.gz"

    @property
    def components(self):
        return self.prefix.lib.join("tatp-dla")

    def configure_args(self):
        args = [
            f"--with-openmpi={self.spec['openmpi'].prefix}",
            f"--with-component-dir={self.components}",
            "--disable-sanitizers",
        ]
        if self.spec.satisfies("^prrte +devel_headers"):
            args.append(f"--with-prrte={self.spec['prrte'].prefix}")
        return args

    def check(self):
        """The unit tests. The others start many programs at a time."""
        with working_dir(self.build_directory):
            tests = [name[:-2] for name in sorted(glob.glob("tests/unit/test_*.c"))]
            make("run-tests", f"TESTS={' '.join(tests)}")

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        mpi = self.spec["openmpi"]
        path = "mca_base_component_path"
        env.set(f"OMPI_MCA_{path}", f"SYS_DEFAULT:USER_DEFAULT:{self.components}")
        if mpi.satisfies("@5.0") and "pmix" in self.spec:
            pmix = self.spec["pmix"].prefix.lib.pmix
            env.set(f"PMIX_MCA_{path}", f"{pmix};prte@{self.components.prrte}")
        elif mpi.satisfies("@6:"):
            env.set(f"PRTE_MCA_{path}", self.components.prrte)

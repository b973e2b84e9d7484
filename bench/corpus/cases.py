# SPDX-License-Identifier: BSD-3-Clause
"""The corpus: access patterns of programs on 16 to 8,192 ranks, with the nodes that they run on."""
from dataclasses import dataclass
from typing import Callable

from patterns import (amr, blocks, btio, checkpoint, coupled, ensemble, flash, flash_blocks, grid_view, hacc,
                      heavy_chain,
                      icosahedron, ior, mesh, multiblock, ocean, ocean_by_blobs, ocean_by_curve, ocean_by_patches,
                      particles_by_identity, pencils, s3d, scalapack, seismic, spectral_element, spectral_mesh,
                      shuffled_mesh_view, strided_records, task_farm, uneven_grid, wrf)
from shapes import deal, shuffle

# Slots of nodes, in turn: of different kinds, and of kinds of which other jobs have taken some.
MIXED = (48, 48, 64, 32, 48, 128, 64, 36)
SMALL = (8, 16, 12, 8, 24, 16)
BUSY = (31, 32, 32, 28, 32, 17, 32, 32, 30)


@dataclass(frozen=True)
class Case:
    name: str
    slots: tuple       # of nodes, in turn
    make: Callable     # the number of ranks and the calls
    number: Callable   # of ranks: another numbering; None: the program's
    spare: int         # nodes more than the ranks need
    file: dict         # stripe and targets, where the file system has them

    def nodes(self, ranks):
        """For `dla map --nodes`."""
        slots = []
        while sum(slots) < ranks:
            slots.append(self.slots[len(slots) % len(self.slots)])
        slots += [self.slots[0]] * self.spare
        return [(f"n{i + 1}", s) for i, s in enumerate(slots)]

    def calls(self):
        ranks, calls = self.make()
        if self.number is None:
            return ranks, calls
        rank_of = self.number(ranks)
        return ranks, [call.renumber(rank_of) for call in calls]


def case(name, slots, pattern, *arguments, number=None, spare=0, stripe=0, targets=0, **options):
    return Case(name, slots if isinstance(slots, tuple) else (slots,), lambda: pattern(*arguments, **options), number, spare,
                {"stripe": stripe, "targets": targets})


CASES = (
    case("cube-16", 4, blocks, (128, 128, 128), (2, 2, 4)),
    case("cube-64", 8, blocks, (128, 128, 128), (4, 4, 4)),
    case("cube-64-f", 16, blocks, (128, 128, 128), (4, 4, 4), c_order=False),
    case("cube-512-64", 64, blocks, (128, 128, 256), (8, 8, 8)),
    case("cube-512-sh", 32, blocks, (128, 128, 256), (8, 8, 8), number=shuffle),
    case("cube-512-dealt", 32, blocks, (128, 128, 256), (8, 8, 8), number=deal(16)),
    case("cube-1000-mixed", MIXED, blocks, (100, 100, 200), (10, 10, 10)),
    case("brick-1536", 48, blocks, (96, 128, 256), (8, 12, 16)),
    case("cube-4096", 128, blocks, (128, 128, 256), (16, 16, 16)),
    case("cube-4096-morton", 64, blocks, (128, 128, 256), (16, 16, 16), along_morton=True),
    case("cube-8192-sh", 64, blocks, (128, 128, 256), (32, 16, 16), number=shuffle),
    case("array-64", 12, blocks, (1024, 1024), (8, 8)),
    case("array-256-f", 40, blocks, (2048, 2048), (16, 16), c_order=False),
    case("array-900-busy", BUSY, blocks, (3000, 3000), (30, 30)),
    case("array-2048-dealt", 64, blocks, (2048, 4096), (32, 64), number=deal(32)),
    case("tile-16", 4, blocks, (768, 800), (4, 4), 1024),
    case("tile-128", 48, blocks, (768, 800), (16, 8), 1024),
    case("modtile-256", 48, blocks, (768, 800), (16, 16), 1024, number=shuffle),
    case("tile-1mb-600", 24, blocks, (60, 20), (30, 20), 1 << 20),
    case("btio-16", 4, btio, 4, 64),
    case("btio-64", 16, btio, 8, 102),
    case("btio-256", 48, btio, 16, 162),
    case("btio-1024", 64, btio, 32, 162),
    case("btio-1024-sh", 64, btio, 32, 162, number=shuffle),
    case("flash-2048-dealt", 64, flash, 2048, number=deal(32)),
    case("flash-blocks-512", 40, flash_blocks, 512),
    case("hacc-1024-sh", 48, hacc, 1024, number=shuffle),
    case("hacc-8192", 128, hacc, 8192),
    case("contig-128", 16, strided_records, 128, 1 << 20, 1),
    case("unequal-heavy-512", MIXED, heavy_chain, 512, number=shuffle),
    case("pop-sfc-1024", 64, ocean, 1024, 480, 720, ocean_by_curve, 2),
    case("ocean-blobs-192", 48, ocean, 192, 240, 480, ocean_by_blobs, 3),
    case("ocean-blobs-960", MIXED, ocean, 960, 480, 720, ocean_by_blobs, 2),
    case("nemo-1900", 128, ocean, 1900, 720, 1440, ocean_by_patches, 1),
    case("se-dyn-384", 64, spectral_element, 384, 30, False),
    case("se-dyn-1350", 48, spectral_element, 1350, 60, False, 8),
    case("se-phys-5400", 128, spectral_element, 5400, 60, True, 4),
    case("icos-2560", 64, icosahedron, 2560, 8, 16, number=shuffle),
    case("wrf-120", 36, wrf, 10, 12, 300, 425),
    case("wrf-720-busy", BUSY, wrf, 24, 30, 480, 600, 20),
    case("coupled-1280", 64, coupled, 1280, number=deal(20)),
    case("s3d-64", 16, s3d, (4, 4, 4), 25),
    case("s3d-1200", 40, s3d, (10, 10, 12), 10, number=deal(30)),
    case("multiblock-1000", MIXED, multiblock, 1000, 60),
    case("nek-2048", 128, spectral_mesh, 2048, 32, 5),
    case("uneven-grid-1152", MIXED, uneven_grid, (96, 144, 240), (8, 12, 12), number=shuffle),
    case("mesh-rcm-600", 48, mesh, 600, 250, "rcm"),
    case("mesh-hilbert-512", 64, mesh, 512, 600, "hilbert", 3),
    case("mesh-rcm3-384", 32, mesh, 384, 150, "rcm", 3),
    case("mesh-random-64", 16, mesh, 64, 2000, "random", 3),
    case("mesh-hilbert-3000", MIXED, mesh, 3000, 200, "hilbert", 3, number=shuffle),
    case("amr-sfc-1024", 64, amr, 1024, 3, 12),
    case("amr-sfcfile-600", 48, amr, 600, 4, curve_file=True),
    case("amr-knapsack-128", 32, amr, 128, 3, divide="knapsack"),
    case("ids-cold-256", 32, particles_by_identity, 256, 96, .02),
    case("ids-cold-1024", 64, particles_by_identity, 1024, 112, .03),
    case("scalapack-64", 16, scalapack, 8, 8, 2048, 64),
    case("scalapack-1024", 64, scalapack, 32, 32, 4096, 64),
    case("madbench-256", 32, blocks, (2048, 2048), (16, 16), times=8),
    case("records-64", 16, strided_records, 64, 64, 2000),
    case("ior-1024", 64, ior, 1024, 1 << 20, 47008, 8, stripe=1 << 20, targets=16),
    case("ior-256-dealt", 32, ior, 256, 1 << 20, 1 << 18, 8, number=deal(8)),
    case("columns-128", 32, blocks, (4000, 1024), (1, 128)),
    case("columns-720-sh", 36, blocks, (1500, 2880), (1, 720), number=shuffle),
    case("qcd-128", 16, blocks, (2, 32, 16, 16, 16), (1, 8, 4, 2, 2), 192),
    case("qcd-4096-sh", 64, blocks, (32, 32, 32, 32), (8, 8, 8, 8), 288, number=shuffle),
    case("qcd-s5-512", 128, blocks, (8, 16, 16, 16, 32), (1, 8, 4, 4, 4), 96),
    case("pencils-1024", 64, pencils, 32, 32, 128),
    case("seismic-turns-120", 24, seismic, 120, 960, 240, 6000, False),
    case("seismic-blocks-500", BUSY, seismic, 500, 2000, 120, 8000, True),
    case("ensemble-8x64", 48, ensemble, 8, (64, 64, 128), (4, 4, 4), False),
    case("ensemble-12x50-random", MIXED, ensemble, 12, (100, 200), (5, 10), True),
    case("farm-96", 24, task_farm, 96, 40000),
    case("checkpoint-512", 8, checkpoint, 8, 8, 8),
    case("cube-64-small", SMALL, blocks, (96, 96, 96), (4, 4, 4)),
    case("ocean-blobs-400-spare", 48, ocean, 400, 384, 320, ocean_by_blobs, 2, spare=2),
    case("mesh-rcm-250-busy", BUSY, mesh, 250, 500, "rcm"),
)

# Views without accesses, on nodes of 32 slots: pattern and what makes it.
LARGE = tuple((name, make) for cube, halo, mesh in (((25, 20, 20), (100, 100), 10000), ((50, 50, 40), (250, 400), 100000),
                                                    ((100, 100, 100), (1000, 1000), 1000000))
              for name, make in (("cube", lambda grid=cube: grid_view(grid, (1, 10, 100))),
                                 ("halo", lambda grid=halo: grid_view(grid, (5, 7))),
                                 ("shuffled mesh", lambda ranks=mesh: shuffled_mesh_view(ranks))))

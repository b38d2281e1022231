"""Which of several exports are kept: functions of lists of paths that return those to keep."""

from __future__ import annotations

import heapq
import os
from typing import NamedTuple

from stillflow.files import filesystem, gfile
from stillflow.names import public, public_module
from stillflow.platform.compat import as_str_any

public_module("contrib.session_bundle.gc")


@public("python.estimator.gc.Path", "contrib.learn.utils.gc.Path")
class Path(NamedTuple):
    """A folder of an export, and the number of its version or None."""

    path: str
    export_version: int | None


@public("python.estimator.gc._largest_export_versions", "contrib.learn.utils.gc.largest_export_versions")
def largest_export_versions(n):
    """Keeps the n newest versions."""

    def keep(paths):
        known = [
            (path.export_version, number) for number, path in enumerate(paths) if path.export_version is not None
        ]
        return sorted(paths[number] for _, number in heapq.nlargest(n, known))

    return keep


@public(
    "python.estimator.gc._one_of_every_n_export_versions",
    "contrib.learn.utils.gc.one_of_every_n_export_versions",
)
def one_of_every_n_export_versions(n):
    """Keeps the newest of each n versions: of 1 to n, of n + 1 to 2 n, ..."""

    def keep(paths):
        newest: dict = {}
        for path in paths:
            version = path.export_version
            if version is None:
                continue
            interval = (version - 1) // n if version else 0
            if interval not in newest or newest[interval].export_version < version:
                newest[interval] = path
        return sorted(newest.values())

    return keep


@public("python.estimator.gc._mod_export_version", "contrib.learn.utils.gc.mod_export_version")
def mod_export_version(n):
    """Keeps versions that n divides."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


@public("python.estimator.gc._union", "contrib.learn.utils.gc.union")
def union(lf, rf):
    """Keeps what one of two functions keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


@public("python.estimator.gc._negation", "contrib.learn.utils.gc.negation")
def negation(f):
    """Keeps what a function does not keep."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


@public("python.estimator.gc._get_paths", "contrib.learn.utils.gc.get_paths")
def get_paths(base_dir, parser):
    """The exports in a folder, sorted.

    Args:
      base_dir: the folder.
      parser: a function from a Path without a version to one with it, or None for what is no export.
    """
    folder = filesystem.path_text(base_dir)
    names = [as_str_any(name).removesuffix("/") for name in gfile.ListDirectory(folder)]
    parsed = [parser(Path(os.path.join(folder, name), None)) for name in names]
    return sorted(path for path in parsed if path)

"""tf.resource_loader: the files that lie beside a program's sources."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from stillflow.names import public


@public("resource_loader.get_data_files_path")
def get_data_files_path():
    """The directory of the source file that calls."""
    return str(Path(inspect.getfile(sys._getframe(1))).parent)


@public("resource_loader.get_path_to_datafile")
def get_path_to_datafile(path):
    """`path` below the directory of the source file that calls."""
    return str(Path(inspect.getfile(sys._getframe(1))).parent / path)


@public("resource_loader.readahead_file_path")
def readahead_file_path(path, readahead="128M"):
    """`path`: nothing is read ahead."""
    return path

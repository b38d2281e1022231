"""Files that lie beside a program: tensorflow.python.platform.resource_loader and tf.resource_loader."""

from __future__ import annotations

import os
import sys

from stillflow.names import public


def _folder_of_caller():
    return os.path.dirname(sys._getframe(2).f_code.co_filename)


@public("python.platform.resource_loader.get_data_files_path", "resource_loader.get_data_files_path")
def get_data_files_path():
    """The folder of the file that calls."""
    return _folder_of_caller()


@public("python.platform.resource_loader.get_path_to_datafile", "resource_loader.get_path_to_datafile")
def get_path_to_datafile(path):
    """The path of a file beside the file that calls."""
    return os.path.join(_folder_of_caller(), path)


@public("python.platform.resource_loader.load_resource", "resource_loader.load_resource")
def load_resource(path):
    """The bytes of a file beside the file that calls. Raises OSError."""
    full_path = os.path.join(_folder_of_caller(), path)
    with open(full_path, "rb") as file:
        return file.read()


@public(
    "python.platform.resource_loader.get_root_dir_with_all_resources",
    "resource_loader.get_root_dir_with_all_resources",
)
def get_root_dir_with_all_resources():
    """The folder of the file that calls: there are no others."""
    return _folder_of_caller()


@public("python.platform.resource_loader.readahead_file_path", "resource_loader.readahead_file_path")
def readahead_file_path(path, readahead="128M"):
    """The path as it is."""
    return path

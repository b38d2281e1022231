"""Source files of a program, with what was made at their lines: operations, tensors, and how long they took."""

from __future__ import annotations

import os
import re

import stillflow
from stillflow.debug.profiles import AggregateProfile
from stillflow.names import public_module

public_module("python.debug.lib.source_utils")

UNCOMPILED_SOURCE_SUFFIXES = (".py",)
COMPILED_SOURCE_SUFFIXES = (".pyc", ".pyo")

_LIBRARY = os.path.dirname(os.path.abspath(stillflow.__file__)) + os.sep


def _normal(path):
    return os.path.normpath(os.path.abspath(path))


def is_extension_uncompiled_python_source(file_path):
    """Whether a file is a source file of Python by its name."""
    return os.path.splitext(file_path)[1].lower() in UNCOMPILED_SOURCE_SUFFIXES


def is_extension_compiled_python_source(file_path):
    """Whether a file is a compiled source file of Python by its name."""
    return os.path.splitext(file_path)[1].lower() in COMPILED_SOURCE_SUFFIXES


def guess_is_tensorflow_py_library(py_file_path):
    """Whether a file is one of the library's own. Raises ValueError for what is no source file of Python."""
    if not (is_extension_uncompiled_python_source(py_file_path) or is_extension_compiled_python_source(py_file_path)):
        raise ValueError(f"Input file path ({py_file_path}) is not a Python source file.")
    return _normal(py_file_path).startswith(_LIBRARY)


def load_source(source_file_path):
    """The lines of a file, and how wide a column for their numbers has to be."""
    with open(source_file_path) as file:
        lines = file.read().split("\n")
    return lines, len(str(len(lines) - 1)) + 3


def annotate_source(
    dump, source_file_path, do_dumped_tensors=False, file_stack_top=False, min_line=None, max_line=None
):
    """What was made at the lines of a file, {line: names}.

    Args:
      dump: a DebugDumpDir that was told of the Python graph.
      source_file_path: the file.
      do_dumped_tensors: whether to give the names of dumped tensors in the place of operations.
      file_stack_top: whether an operation belongs to the innermost line of the file alone.
      min_line, max_line: the first line, and that after the last.

    Raises ValueError if there is no Python graph.
    """
    if not dump.python_graph:
        raise ValueError("Cannot perform source annotation due to a lack of set Python graph in the dump object")
    path = _normal(source_file_path)
    found: dict = {}
    for op in dump.python_graph.get_operations():
        for file_path, line, *_ in reversed(dump.node_traceback(op.name)):
            if not _is_within(line, min_line, max_line) or _normal(file_path) != path:
                continue
            names = [op.name]
            if do_dumped_tensors:
                names = list(dict.fromkeys(key.rpartition(":")[0] for key in dump.debug_watch_keys(op.name)))
            found.setdefault(line, []).extend(names)
            if file_stack_top:
                break
    return found


def _is_within(line, min_line, max_line):
    return (min_line is None or line >= min_line) and (max_line is None or line < max_line)


class _File:
    """What was made in a file."""

    def __init__(self):
        self.nodes: set = set()
        self.tensors: set = set()
        self.first_line = None

    def add(self, op, line):
        self.nodes.add(op.name)
        self.tensors.update(tensor.name for tensor in op.outputs)
        self.first_line = line if self.first_line is None else min(self.first_line, line)


def list_source_files_against_dump(dump, path_regex_whitelist=None, node_name_regex_whitelist=None):
    """The files in which the operations of a graph were made, in the order of their names.

    Args:
      dump: a DebugDumpDir that was told of the Python graph.
      path_regex_whitelist, node_name_regex_whitelist: regular expressions for what to list.

    Returns:
      A list of (file, whether it is the library's, number of operations, of their tensors, of dumps of these, the
      first line).

    Raises ValueError if there is no Python graph.
    """
    if not dump.python_graph:
        raise ValueError("Cannot generate source list due to a lack of set Python graph in the dump object")
    path_pattern = re.compile(path_regex_whitelist or "")
    node_pattern = re.compile(node_name_regex_whitelist or "")
    files: dict = {}
    dump_counts: dict = {}  # tensor -> number of dumps
    for op in dump.python_graph.get_operations():
        if not node_pattern.match(op.name):
            continue
        for file_path, line, *_ in dump.node_traceback(op.name):
            path = _normal(file_path)
            if path in files or (path_pattern.match(path) and os.path.isfile(path)):
                files.setdefault(path, _File()).add(op, line)
        for key in dump.debug_watch_keys(op.name):
            dump_counts.setdefault(key.rpartition(":")[0], len(dump.watch_key_to_data(key)))
    return [
        (
            path, guess_is_tensorflow_py_library(path), len(file.nodes), len(file.tensors),
            sum(dump_counts.get(tensor, 0) for tensor in file.tensors), file.first_line,
        )
        for path, file in sorted(files.items())
    ]  # fmt: skip


def annotate_source_against_profile(
    profile_data, source_file_path, node_name_filter=None, op_type_filter=None, min_line=None, max_line=None
):
    """How long what was made at the lines of a file took, {line: AggregateProfile}.

    Args:
      profile_data: ProfileDatums.
      source_file_path: the file.
      node_name_filter, op_type_filter: regular expressions for what counts.
      min_line, max_line: the first line, and that after the last.
    """
    path = _normal(source_file_path)
    node_pattern, op_pattern = re.compile(node_name_filter or ""), re.compile(op_type_filter or "")
    found: dict = {}
    for datum in profile_data:
        if not datum.file_path or _normal(datum.file_path) != path:
            continue
        if not _is_within(datum.line_number, min_line, max_line):
            continue
        if node_pattern.match(datum.node_exec_stats.node_name) and op_pattern.match(datum.op_type):
            if datum.line_number in found:
                found[datum.line_number].add(datum)
            else:
                found[datum.line_number] = AggregateProfile(datum)
    return found

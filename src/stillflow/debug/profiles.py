"""Profiles: how long nodes took, one by one and summed up."""

from __future__ import annotations

import os

from stillflow.names import public_module

public_module("python.debug.lib.profiling")


class ProfileDatum:
    """One execution of a node, with the line of the program that made the node. Times are in microseconds.

    Args:
      device_name: where it ran.
      node_exec_stats: its NodeExecStats message.
      file_path, line_number, func_name: where it was made; the path may be "".
      op_type: the node's op.
    """

    def __init__(self, device_name, node_exec_stats, file_path, line_number, func_name, op_type):
        self.device_name = device_name
        self.node_exec_stats = node_exec_stats
        self.file_path = file_path
        self.line_number = line_number
        self.func_name = func_name
        self.file_line_func = f"{os.path.basename(file_path)}:{line_number}({func_name})" if file_path else ""
        self.op_type = op_type
        self.start_time = node_exec_stats.all_start_micros
        self.op_time = node_exec_stats.op_end_rel_micros - node_exec_stats.op_start_rel_micros

    @property
    def exec_time(self):
        """The time with all that belongs to the execution."""
        return self.node_exec_stats.all_end_rel_micros


class AggregateProfile:
    """The sum of several executions, of one node or more, in microseconds."""

    def __init__(self, profile_datum):
        self.total_op_time = 0
        self.total_exec_time = 0
        self._counts: dict = {}
        self.add(profile_datum)

    def add(self, profile_datum):
        """Adds one."""
        self.total_op_time += profile_datum.op_time
        self.total_exec_time += profile_datum.exec_time
        key = profile_datum.device_name, profile_datum.node_exec_stats.node_name
        self._counts[key] = self._counts.get(key, 0) + 1

    @property
    def node_count(self):
        """The number of nodes."""
        return len(self._counts)

    @property
    def node_exec_count(self):
        """The number of executions."""
        return sum(self._counts.values())

"""timeline.Timeline: a step trace (RunMetadata.step_stats) in the format that chrome://tracing shows."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from stillflow.names import public_module

public_module("python.client.timeline")

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)$")


class AllocationMaximum(NamedTuple):
    """When an allocator had given most memory: the time, the bytes, and the names of the tensors alive."""

    timestamp: int
    num_bytes: int
    tensors: set


class StepStatsAnalysis(NamedTuple):
    """A trace for Chrome, and {allocator: AllocationMaximum}."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict


class ChromeTrace:
    """Events in Chrome's trace format."""

    def __init__(self, events):
        self._events = events

    def format_to_string(self, pretty=False):
        """The events as JSON text, on lines of their own if `pretty`."""
        return json.dumps({"traceEvents": self._events}, indent=4 if pretty else None)


class Timeline:
    """A view of a StepStats message.

    Args:
      step_stats: the StepStats of a run with trace_level FULL_TRACE.
      graph: not used.
    """

    def __init__(self, step_stats, graph=None):
        self._step_stats = step_stats
        self._graph = graph

    def generate_chrome_trace_format(self, show_dataflow=True, show_memory=False):
        """The trace as JSON text.

        Args:
          show_dataflow: whether arrows lead from the end of each operation to those that read it.
          show_memory: whether there is a counter of the bytes that live tensors take, for each device.
        """
        analysis = self.analyze_step_stats(show_dataflow=show_dataflow, show_memory=show_memory)
        return analysis.chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(self, show_dataflow=True, show_memory=True):
        """A StepStatsAnalysis. Maximums of allocators are found if `show_memory`."""
        events: list = []
        flows = _Flows() if show_dataflow else None
        processes = _Processes(events)
        maximums: dict = {}
        for device in self._step_stats.dev_stats:
            compute = processes.add(f"{device.device} Compute")
            tracks = _Tracks()
            for stats in sorted(device.node_stats, key=lambda stats: stats.all_start_micros):
                _add_operation(events, stats, compute, tracks.place(stats), flows)
            if show_memory:
                changes = _memory_changes(device)
                _add_memory(events, changes, processes.add(f"{device.device} Memory"))
                _raise_maximums(maximums, changes)
        return StepStatsAnalysis(ChromeTrace(events), maximums)


class _Processes:
    """Devices as Chrome's processes."""

    def __init__(self, events):
        self._events = events
        self._count = 0

    def add(self, name):
        number = self._count
        self._count += 1
        self._events.append({"name": "process_name", "ph": "M", "pid": number, "args": {"name": name}})
        return number


class _Tracks:
    """Rows of a process: operations that overlap in time lie in different ones."""

    def __init__(self):
        self._ends: list = []

    def place(self, stats):
        start = stats.all_start_micros
        track = next((i for i, end in enumerate(self._ends) if end <= start), len(self._ends))
        if track == len(self._ends):
            self._ends.append(0)
        self._ends[track] = start + stats.all_end_rel_micros
        return track


class _Flows:
    """The arrows: where each operation ended."""

    def __init__(self):
        self.ends: dict = {}  # name -> (pid, tid, time)
        self.count = 0


def _parts(stats):
    """(name, op type, names of inputs) of a node."""
    match = _LABEL.match(stats.timeline_label)
    if match is None:
        return stats.node_name, "unknown", []
    name, kind, inputs = match.groups()
    return name, kind, [text.strip() for text in inputs.split(",") if text.strip()]


def _add_operation(events, stats, process, track, flows):
    name, kind, inputs = _parts(stats)
    arguments = {"name": name, "op": kind, **{f"input{i}": text for i, text in enumerate(inputs)}}
    start, duration = stats.all_start_micros, stats.all_end_rel_micros
    events.append(
        {"ph": "X", "cat": "Op", "name": kind, "pid": process, "tid": track, "ts": start, "dur": duration,
         "args": arguments}
    )  # fmt: skip
    if flows is None:
        return
    for text in inputs:
        source = flows.ends.get(text.removeprefix("^").partition(":")[0])
        if source is None:
            continue
        from_process, from_track, time = source
        flow = {"cat": "DataFlow", "name": text, "id": flows.count}
        flows.count += 1
        events.append({"ph": "s", **flow, "pid": from_process, "tid": from_track, "ts": time})
        events.append({"ph": "t", **flow, "pid": process, "tid": track, "ts": start})
    flows.ends[name] = process, track, start + duration


def _memory_changes(device):
    """[(time, bytes, allocator, tensor)]: what operations allocate, and what is free after the last that reads it."""
    changes: list = []
    last_use: dict = {}
    for stats in device.node_stats:
        end = stats.all_start_micros + stats.all_end_rel_micros
        for text in _parts(stats)[2]:
            source = text.removeprefix("^").partition(":")[0]
            last_use[source] = max(last_use.get(source, 0), end)
    for stats in device.node_stats:
        name = _parts(stats)[0]
        end = stats.all_start_micros + stats.all_end_rel_micros
        for memory in stats.memory:
            if memory.total_bytes:
                changes.append((end, memory.total_bytes, memory.allocator_name, name))
                changes.append((max(last_use.get(name, 0), end), -memory.total_bytes, memory.allocator_name, name))
    return sorted(changes, key=lambda item: (item[0], -item[1]))


def _add_memory(events, changes, process):
    """A counter that rises when an operation has made its outputs and falls after the last one that reads them."""
    total = 0
    for time, change, *_ in changes:
        total += change
        events.append(
            {"ph": "C", "cat": "Memory", "name": "bytes", "pid": process, "tid": 0, "ts": time,
             "args": {"bytes": total}}
        )  # fmt: skip


def _raise_maximums(maximums, changes):
    totals: dict = {}
    alive: dict = {}
    for time, change, allocator, name in changes:
        totals[allocator] = totals.get(allocator, 0) + change
        tensors = alive.setdefault(allocator, set())
        if change > 0:
            tensors.add(name)
        else:
            tensors.discard(name)
        known = maximums.setdefault(allocator, AllocationMaximum(0, 0, set()))
        if totals[allocator] > known.num_bytes:
            maximums[allocator] = AllocationMaximum(time, totals[allocator], set(tensors))

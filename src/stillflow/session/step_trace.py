"""step_trace: what RunMetadata says of a run: when each step ran, and how much memory its outputs took."""

from __future__ import annotations

import time


def describe_run(plan, trace, run_metadata, devices):
    """Fills in a RunMetadata message for a run of `plan`.

    `trace` is a list of (start, end, output bytes) of the steps, in nanoseconds, or None when there was none to
    be. A step that stands for several nodes carries the name of the last; its label lists them all. Constants take no
    time. `devices` are the session's.
    """
    if trace is None:
        return
    by_device: dict = {}

    def stats_of(op):
        name = devices.name_for(op._device)
        if name not in by_device:
            by_device[name] = run_metadata.step_stats.dev_stats.add(device=name)
        return by_device[name].node_stats

    begin = min((start for start, _, _ in trace if start), default=time.time_ns())
    for op in plan.constants:
        stats_of(op).add(
            node_name=op.name, timeline_label=f"{op.name} = {op.type}()", all_start_micros=begin // 1000,
            all_start_nanos=begin, scheduled_micros=begin // 1000, scheduled_nanos=begin, op_end_rel_micros=1,
            all_end_rel_micros=1,
        )  # fmt: skip
    for (start, end, size), parts, (kind, inputs, outputs) in zip(trace, plan.parts, plan.labels, strict=True):
        if not start:
            continue  # the run had ended by then
        op = parts[-1]
        stats = stats_of(op).add(node_name=op.name, timeline_label=_label(op, kind, parts, inputs))
        stats.all_start_micros = start // 1000
        stats.all_start_nanos = start
        stats.op_end_rel_micros = stats.all_end_rel_micros = max(1, (end - start) // 1000)
        stats.op_end_rel_nanos = stats.all_end_rel_nanos = end - start
        stats.scheduled_micros = start // 1000
        stats.scheduled_nanos = start
        if size:
            stats.memory.add(allocator_name="cpu", total_bytes=size, peak_bytes=size)
        for slot, value in enumerate(outputs):
            output = stats.output.add(slot=slot)
            output.tensor_description.dtype = value.dtype.as_datatype_enum
            for length in value.dims or ():
                output.tensor_description.shape.dim.add(size=-1 if length is None else length)
            if size and len(outputs) == 1:
                allocation = output.tensor_description.allocation_description
                allocation.allocator_name = "cpu"
                allocation.requested_bytes = allocation.allocated_bytes = size


def _label(op, kind, parts, inputs):
    """ "name = Type(input, input)", as timelines read it; several types are joined by "+"."""
    kinds = "+".join(dict.fromkeys(part.type for part in parts)) if len(parts) > 1 else op.type
    if kind == "_Read":
        kinds = "Identity"
    return f"{op.name} = {kinds}({', '.join(value.name.removesuffix(':0') for value in inputs)})"

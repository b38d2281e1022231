"""What a graph, an op log and runs say of each operation."""

from __future__ import annotations

import re
import sys

from stillflow.graph.shape import TensorShape

# What is counted, under the names of the fields of GraphNodeProto. TensorFlow's proto has a total of each but
# these: "total_definition_count" is a total alone.
TIMES = ("exec_micros", "accelerator_exec_micros", "cpu_exec_micros")
MEMORY = ("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes")
COUNTS = (*TIMES, *MEMORY, "parameters", "float_ops")

_PROCESSOR = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu|device:sycl):\d+")


class Execution:
    """What one step did with an operation."""

    def __init__(self):
        self.counts = dict.fromkeys((*TIMES, *MEMORY), 0)
        self.run_count = 0

    def add_time(self, device, stats):
        if stats.all_start_micros <= 0:
            return
        micros = stats.op_end_rel_micros or 1
        if "stream:all" in device:
            self.counts["accelerator_exec_micros"] += micros
            self.counts["exec_micros"] += micros
        elif _PROCESSOR.fullmatch(device):
            self.counts["cpu_exec_micros"] += micros
            self.counts["exec_micros"] += micros
            self.run_count += 1

    def add_memory(self, stats):
        """The memory of the last of several runs within a step counts, as it does in TensorFlow."""
        kept, temporary = stats.memory_stats.persistent_memory_size, stats.memory_stats.temp_memory_size
        self.counts["residual_bytes"] = kept + sum(memory.live_bytes for memory in stats.memory)
        self.counts["requested_bytes"] = kept + temporary + sum(memory.total_bytes for memory in stats.memory)
        self.counts["peak_bytes"] = kept + temporary + sum(memory.peak_bytes for memory in stats.memory)
        allocations = [output.tensor_description.allocation_description for output in stats.output]
        self.counts["output_bytes"] = sum(max(a.allocated_bytes, a.requested_bytes) for a in allocations)


class Node:
    """An operation, or a scope that is none."""

    def __init__(self, name, kind, shape=None, input_shapes=()):
        """`shape` and `input_shapes` are dims as `dims_of` gives them."""
        self.name = name
        self.kind = kind
        self.types = {kind}
        self.shape = shape
        self.input_shapes = input_shapes
        self.device = ""
        self.float_ops = 0
        self.executions = {}

    def add_step(self, step, device, stats):
        device = device.lower()
        if _PROCESSOR.fullmatch(device):
            if not self.device:
                self.device = device
                self.types.add(device)
            elif self.device != device:
                return
        execution = self.executions.setdefault(step, Execution())
        execution.add_time(device, stats)
        if device == self.device:
            execution.add_memory(stats)

    def run_count(self, step):
        """Runs in one step, or, for a negative step, in the mean one, rounded down."""
        return self._of_step(step, lambda execution: execution.run_count)

    def counts(self, step):
        """COUNTS of a step, or of the mean one."""
        found = {
            key: self._of_step(step, lambda execution, key=key: execution.counts[key]) for key in (*TIMES, *MEMORY)
        }
        found["parameters"] = self.parameters()
        found["float_ops"] = self.float_ops * self.run_count(step) if self.executions else self.float_ops
        return found

    def parameters(self):
        if not self.shape:
            return 0
        if min(self.shape) < 0:
            sys.stderr.write("Incomplete shape.\n")
            return 0
        product = 1
        for size in self.shape:
            product *= size
        return product

    def is_of_type(self, patterns):
        """Whether one of the types matches one of the patterns."""
        if patterns == [".*"]:
            return True
        return any(re.fullmatch(pattern, kind) for pattern in patterns for kind in self.types)

    def _of_step(self, step, count):
        if not self.executions:
            return 0
        if step >= 0:
            return count(self.executions[step]) if step in self.executions else 0
        return sum(map(count, self.executions.values())) // len(self.executions)


class Nodes:
    """The nodes of a graph by name, in the order of names, and the steps that were added."""

    def __init__(self, graph):
        self.steps = set()
        self._by_name = {}
        self.add_graph(graph)

    def __iter__(self):
        return iter(sorted(self._by_name.values(), key=lambda node: node.name))

    def add_graph(self, graph):
        """Adds the operations of a graph that are not there yet."""
        for op in graph.get_operations():
            if op.name not in self._by_name:
                inputs = [dims_of(x.shape) for x in op.inputs]
                for source in sorted(op.control_inputs, key=lambda source: source.name):
                    inputs.append(dims_of(source.outputs[0].shape) if source.outputs else [])
                self._by_name[op.name] = Node(op.name, op.type, _shape_attr(op), inputs)

    def add_log(self, op_log):
        for entry in op_log.log_entries:
            node = self._by_name.get(entry.name)
            if node is not None:
                node.types.update(entry.types)
                node.float_ops = entry.float_ops or node.float_ops

    def add_run(self, step, run_meta):
        """Adds a RunMetadata as a step. Returns the part of the graph's operations that any step ran."""
        self.steps.add(step)
        for device in run_meta.step_stats.dev_stats:
            for stats in device.node_stats:
                node = self._by_name.get(stats.node_name.partition(":")[0])
                if node is not None:
                    node.add_step(step, device.device, stats)
        ran = sum(bool(node.executions) for node in self._by_name.values())
        return ran / len(self._by_name) if self._by_name else 0.0


def dims_of(shape):
    """The sizes of a TensorShape: [1] for a scalar's, [] for one of unknown rank, -1 for unknown ones."""
    if shape.ndims is None:
        return []
    return [-1 if size is None else size for size in shape.as_list()] or [1]


def _shape_attr(op):
    """The attribute "shape" that variables and placeholders have, None for other operations."""
    attr = op.node_def.attr.get("shape")
    return dims_of(TensorShape(attr.shape)) if attr is not None and attr.HasField("shape") else None


def joined(dims):
    return "x".join(map(str, dims))


def shape_texts(node):
    """The shapes of a node's inputs, as reports have them."""
    return [f"{number}:{joined(dims) if dims else 'unknown'}" for number, dims in enumerate(node.input_shapes)]

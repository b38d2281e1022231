"""emit: the finished plan as an engine program. Values get slots; a slot is free again after its last reader."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stillflow import _engine, errors
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.graph.tensor_value import TensorValue
from stillflow.ops.registry import Kernel, Special


def emit(plan, session_core, kernels, feeds):
    """An _engine.Program. `feeds` are _engine.Feed objects in the order of the plan's feeds."""
    slots = _Slots(plan)
    program = _engine.Program(session_core, kernels, slots.count)
    for value, slot in slots.permanent.items():
        if value.is_reference:
            program.add_reference(slot, engine_variable(session_core, value.source.op))
        else:
            array = _array_for(value)
            program.add_constant(slot, array, value.dtype.as_datatype_enum)
    cells = numbered_conditions(plan) if plan.is_guarded else None
    for node, step in zip(plan.nodes, slots.steps, strict=True):
        _emit_step(program, kernels, node, step, cells)
    program.set_feeds(feeds, [slots.of[value] for value in plan.feed_values])
    program.set_fetches(
        [slots.of[value] for value in plan.fetch_values], len(cells or ()), _fetch_guards(plan, cells)
    )
    return program


def numbered_conditions(plan):
    """{Condition: number} of all conditions that a plan speaks of."""
    found: dict = {}
    for node in plan.nodes:
        for conditions in (node.conditions, node.guard, *node.attrs.get("guards", ())):
            for condition in conditions:
                found.setdefault(condition, len(found))
    for guard in plan.fetch_guards:
        for condition in guard:
            found.setdefault(condition, len(found))
    return found


def _fetch_guards(plan, cells):
    """(label, cells) of the fetches that may have no value. TensorFlow numbers them in the order of their names."""
    if not cells:
        return []
    names = sorted({tensor.name for tensor in plan.fetches})
    return [
        (names.index(tensor.name), [cells[condition] for condition in guard])
        for tensor, guard in zip(plan.fetches, plan.fetch_guards, strict=True)
        if guard
    ]


def _array_for(value):
    numpy_type = object if value.dtype is dtypes.string else value.dtype.as_numpy_dtype
    return np.require(value.constant, numpy_type, ["C", "ALIGNED"])


def engine_variable(session_core, op):
    """The engine's variable of the node that stands for it."""
    shape = op._attrs["shape"]
    dims = None if shape.rank is None else [-1 if size is None else size for size in shape.as_list()]
    name = op._attrs.get("shared_name", b"").decode() or op._name
    container = op._attrs.get("container", b"").decode()
    if op._op_def.lowering.kind == "handle":
        # The engine tells resource variables by their names.
        name = f"resource:{container or 'localhost'}/{name}"
    elif container:
        name = f"{container}/{name}"
    return session_core.variable(name, op._attrs["dtype"].as_datatype_enum, dims)


_CONTROL_FLOW = {
    "branch": Kernel("branch", ("predicate",), ("false_cell", "true_cell", "guard")),
    "merge": Kernel("merge_live", ("inputs",), ("guards", "cell")),
}


def _emit_step(program, kernels, node, step, cells):
    lowering, values = node.lowering, node.attrs
    guard: list = []
    if cells is not None:
        guard = [cells[condition] for condition in node.guard]
        if isinstance(lowering, Special):
            values = _control_flow_attrs(node, guard, cells)
            lowering = _CONTROL_FLOW[lowering.kind]
            guard = guard if lowering.name == "merge_live" else []
    if not isinstance(lowering, Kernel) or lowering.name not in kernels.indices:
        raise NotImplementedError(f"No kernel for {node}")
    attrs = [_attr(_attr_value(node, values, name)) for name in lowering.attrs]
    random_state = op_state = None
    if lowering.state == "random":
        random_state = node.name, node.attrs["seed"], node.attrs["seed2"]
    elif lowering.state == "op":
        op_state = node.name
    try:
        program.add_step(
            lowering.name, step.inputs, step.outputs, attrs, step.dying, step.releases, random_state, op_state, guard
        )
    except _engine.EngineError as error:
        raise errors.make(error.code, error.message, node.op) from None


def _attr_value(node, values, name):
    if name == "node_name":
        return node.name.encode()
    return values[name] if isinstance(name, str) else name


def _control_flow_attrs(node, guard, cells):
    """What the kernels of branches take: the numbers of cells."""
    numbers = [cells[condition] for condition in node.conditions]
    if node.lowering.kind == "branch":
        return {"false_cell": numbers[0], "true_cell": numbers[1], "guard": guard}
    guards: list = []
    for each in node.attrs["guards"]:
        guards.extend([len(each), *(cells[condition] for condition in each)])
    return {"guards": guards, "cell": numbers[0] if numbers else -1}


def _attr(value):
    """An attribute as the engine takes it: int, float, bytes, or a list of numbers; [-2] is an unknown shape.

    A list of shapes is the rank of each, -1 if it is unknown, followed by its sizes; a list of strings is each of
    them after its length.
    """
    if isinstance(value, dtypes.DType):
        return value.as_datatype_enum
    if isinstance(value, TensorShape):
        if value.rank is None:
            return [-2]
        return [-1 if size is None else size for size in value.as_list()]
    if isinstance(value, TensorValue):
        return value.array().ravel().tolist()
    if isinstance(value, tuple):
        if value and isinstance(value[0], TensorShape):
            return [number for shape in value for number in _ranked(shape)]
        if value and isinstance(value[0], bytes):
            return b"".join(len(item).to_bytes(8, "little") + item for item in value)
        return [_attr(item) for item in value]
    return value


def _ranked(shape):
    return [-1] if shape.rank is None else [shape.rank, *_attr(shape)]


@dataclass(slots=True)
class _Step:
    inputs: list  # slots
    outputs: list
    dying: int  # bit i: nothing reads input i afterwards
    releases: list  # slots that are free afterwards


class _Slots:
    """Which slot each value lies in, and when slots become free."""

    def __init__(self, plan):
        self.of: dict = {}
        self.permanent: dict = {}
        self.count = 0
        self._free: list = []
        self.steps = []
        lasting = set(plan.fetch_values)
        last_reader = {}
        for index, node in enumerate(plan.nodes):
            for value in node.inputs:
                last_reader[value] = index
        for value in plan.feed_values:
            self._assign(value)
        for index, node in enumerate(plan.nodes):
            self.steps.append(self._step(index, node, last_reader, lasting))
        for value in plan.fetch_values:
            if value not in self.of:
                self._assign_permanent(value)

    def _assign(self, value):
        if self._free:
            self.of[value] = self._free.pop()
        else:
            self.of[value] = self.count
            self.count += 1

    def _assign_permanent(self, value):
        self.of[value] = self.permanent[value] = self.count
        self.count += 1

    def _step(self, index, node, last_reader, lasting):
        for value in node.inputs:
            if value not in self.of:  # a constant or a variable, met for the first time
                self._assign_permanent(value)
        for value in node.outputs:
            self._assign(value)
        dying = 0
        ending: list = []
        for position, value in enumerate(node.inputs):
            if value in self.permanent or value in lasting or last_reader[value] != index:
                continue
            if value not in ending:
                ending.append(value)
            if position < 64 and node.inputs.count(value) == 1:
                dying |= 1 << position
        ending.extend(value for value in node.outputs if value not in last_reader and value not in lasting)
        inputs, outputs, releases = ([self.of[v] for v in values] for values in (node.inputs, node.outputs, ending))
        self._free.extend(releases)
        return _Step(inputs, outputs, dying, releases)

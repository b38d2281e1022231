"""emit: the finished plan as an engine program."""

from __future__ import annotations

import numpy as np

from stillflow import _engine, errors
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.graph.tensor_value import TensorValue
from stillflow.ops.registry import Called, Kernel, Special
from stillflow.plan.functions import calls_of
from stillflow.plan.guards import to_be_checked
from stillflow.plan.slots import Slots
from stillflow.plan.units import find_units, numbers_in
from stillflow.plan.verify import verify_slots


def emit(plan, session_core, kernels, feeds, compile_function, is_body=False):
    """An _engine.Program. `feeds` are _engine.Feed objects in the order of the plan's feeds.

    `compile_function(node, called)` makes the _engine.Function of a node's attribute. With `is_body` the plan is that
    of a function's body, which has no feeds but slots for its arguments.
    """
    units = find_units(plan)
    slots = Slots(plan, reuses=not units)
    verify_slots(plan, slots)
    program = _engine.Program(session_core, kernels, slots.count, is_body)
    for value, slot in slots.permanent.items():
        if value.is_reference:
            program.add_reference(slot, engine_variable(session_core, value.source.op))
        else:
            array = _array_for(value)
            program.add_constant(slot, array, value.dtype.as_datatype_enum)
    control_flow = _ControlFlow(plan) if plan.is_guarded else None
    for node, step in zip(plan.nodes, slots.steps, strict=True):
        _emit_step(program, kernels, node, step, control_flow, compile_function, is_body, session_core.tasks)
    for unit in units:
        program.add_unit(
            unit.first, unit.end, unit.is_loop, unit.waits, numbers_in(unit.after), numbers_in(unit.loosely_after)
        )
    program.set_feeds(feeds, [slots.of[value] for value in plan.feed_values])
    fetched = [slots.of[value] for value in plan.fetch_values]
    if control_flow is None:
        program.set_fetches(fetched)
    else:
        program.set_fetches(fetched, max(1, len(control_flow.cells)), control_flow.fetch_guards())
    return program


def numbered_conditions(plan):
    """{Condition: number} of all conditions that a plan speaks of, but for those that places decide."""
    found: dict = {}
    for node in plan.nodes:
        for guard in (node.conditions, node.guard, *node.attrs.get("guards", ())):
            for condition in to_be_checked(guard):
                found.setdefault(condition, len(found))
    for guard in plan.fetch_guards:
        for condition in guard:
            found.setdefault(condition, len(found))
    return found


class _ControlFlow:
    """What the steps of a plan with branches and loops are told: numbers of cells and of steps."""

    def __init__(self, plan):
        self._plan = plan
        self.cells = numbered_conditions(plan)
        self.places = {}  # (loop, type of node) -> index of the step
        for index, node in enumerate(plan.nodes):
            if "loop" in node.attrs:
                self.places[node.attrs["loop"], node.type] = index

    def guard(self, guard):
        return [self.cells[condition] for condition in to_be_checked(guard)]

    def fetch_guards(self):
        """(label, cells) of the fetches that may have no value. TensorFlow numbers them in the order of names."""
        plan = self._plan
        names = sorted({tensor.name for tensor in plan.fetches})
        return [
            (names.index(tensor.name), self.guard(guard))
            for tensor, guard in zip(plan.fetches, plan.fetch_guards, strict=True)
            if guard
        ]

    def lowered(self, node):
        """(kernel, attributes, guard) of a node that is not an op's."""
        numbers = [self.cells[condition] for condition in node.conditions]
        guard = self.guard(node.guard)
        if node.lowering.kind == "branch":
            attrs = {"false_cell": numbers[0], "true_cell": numbers[1], "guard": guard}
            guard = []  # it runs in any case: if the guard does not hold, neither way is taken
        elif node.lowering.kind == "merge":
            guards: list = []
            for cells in map(self.guard, node.attrs["guards"]):
                guards.extend([len(cells), *cells])
            attrs = {"guards": guards, "cell": numbers[0] if numbers else -1}
        else:
            loop = node.attrs["loop"]
            attrs = {"end": self.places[loop, "_LoopEnd"], "head": self.places[loop, "_LoopEnter"] + 1}
        return _CONTROL_FLOW[node.lowering.kind], attrs, guard


def _array_for(value):
    numpy_type = object if value.dtype is dtypes.string else value.dtype.as_numpy_dtype
    return np.require(value.constant, numpy_type, ["C", "ALIGNED"])


def engine_variable(session_core, op):
    """The engine's variable of the node that stands for it.

    Raises InternalError if another session of the same server has it with another type.
    """
    shape = op._attrs["shape"]
    dims = None if shape.rank is None else [-1 if size is None else size for size in shape.as_list()]
    name = op._attrs.get("shared_name", b"").decode() or op._name
    container = op._attrs.get("container", b"").decode()
    if op._op_def.lowering.kind == "handle":
        # The engine tells resource variables by their names.
        name = f"resource:{container or 'localhost'}/{name}"
    elif container:
        name = f"{container}/{name}"
    place = "" if session_core.tasks is None else session_core.tasks.place(op._device, container)
    try:
        return session_core.variable(name, op._attrs["dtype"].as_datatype_enum, dims, place)
    except ValueError as error:
        raise errors.InternalError(op.node_def, op, f"{error}, than {op._attrs['dtype'].name}") from None


_CONTROL_FLOW = {
    "branch": Kernel("branch", ("predicate",), ("false_cell", "true_cell", "guard")),
    "merge": Kernel("merge_live", ("inputs",), ("guards", "cell")),
    "loop_enter": Kernel("loop_enter", ("inputs",), ()),
    "loop_test": Kernel("loop_test", ("predicate",), ("end",)),
    "loop_next": Kernel("loop_next", ("inputs",), ("head",)),
    "loop_end": Kernel("loop_end", (), ()),
}


def _emit_step(program, kernels, node, step, control_flow, compile_function, is_body, tasks):
    lowering, values = node.lowering, node.attrs
    guard: list = []
    if control_flow is not None:
        if isinstance(lowering, Special):
            lowering, values, guard = control_flow.lowered(node)
        else:
            guard = control_flow.guard(node.guard)
    if not isinstance(lowering, Kernel) or lowering.name not in kernels.indices:
        raise NotImplementedError(f"No kernel for {node}")
    attrs: list = []
    for name in lowering.attrs:
        if isinstance(name, Called):
            functions = [compile_function(node, each) for each in calls_of(name, node.attrs)]
            # A list is preceded by the number of its functions.
            attrs += [len(functions), *functions] if isinstance(node.attrs.get(name.name), tuple) else functions
        else:
            attrs.append(_attr(_attr_value(node, values, name, tasks)))
    parts = [op._name for op in node.parts] if is_body else ()
    random_state = op_state = None
    if lowering.state == "random":
        random_state = node.name, node.attrs.get("seed", 0), node.attrs.get("seed2", 0)
    elif lowering.state is not None:
        op_state = node.name
    try:
        program.add_step(
            lowering.name, step.inputs, step.outputs, attrs, step.dying, step.releases, random_state, op_state, guard,
            parts,
        )  # fmt: skip
    except _engine.EngineError as error:
        raise errors.make(error.code, error.message, node.op) from None


def _attr_value(node, values, name, tasks):
    if name == "node_name":
        return node.name.encode()
    if name == "input_name":
        return (node.op.inputs[0]._label.removesuffix(":0") or "dummy_input").encode()
    if name == "container" and tasks is not None:
        container = values[name].decode()
        return f"{tasks.place(node.op._device, container)}{container or 'localhost'}".encode()
    return values[name] if isinstance(name, str) else name


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

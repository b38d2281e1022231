"""verify: what must be true of a plan between any two passes, and of the slots that its values lie in.

Tests switch it on, by STILLFLOW_VERIFY_PLANS=1 in the environment; programs do not pay for it.
"""

from __future__ import annotations

import os

from stillflow.graph import dtypes
from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import normalized
from stillflow.plan.infer import PlanContext

is_on = os.environ.get("STILLFLOW_VERIFY_PLANS", "") not in ("", "0")

_OBJECTS = (dtypes.string, dtypes.resource, dtypes.variant)  # types whose values in Python are objects


class PlanError(AssertionError):
    """A pass has left a plan that cannot be right."""


def verify(plan, after):
    """Raises PlanError, naming the pass that the plan has just been through, if it is not well-formed.

    Values are defined once and before they are used; their types are those that their ops declare, and their shapes
    do not contradict the ops' shape rules; nodes run under conditions that nodes before them decide.
    """
    if is_on:
        for problem in _problems(plan):
            raise PlanError(f"after {after}, {problem}")


def _problems(plan):
    defined = set(plan.feed_values)
    decided: set = set()
    for node in plan.nodes:
        for problem in _problems_of_node(node, defined):
            yield f"{node.type} [{node.name}] {problem}"
        if plan.is_guarded and not all(condition.is_placed or condition in decided for condition in node.guard):
            yield f"{node.type} [{node.name}] runs under a condition that no node before it decides"
        defined.update(node.outputs)
        decided.update(node.conditions)
    for node in plan.nodes:
        for value in node.attrs["variables"] if node.type == "_LoopNext" else ():
            if not _is_there(value, defined):
                yield f"the loop's variable {value.name} is made by no node"
    for value in plan.fetch_values:
        if not _is_there(value, defined):
            yield f"the fetched {value.name} is made by no node"


def _is_there(value, defined):
    """Whether a value is known, a variable, or made before."""
    return value.constant is not None or value in defined or (value.is_reference and value.producer is None)


def _problems_of_node(node, defined):
    for value in node.inputs:
        if not _is_there(value, defined):
            yield f"reads {value.name}, which is not there yet"
        yield from _problems_of_value(value)
    for value in node.outputs:
        if value in defined:
            yield f"makes {value.name}, which is there already"
        if value.producer not in (node, None):
            yield f"makes {value.name}, which says that {value.producer} does"
        yield from _problems_of_value(value)
    op_def = node.op._op_def
    if node.type == op_def.name and node.lowering is op_def.lowering:  # not what a fusion has made of it
        yield from _problems_of_types(node, op_def)
        yield from _problems_of_shapes(node, op_def)


def _problems_of_value(value):
    dims, array = value.dims, value.constant
    if dims is not None and not all(size is None or (isinstance(size, int) and size >= 0) for size in dims):
        yield f"has {value.name} of shape {dims}"
    if array is None:
        return
    if merge(array.shape, dims) is False:
        yield f"has {value.name} of shape {dims}, which is known with shape {array.shape}"
    if value.dtype not in _OBJECTS and array.dtype != value.dtype.as_numpy_dtype:
        yield f"has {value.name} of type {value.dtype.name}, which is known as {array.dtype}"


def _problems_of_types(node, op_def):
    wanted = _types(op_def.inputs, node.attrs)
    made = [dtype.base_dtype for dtype in op_def.output_dtypes(node.attrs)]
    if len(wanted) != len(node.inputs):
        yield f"has {len(node.inputs)} inputs instead of {len(wanted)}"
        return
    pairs = list(zip(wanted, node.inputs, strict=True))
    if len(made) == len(node.outputs):  # else some are the variables that go in
        pairs += zip(made, node.outputs, strict=True)
    for dtype, value in pairs:
        # A handle is the variable in a plan, and has the variable's type.
        if value.dtype is not dtype and dtype is not dtypes.resource:
            yield f"has {value.name} of type {value.dtype.name} where its op has {dtype.name}"


def _problems_of_shapes(node, op_def):
    if op_def.shape_rule is None or not node.outputs:
        return
    try:
        shapes = normalized(op_def.shape_rule(PlanContext(node)), len(node.outputs))
    except (ValueError, TypeError, IndexError, OverflowError):
        return  # the kernel will say what does not fit
    for dims, value in zip(shapes, node.outputs, strict=True):
        if merge(dims, value.dims) is False:
            yield f"makes {value.name} of shape {value.dims}, which its rule says is {dims}"


def _types(args, attrs):
    """The types of the inputs one by one."""
    found = []
    for arg in args:
        if arg.type_list_attr is not None:
            found.extend(attrs[arg.type_list_attr])
        else:
            dtype = attrs[arg.type_attr] if arg.dtype is None else arg.dtype
            found.extend([dtype] * (1 if arg.number_attr is None else attrs[arg.number_attr]))
    return [dtype.base_dtype for dtype in found]


# ---- Slots ----------------------------------------------------------------------------------------------------


def verify_slots(plan, slots):
    """Raises PlanError if a step would read another value from a slot than it is to read, or overwrite one in use.

    The steps are walked through as they run, with two full rounds of every loop.
    """
    if not is_on:
        return
    for problem in _problems_of_slots(plan, slots):
        raise PlanError(problem)


def _problems_of_slots(plan, slots):
    holds = {slot: value for value, slot in slots.permanent.items()}
    holds.update((slots.of[value], value) for value in plan.feed_values)
    order = _as_run(plan)
    reads = _reads_from(plan, order)
    for position, index in enumerate(order):
        node, step = plan.nodes[index], slots.steps[index]
        later = reads[position + 1]
        for bit, (value, slot) in enumerate(zip(node.inputs, step.inputs, strict=True)):
            if holds.get(slot) is not value:
                yield f"step {index} [{node.name}] reads {value.name} from slot {slot}, which does not hold it"
            if bit < 64 and step.dying >> bit & 1 and value in later:
                yield f"step {index} [{node.name}] gives up {value.name}, which is read later"
        for value, slot in zip(_made(node), step.outputs, strict=True):
            held = holds.get(slot)
            if held is not value and held in later:
                yield f"step {index} [{node.name}] writes {value.name} over {held.name} in slot {slot}"
            holds[slot] = value
        for slot in step.releases:
            held = holds.pop(slot, None)
            if held in later:
                yield f"step {index} [{node.name}] releases {held.name} in slot {slot}, which is read later"
    for value in plan.fetch_values:
        if holds.get(slots.of[value]) is not value:
            yield f"slot {slots.of[value]} does not hold the fetched {value.name}"


def _made(node):
    """What a node writes to its slots: a loop's next round, the loop's variables."""
    return node.attrs["variables"] if node.type == "_LoopNext" else node.outputs


def _as_run(plan):
    """The indices of the nodes in the order of a run with two rounds of every loop and a test that ends it."""
    places: dict = {}
    for index, node in enumerate(plan.nodes):
        if node.type in ("_LoopEnter", "_LoopTest", "_LoopNext", "_LoopEnd"):
            places.setdefault(node.attrs["loop"], {})[node.type] = index

    def walk(start, end):
        index = start
        while index < end:
            node = plan.nodes[index]
            yield index
            index += 1
            if node.type == "_LoopEnter":
                at = places[node.attrs["loop"]]
                for _ in range(2):
                    yield from walk(index, at["_LoopNext"] + 1)
                yield from walk(index, at["_LoopTest"] + 1)
                index = at["_LoopEnd"]

    return list(walk(0, len(plan.nodes)))


def _reads_from(plan, order):
    """For each position in the order, the values that are read from there on before they are made anew."""
    wanted = set(plan.fetch_values)
    found = [wanted]
    for index in reversed(order):
        node = plan.nodes[index]
        wanted = wanted.difference(_made(node)).union(node.inputs)
        found.append(wanted)
    return found[::-1]

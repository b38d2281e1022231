"""verify: the invariants of a plan between any two passes, and of the slots that its values are assigned to.

STILLFLOW_VERIFY_PLANS=1 in the environment switches it on, as the tests do; otherwise it costs one comparison a pass.
"""

from __future__ import annotations

import bisect
import os

from stillflow.graph import dtypes
from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import normalized
from stillflow.plan.infer import PlanContext

is_on = os.environ.get("STILLFLOW_VERIFY_PLANS", "") not in ("", "0")

_OBJECTS = (dtypes.string, dtypes.resource, dtypes.variant)  # dtypes whose constants are arrays of objects


class PlanError(AssertionError):
    """A pass has broken an invariant of the plan."""


def verify(plan, after):
    """Raises PlanError, naming the pass that ran last, if the plan is not well-formed.

    Values are defined once, before they are used, and name their producer. Their dtypes are those that the ops
    declare, and their shapes do not contradict the ops' shape rules. The conditions of a guard are decided earlier.
    """
    if is_on:
        problem = next(_problems(plan), None)
        if problem is not None:
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
            if not _is_defined(value, defined):
                yield f"no node makes the loop variable {value.name}"
    for value in plan.fetch_values:
        if not _is_defined(value, defined):
            yield f"no node makes the fetched {value.name}"


def _is_defined(value, defined):
    """Whether a value is a constant, a variable or made before."""
    return value.constant is not None or value in defined or (value.is_reference and value.producer is None)


def _problems_of_node(node, defined):
    for value in node.inputs:
        if not _is_defined(value, defined):
            yield f"reads {value.name}, which no node before it makes"
        yield from _problems_of_value(value)
    for value in node.outputs:
        if value in defined:
            yield f"makes {value.name}, which was made before"
        if value.producer not in (node, None):
            yield f"makes {value.name}, whose producer is {value.producer}"
        yield from _problems_of_value(value)
    op_def = node.op._op_def
    if node.type == op_def.name and node.lowering is op_def.lowering:  # not rewritten by a fusion
        yield from _problems_of_types(node, op_def)
        yield from _problems_of_shapes(node, op_def)


def _problems_of_value(value):
    dims, array = value.dims, value.constant
    if dims is not None and not all(size is None or (isinstance(size, int) and size >= 0) for size in dims):
        yield f"has {value.name} of shape {dims}"
    if array is None:
        return
    if merge(array.shape, dims) is False:
        yield f"has {value.name} of shape {dims}, but a constant of shape {array.shape}"
    if value.dtype not in _OBJECTS and array.dtype != value.dtype.as_numpy_dtype:
        yield f"has {value.name} of type {value.dtype.name}, but a constant of {array.dtype}"


def _problems_of_types(node, op_def):
    wanted = _types(op_def.inputs, node.attrs)
    made = [dtype.base_dtype for dtype in op_def.output_dtypes(node.attrs)]
    if len(wanted) != len(node.inputs):
        yield f"has {len(node.inputs)} inputs instead of {len(wanted)}"
        return
    pairs = list(zip(wanted, node.inputs, strict=True))
    if len(made) == len(node.outputs):  # else some are references that are handed on
        pairs += zip(made, node.outputs, strict=True)
    for dtype, value in pairs:
        # In a plan a handle stands for its variable, and has the variable's dtype.
        if value.dtype is not dtype and dtype is not dtypes.resource:
            yield f"has {value.name} of type {value.dtype.name} where its op has {dtype.name}"


def _problems_of_shapes(node, op_def):
    if op_def.shape_rule is None or not node.outputs:
        return
    try:
        shapes = normalized(op_def.shape_rule(PlanContext(node)), len(node.outputs))
    except (ValueError, TypeError, IndexError, OverflowError):
        return  # an error for the kernel to report
    made = op_def.output_dtypes(node.attrs)
    is_handle = [dtype is dtypes.resource for dtype in made] if len(made) == len(shapes) else [False] * len(shapes)
    for dims, value, skip in zip(shapes, node.outputs, is_handle, strict=True):
        if not skip and merge(dims, value.dims) is False:  # a handle may have the shape of its variable
            yield f"makes {value.name} of shape {value.dims}, which its rule says is {dims}"


def _types(args, attrs):
    """The dtype of each single input."""
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
    """Raises PlanError if a step reads a slot that holds another value, or overwrites or frees one in use.

    The steps are simulated in the order in which they run, with two full rounds of every loop.
    """
    if is_on:
        problem = next(_problems_of_slots(plan, slots), None)
        if problem is not None:
            raise PlanError(problem)


def _problems_of_slots(plan, slots):
    holds = {slot: value for value, slot in slots.permanent.items()}
    holds.update((slots.of[value], value) for value in plan.feed_values)
    order = _as_run(plan)
    is_read_after = _reads(plan, order)
    for position, index in enumerate(order):
        node, step = plan.nodes[index], slots.steps[index]
        for bit, (value, slot) in enumerate(zip(node.inputs, step.inputs, strict=True)):
            if holds.get(slot) is not value:
                yield f"step {index} [{node.name}] reads {value.name} from slot {slot}, which does not hold it"
            if bit < 64 and step.dying >> bit & 1 and is_read_after(value, position):
                yield f"step {index} [{node.name}] marks {value.name} as dying, but it is read later"
        for value, slot in zip(_made(node), step.outputs, strict=True):
            held = holds.get(slot)
            if held is not None and held is not value and is_read_after(held, position):
                yield f"step {index} [{node.name}] writes {value.name} over {held.name} in slot {slot}"
            holds[slot] = value if value.constant is None else None
        for slot in step.releases:
            held = holds.pop(slot, None)
            if held is not None and is_read_after(held, position):
                yield f"step {index} [{node.name}] releases {held.name} in slot {slot}, which is read later"
    for value in plan.fetch_values:
        if holds.get(slots.of[value]) is not value:
            yield f"slot {slots.of[value]} does not hold the fetched {value.name}"


def _made(node):
    """The values that a node writes to its slots: for the end of a round, the loop's variables."""
    return node.attrs["variables"] if node.type == "_LoopNext" else node.outputs


def _as_run(plan):
    """The indices of the nodes in the order of a run with two rounds of every loop, and the test that ends it."""
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


def _reads(plan, order):
    """A function (value, position) -> whether the value is read after that position, before it is made anew."""
    uses: dict = {}  # Value -> ascending numbers: 2 * position for a read, 2 * position + 1 for a write
    for position, index in enumerate(order):
        node = plan.nodes[index]
        for value in node.inputs:
            uses.setdefault(value, []).append(2 * position)
        for value in _made(node):
            uses.setdefault(value, []).append(2 * position + 1)
    for value in plan.fetch_values:
        uses.setdefault(value, []).append(2 * len(order))

    def is_read_after(value, position):
        found = uses.get(value, ())
        following = bisect.bisect_right(found, 2 * position + 1)
        return following < len(found) and found[following] % 2 == 0

    return is_read_after

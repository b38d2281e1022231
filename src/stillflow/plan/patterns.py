"""How fusions find their place: a pattern is a TensorFlow program, and a match is where a plan computes the same.

The pattern's program is built for the shapes at hand and reduced by the same passes as the plan, so that both
have the same form if they compute the same, whoever wrote the graph. Its placeholders match any value.
"""

from __future__ import annotations

from stillflow.graph.graph import Graph
from stillflow.plan.ir import Plan, Value
from stillflow.plan.lift import lift
from stillflow.plan.merge import attrs_key
from stillflow.plan.prune import needed_operations
from stillflow.plan.uniform import uniform_value


class Pattern:
    """A reduced program: its inputs and outputs as values, and the nodes between them."""

    def __init__(self, plan: Plan):
        self.inputs = plan.feed_values
        self.outputs = plan.fetch_values
        self.nodes = plan.nodes


def make_pattern(build, arguments, reduce) -> Pattern:
    """The pattern of build(*placeholders), which returns a list of tensors.

    `arguments` are (dtype, dims) of the placeholders; `reduce(plan)` runs the passes that the plan has been
    through.
    """
    from stillflow import ops

    with Graph().as_default():
        placeholders = [ops.placeholder(dtype=dtype, shape=dims) for dtype, dims in arguments]
        outputs = build(*placeholders)
        operations = needed_operations(outputs, [], placeholders)
        plan = lift(operations, placeholders, outputs, [], [tensor._dims for tensor in placeholders])
    reduce(plan)
    return Pattern(plan)


class Match:
    """Which of a plan's values and nodes stand for those of a pattern."""

    def __init__(self, pattern):
        self.pattern = pattern
        self.values: dict = {}  # pattern Value -> plan Value
        self.nodes: dict = {}  # pattern Node -> plan Node
        self.constants: list = []  # (pattern Value, plan Value) of known values

    def inputs(self):
        """The plan's values for the pattern's inputs; None for one that the program does not use."""
        return [self.values.get(value) for value in self.pattern.inputs]

    def outputs(self):
        return [self.values[value] for value in self.pattern.outputs]

    def is_closed(self, plan, shared=frozenset()):
        """Whether nothing but the outputs and the values in `shared` is read outside or fetched."""
        inside = set(self.nodes.values())
        hidden = {value for node in inside for value in node.outputs}.difference(self.outputs(), shared)
        if hidden.intersection(plan.fetch_values):
            return False
        return all(node in inside or hidden.isdisjoint(node.inputs) for node in plan.nodes)


def find(pattern: Pattern, plan: Plan, same_constants=True) -> Match | None:
    """The first match, or None. Without `same_constants` known values match if their shapes agree."""
    by_type: dict = {}
    for node in plan.nodes:
        by_type.setdefault(node.type, []).append(node)
    return _extend(Match(pattern), list(pattern.outputs), by_type, same_constants)


def _extend(match, outputs, by_type, same_constants):
    """A match of the remaining outputs too, or None."""
    while outputs and outputs[0] in match.values:
        outputs = outputs[1:]
    if not outputs:
        return match
    wanted = outputs[0]
    for node in by_type.get(wanted.producer.type, ()):
        trial = _copy(match)
        value = node.outputs[wanted.producer.outputs.index(wanted)] if node.outputs else None
        if value is not None and _unify(trial, wanted, value, same_constants):
            found = _extend(trial, outputs[1:], by_type, same_constants)
            if found is not None:
                return found
    return None


def _copy(match):
    copy = Match(match.pattern)
    copy.values, copy.nodes = dict(match.values), dict(match.nodes)
    copy.constants = list(match.constants)
    return copy


def _unify(match, wanted: Value, value: Value, same_constants):
    """Makes `value` stand for `wanted`, and what they are computed from likewise; False if it cannot."""
    pending = [(wanted, value)]
    while pending:
        wanted, value = pending.pop()
        if wanted in match.values:
            if match.values[wanted] is not value:
                return False
            continue
        if wanted.dtype is not value.dtype or wanted.dims != value.dims:
            return False
        if wanted.constant is not None or value.constant is not None:
            if wanted.constant is None or value.constant is None:
                return False
            if same_constants and not _same_constant(wanted, value):
                return False
            match.constants.append((wanted, value))
            continue
        match.values[wanted] = value
        if wanted in match.pattern.inputs:
            continue
        pair = wanted.producer, value.producer
        if pair[1] is None or not _same_step(*pair):
            return False
        if pair[1].guard != next(iter(match.nodes.values()), pair[1]).guard:
            return False  # what becomes one node runs under one condition
        match.nodes[pair[0]] = pair[1]
        pending.extend(zip(pair[0].outputs, pair[1].outputs, strict=True))
        pending.extend(zip(pair[0].inputs, pair[1].inputs, strict=True))
    return True


def _same_step(wanted, node):
    return (
        wanted.type == node.type
        and len(wanted.inputs) == len(node.inputs)
        and len(wanted.outputs) == len(node.outputs)
        and attrs_key(wanted.attrs) == attrs_key(node.attrs)
    )


def _same_constant(a, b):
    one, other = uniform_value(a), uniform_value(b)
    if one is not None or other is not None:
        return one is not None and other is not None and one.tobytes() == other.tobytes()
    return a.constant.tobytes() == b.constant.tobytes()

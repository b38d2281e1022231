"""Operations and tensors found by names, neighbours and ways through the graph: tf.contrib.graph_editor.select."""

from __future__ import annotations

import re

from stillflow.contrib.graph_editor.elements import (
    ControlOutputs,
    extend_unique,
    get_consuming_ops,
    is_iterable,
    make_list_of_op,
    make_list_of_t,
)
from stillflow.graph.graph import Graph
from stillflow.graph.operation import Tensor
from stillflow.names import public


@public("contrib.graph_editor.can_be_regex", "contrib.graph_editor.select.can_be_regex")
def can_be_regex(obj):
    """Whether something is a regular expression, compiled or as text."""
    return isinstance(obj, (str, re.Pattern))


@public("contrib.graph_editor.make_regex", "contrib.graph_editor.select.make_regex")
def make_regex(obj):
    """A compiled regular expression. Raises ValueError for what is none."""
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def _inputs(ops):
    return extend_unique([], (tensor for op in ops for tensor in op.inputs))


def _outputs(ops):
    return [tensor for op in ops for tensor in op.outputs]


@public("contrib.graph_editor.filter_ts", "contrib.graph_editor.select.filter_ts")
def filter_ts(ops, positive_filter):
    """The inputs and outputs of operations for which the function is true; all of them if it is True itself."""
    ops = make_list_of_op(ops)
    found = extend_unique(_inputs(ops), _outputs(ops))
    return found if positive_filter is True else [tensor for tensor in found if positive_filter(tensor)]


@public("contrib.graph_editor.filter_ts_from_regex", "contrib.graph_editor.select.filter_ts_from_regex")
def filter_ts_from_regex(ops, regex):
    """The inputs and outputs of operations in whose names the expression is found."""
    regex = make_regex(regex)
    return filter_ts(ops, lambda tensor: regex.search(tensor.name))


@public("contrib.graph_editor.filter_ops", "contrib.graph_editor.select.filter_ops")
def filter_ops(ops, positive_filter):
    """The operations for which the function is true; all of them if it is True itself."""
    ops = make_list_of_op(ops)
    return ops if positive_filter is True else [op for op in ops if positive_filter(op)]


@public("contrib.graph_editor.filter_ops_from_regex", "contrib.graph_editor.select.filter_ops_from_regex")
def filter_ops_from_regex(ops, regex):
    """The operations in whose names the expression is found."""
    regex = make_regex(regex)
    return filter_ops(ops, lambda op: regex.search(op.name))


@public("contrib.graph_editor.get_name_scope_ops", "contrib.graph_editor.select.get_name_scope_ops")
def get_name_scope_ops(ops, scope):
    """The operations in a name scope, and the one that is called like it."""
    return filter_ops_from_regex(ops, f"^{scope.removesuffix('/')}(/.*)?$")


@public("contrib.graph_editor.check_cios", "contrib.graph_editor.select.check_cios")
def check_cios(control_inputs=False, control_outputs=None, control_ios=None):
    """(whether control inputs count, ControlOutputs or None), where `control_ios` stands for both.

    Raises TypeError for what is no ControlOutputs, ValueError if `control_ios` and `control_outputs` are given.
    """
    if control_ios is not None:
        if not isinstance(control_ios, ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_ios)}")
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs, control_outputs = True, control_ios
    elif control_outputs is not None and not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    if control_outputs is not None:
        control_outputs.update()
    return control_inputs, control_outputs


@public("contrib.graph_editor.get_ops_ios", "contrib.graph_editor.select.get_ops_ios")
def get_ops_ios(ops, control_inputs=False, control_outputs=None, control_ios=None):
    """The operations whose outputs some operations read, and that read theirs; by control dependencies if asked."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found: list = []
    for op in make_list_of_op(ops):
        extend_unique(found, (tensor.op for tensor in op.inputs))
        extend_unique(found, _followers(op, control_outputs))
        if control_inputs:
            extend_unique(found, op.control_inputs)
    return found


def _followers(op, control_outputs, stop_at=frozenset()):
    found = [reader for tensor in op.outputs if tensor not in stop_at for reader in tensor.consumers()]
    return found if control_outputs is None else [*found, *control_outputs.get(op)]


@public("contrib.graph_editor.compute_boundary_ts", "contrib.graph_editor.select.compute_boundary_ts")
def compute_boundary_ts(ops):
    """(inputs that come from outside, outputs that are not only read inside, tensors that are read inside)."""
    ops = make_list_of_op(ops)
    inputs, outputs = _inputs(ops), _outputs(ops)
    members, made_here = frozenset(ops), frozenset(outputs)
    inside = [tensor for tensor in inputs if tensor in made_here]
    only_inside = {tensor for tensor in inside if members.issuperset(tensor.consumers())}
    return (
        [tensor for tensor in inputs if tensor not in made_here],
        [tensor for tensor in outputs if tensor not in only_inside],
        inside,
    )


@public("contrib.graph_editor.get_within_boundary_ops", "contrib.graph_editor.select.get_within_boundary_ops")
def get_within_boundary_ops(
    ops, seed_ops, boundary_ops=(), inclusive=True, control_inputs=False, control_outputs=None, control_ios=None
):
    """Those of `ops` that can be reached from `seed_ops`, in any direction, without passing `boundary_ops`.

    These count if it is `inclusive`. Raises ValueError if a seed lies on the boundary.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops = make_list_of_op(ops)
    seeds = make_list_of_op(seed_ops, allow_graph=False)
    boundary = set(make_list_of_op(boundary_ops))
    if boundary.intersection(seeds):
        raise ValueError("Boundary is intersecting with the seeds.")
    reached, wave = set(seeds), seeds
    while wave:
        around = [op for op in get_ops_ios(wave, control_inputs, control_outputs) if op not in reached]
        wave = [op for op in around if op not in boundary]
        reached.update(around if inclusive else wave)
    return [op for op in ops if op in reached]


def _walk(seeds, step, inclusive, within_ops, within_ops_fn):
    """The seeds and what `step(op)` leads to, wave by wave."""
    within = frozenset(make_list_of_op(within_ops, allow_graph=False)) if within_ops else None

    def is_within(op):
        return (within is None or op in within) and (within_ops_fn is None or within_ops_fn(op))

    seeds = [op for op in extend_unique([], seeds) if within is None or op in within]
    found, known, wave = list(seeds), set(seeds), seeds
    while wave:
        around = [op for origin in wave for op in step(origin)]
        wave = [op for op in extend_unique([], around) if op not in known and is_within(op)]
        known.update(wave)
        found += wave
    return found if inclusive else found[len(seeds) :]


def _seeds(items, ops_of_tensors):
    items = items if is_iterable(items) else [items]
    items = list(items)
    if items and isinstance(items[0], Tensor):
        return ops_of_tensors(make_list_of_t(items, allow_graph=False))
    return make_list_of_op(items, allow_graph=False)


@public("contrib.graph_editor.get_forward_walk_ops", "contrib.graph_editor.select.get_forward_walk_ops")
def get_forward_walk_ops(
    seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(), control_outputs=None
):
    """The operations that some operations, or the readers of some tensors, lead to.

    Args:
      seed_ops: a list of operations or of tensors.
      inclusive: whether the first operations are part of the list.
      within_ops: the only operations to pass.
      within_ops_fn: or a function that says whether to pass an operation.
      stop_at_ts: tensors not to pass.
      control_outputs: a ControlOutputs, if control dependencies count.
    """
    _, control_outputs = check_cios(False, control_outputs)
    stop_at = frozenset(make_list_of_t(stop_at_ts))
    seeds = _seeds(seed_ops, get_consuming_ops)
    return _walk(seeds, lambda op: _followers(op, control_outputs, stop_at), inclusive, within_ops, within_ops_fn)


@public(
    "contrib.graph_editor.get_backward_walk_ops",
    "contrib.graph_editor.select.get_backward_walk_ops",
    "python.ops.op_selector.get_backward_walk_ops",
)
def get_backward_walk_ops(
    seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(), control_inputs=False
):
    """The operations that lead to some operations, or to the makers of some tensors.

    The arguments are as in `get_forward_walk_ops`, but for `control_inputs`: whether control dependencies count.
    """
    control_inputs, _ = check_cios(control_inputs)
    stop_at = frozenset(make_list_of_t(stop_at_ts))

    def sources(op):
        found = [tensor.op for tensor in op.inputs if tensor not in stop_at]
        return [*found, *op.control_inputs] if control_inputs else found

    seeds = _seeds(seed_ops, lambda tensors: [tensor.op for tensor in tensors])
    return _walk(seeds, sources, inclusive, within_ops, within_ops_fn)


def _walks(forward_seeds, backward_seeds, forward_inclusive, backward_inclusive, within, within_fn, controls):
    control_inputs, control_outputs = check_cios(*controls)
    return (
        get_forward_walk_ops(forward_seeds, forward_inclusive, within, within_fn, control_outputs=control_outputs),
        get_backward_walk_ops(backward_seeds, backward_inclusive, within, within_fn, control_inputs=control_inputs),
    )


@public("contrib.graph_editor.get_walks_intersection_ops", "contrib.graph_editor.select.get_walks_intersection_ops")
def get_walks_intersection_ops(
    forward_seed_ops,
    backward_seed_ops,
    forward_inclusive=True,
    backward_inclusive=True,
    within_ops=None,
    within_ops_fn=None,
    control_inputs=False,
    control_outputs=None,
    control_ios=None,
):
    """The operations on ways from the first seeds to the others; see the walks."""
    controls = control_inputs, control_outputs, control_ios
    inclusive = forward_inclusive, backward_inclusive
    forward, backward = _walks(forward_seed_ops, backward_seed_ops, *inclusive, within_ops, within_ops_fn, controls)
    backward = frozenset(backward)
    return [op for op in forward if op in backward]


@public("contrib.graph_editor.get_walks_union_ops", "contrib.graph_editor.select.get_walks_union_ops")
def get_walks_union_ops(
    forward_seed_ops,
    backward_seed_ops,
    forward_inclusive=True,
    backward_inclusive=True,
    within_ops=None,
    within_ops_fn=None,
    control_inputs=False,
    control_outputs=None,
    control_ios=None,
):
    """The operations that the first seeds lead to, or that lead to the others; see the walks."""
    controls = control_inputs, control_outputs, control_ios
    inclusive = forward_inclusive, backward_inclusive
    return extend_unique(
        *_walks(forward_seed_ops, backward_seed_ops, *inclusive, within_ops, within_ops_fn, controls)
    )


# An expression for operations alone begins with the first of these comments, one for tensors with the second.
_OPS, _TENSORS = "(?#ops)", "(?#ts)"


def _select(args, kwargs, own, other, restriction, find, as_list):
    graph, positive_filter = kwargs.pop("graph", None), kwargs.pop("positive_filter", None)
    is_restricted = kwargs.pop(restriction, False)
    for known in ("restrict_ops_regex", "restrict_ts_regex"):
        kwargs.pop(known, None)
    if kwargs:
        raise ValueError(f"Wrong keywords argument: {next(iter(kwargs))}.")
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    found: list = []
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            pattern = make_regex(arg)
            if pattern.pattern.startswith(other) or (is_restricted and not pattern.pattern.startswith(own)):
                continue
            items = find(graph, pattern)
        else:
            items = as_list(arg)
        extend_unique(found, (item for item in items if positive_filter is None or positive_filter(item)))
    return found


@public("contrib.graph_editor.select_ops", "contrib.graph_editor.select.select_ops")
def select_ops(*args, **kwargs):
    """A list of operations.

    Args:
      *args: operations, lists of them, graphs, and regular expressions for names; those that begin with "(?#ts)" are
        for tensors.
      **kwargs: graph, which expressions need; positive_filter, a function that says which operations to take;
        restrict_ops_regex, whether only expressions that begin with "(?#ops)" count.

    Raises TypeError for what is no graph, ValueError for other keywords and for expressions without a graph.
    """
    return _select(
        args,
        kwargs,
        _OPS,
        _TENSORS,
        "restrict_ops_regex",
        filter_ops_from_regex,
        lambda arg: make_list_of_op(arg, ignore_ts=True),
    )


@public("contrib.graph_editor.select_ts", "contrib.graph_editor.select.select_ts")
def select_ts(*args, **kwargs):
    """A list of tensors; as `select_ops`, with "(?#ops)" and "(?#ts)" the other way round."""
    return _select(
        args,
        kwargs,
        _TENSORS,
        _OPS,
        "restrict_ts_regex",
        filter_ts_from_regex,
        lambda arg: make_list_of_t(arg, ignore_ops=True),
    )


@public("contrib.graph_editor.select_ops_and_ts", "contrib.graph_editor.select.select_ops_and_ts")
def select_ops_and_ts(*args, **kwargs):
    """(operations, tensors); expressions are for operations unless they begin with "(?#ts)"."""
    return (
        select_ops(*args, restrict_ops_regex=False, **kwargs),
        select_ts(*args, restrict_ts_regex=True, **kwargs),
    )

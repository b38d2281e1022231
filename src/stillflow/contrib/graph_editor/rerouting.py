"""Readers of tensors that are made to read others: tf.contrib.graph_editor.reroute.

Each function here changes the graph, and returns what it changed or how often.
"""

from __future__ import annotations

from stillflow.contrib.graph_editor.elements import check_graphs, get_consuming_ops, make_list_of_op, make_list_of_t
from stillflow.contrib.graph_editor.views import SubGraphView, make_view
from stillflow.graph.operation import Operation
from stillflow.names import public

# Who is made to read what: the second's readers the first, the first's the second, or both.
_FIRST, _SECOND, _BOTH = (True, False), (False, True), (True, True)


def _check_fit(first, second):
    if len(first) != len(second):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(first)} != {len(second)}")
    for a, b in zip(first, second, strict=True):
        if not a.dtype.is_compatible_with(b.dtype):
            raise ValueError(f"Dtypes {a.dtype} and {b.dtype} are not compatible.")
        if not a.shape.is_compatible_with(b.shape):
            raise ValueError(f"Shapes {a.shape} and {b.shape} are not compatible.")


def _reroute(first, second, mode, can_modify=None, cannot_modify=None):
    first, second = make_list_of_t(first), make_list_of_t(second)
    _check_fit(first, second)
    allowed = None if can_modify is None else frozenset(make_list_of_op(can_modify))
    forbidden = frozenset(() if cannot_modify is None else make_list_of_op(cannot_modify))

    def places(tensor):
        """(reader, number of its input) for each place where a tensor is read."""
        readers = dict.fromkeys(tensor.consumers())
        return [
            (op, index)
            for op in readers
            if (allowed is None or op in allowed) and op not in forbidden
            for index, source in enumerate(op.inputs)
            if source is tensor
        ]

    reads_first, reads_second = mode
    updates = []  # all of them before the first, which changes who reads what
    for a, b in zip(first, second, strict=True):
        if a is b:
            continue
        if reads_first:
            updates += [(op, index, a) for op, index in places(b)]
        if reads_second:
            updates += [(op, index, b) for op, index in places(a)]
    for op, index, tensor in updates:
        op._update_input(index, tensor)
    return len(updates)


@public("contrib.graph_editor.swap_ts", "contrib.graph_editor.reroute.swap_ts")
def swap_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Makes readers of tensors read the others, and the other way round; see `reroute_ts`."""
    return _reroute(ts0, ts1, _BOTH, can_modify, cannot_modify)


@public("contrib.graph_editor.reroute_ts", "contrib.graph_editor.reroute.reroute_ts")
def reroute_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Makes readers of the tensors `ts1` read `ts0`.

    Args:
      can_modify: the only operations to change.
      cannot_modify: operations not to change.

    Returns:
      The number of inputs that were changed. Raises ValueError for tensors that do not fit in number, type or shape.
    """
    return _reroute(ts0, ts1, _FIRST, can_modify, cannot_modify)


def _reroute_inputs(sgv0, sgv1, mode):
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    check_graphs(sgv0, sgv1)
    readers = get_consuming_ops([*sgv0.passthroughs, *sgv1.passthroughs])
    _reroute(sgv0.inputs, sgv1.inputs, mode, can_modify=[*sgv0.ops, *sgv1.ops, *readers])
    _remap_inputs(sgv0, sgv1, mode)
    return sgv0, sgv1


def _remap_inputs(sgv0, sgv1, mode):
    """Gives views the inputs that their operations now read."""
    old0, old1 = sgv0.copy(), sgv1.copy()
    gets_first, gets_second = mode
    for view, other, changes in ((sgv1, old0, gets_first), (sgv0, old1, gets_second)):
        if changes:
            view._input_ts, view._passthrough_ts = list(other._input_ts), list(other._passthrough_ts)
    for view, other, changes in ((sgv0, sgv1, gets_first), (sgv1, sgv0, gets_second)):
        if changes:  # outputs that are inputs passing through
            other._output_ts = [
                other._input_ts[view._input_ts.index(tensor)] if tensor in view._passthrough_ts else tensor
                for tensor in other._output_ts
            ]


def _reroute_outputs(sgv0, sgv1, mode):
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    check_graphs(sgv0, sgv1)
    _reroute(sgv0.outputs, sgv1.outputs, mode, cannot_modify=[*sgv0.ops, *sgv1.ops])
    return sgv0, sgv1


def _reroute_both(sgv0, sgv1, mode):
    sgv0, sgv1 = _reroute_outputs(sgv0, sgv1, mode)
    return _reroute_inputs(sgv0, sgv1, mode)


@public("contrib.graph_editor.swap_inputs", "contrib.graph_editor.reroute.swap_inputs")
def swap_inputs(sgv0, sgv1):
    """Gives two views each other's inputs."""
    return _reroute_inputs(sgv0, sgv1, _BOTH)


@public("contrib.graph_editor.reroute_inputs", "contrib.graph_editor.reroute.reroute_inputs")
def reroute_inputs(sgv0, sgv1):
    """Gives the second view the first one's inputs."""
    return _reroute_inputs(sgv0, sgv1, _FIRST)


@public("contrib.graph_editor.swap_outputs", "contrib.graph_editor.reroute.swap_outputs")
def swap_outputs(sgv0, sgv1):
    """Makes readers outside of either view's outputs read the other's."""
    return _reroute_outputs(sgv0, sgv1, _BOTH)


@public("contrib.graph_editor.reroute_outputs", "contrib.graph_editor.reroute.reroute_outputs")
def reroute_outputs(sgv0, sgv1):
    """Makes readers outside of the second view's outputs read the first one's."""
    return _reroute_outputs(sgv0, sgv1, _FIRST)


@public("contrib.graph_editor.swap_ios", "contrib.graph_editor.reroute.swap_ios")
def swap_ios(sgv0, sgv1):
    """Swaps the inputs and outputs of two views."""
    return _reroute_both(sgv0, sgv1, _BOTH)


@public("contrib.graph_editor.reroute_ios", "contrib.graph_editor.reroute.reroute_ios")
def reroute_ios(sgv0, sgv1):
    """Puts the first view where the second one is."""
    return _reroute_both(sgv0, sgv1, _FIRST)


def _check_operation(op):
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")


@public("contrib.graph_editor.remove_control_inputs", "contrib.graph_editor.reroute.remove_control_inputs")
def remove_control_inputs(op, cops):
    """Removes control dependencies of an operation. Raises ValueError for one that it does not have."""
    _check_operation(op)
    cops = make_list_of_op(cops, allow_graph=False)
    for control in cops:
        if control not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {control.name}")
    kept = [control for control in op.control_inputs if control not in cops]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


@public("contrib.graph_editor.add_control_inputs", "contrib.graph_editor.reroute.add_control_inputs")
def add_control_inputs(op, cops):
    """Adds control dependencies to an operation. Raises ValueError for one that it has."""
    _check_operation(op)
    cops = make_list_of_op(cops, allow_graph=False)
    for control in cops:
        if control in op.control_inputs:
            raise ValueError(f"{control.name} is already a control_input of {op.name}")
    op._add_control_inputs(cops)


def passthrough(tensors):
    """A view of tensors alone."""
    return SubGraphView(passthrough_ts=tensors)

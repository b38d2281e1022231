"""Automatic control dependencies: in a function, what has effects runs in any case, in program order."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.functions.branch_places import EVERYWHERE, BranchPlaces, exclude
from stillflow.functions.effects import context_around, has_effects, is_carrier
from stillflow.graph import dtypes, nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public

# What stands for a handle in the table of last users: operations that have effects but no handle, and loops.
_NO_HANDLE, _ANY_HANDLE = "no handle", "any handle"


def _is_in_loop(op):
    context = context_around(op)
    return context is not None and context.GetWhileContext() is not None


def _handle(tensor):
    """The handle that a tensor of a branch is outside of all branches."""
    while tensor._op.type == "Switch":
        tensor = tensor._op._inputs[0]
    return tensor


class AutomaticControl:
    """Orders the nodes that a function's body gets between `begin` and `end`.

    Nodes in loops are left as they are.
    """

    def __init__(self, graph):
        self._graph = graph
        self._first = graph.version
        self._returned: list = []  # nodes whose outputs the function returns
        self._must_run: list = []  # nodes
        self._places = BranchPlaces(graph.version)
        self._last_users: dict = {}  # handle -> {place: the last node there that used it}
        self._merges: dict = {}  # Switch -> the last Merge of its branches, and the node that needed it first

    def mark_as_return(self, tensor):
        """The tensor to return for `tensor`: nothing else depends on it, so that it may wait for everything."""
        result = ops.identity(tensor)
        self._returned.append(result._op)
        return result

    def end(self):
        """Adds the control dependencies; returns the operations that must run."""
        for op in self._graph.get_operations()[self._first :]:
            place = self._places.of(op)
            if _is_in_loop(op):
                continue
            if op.type == "Exit":
                if is_carrier(op):
                    self._must_run.append(op)
                    self._use(op, place, [_ANY_HANDLE])
            elif op.type not in ("Switch", "Merge"):
                self._order(op, place)
        for op in self._returned:
            if not _is_in_loop(op):
                op._wait_for(self._seen_from(self._places.of(op), self._must_run, self._graph.version))
        return self._seen_from(EVERYWHERE, self._must_run, self._graph.version)

    def _order(self, op, place):
        handles = dict.fromkeys(_handle(tensor) for tensor in op._inputs if tensor._dtype is dtypes.resource)
        if has_effects(op):
            self._must_run.append(op)
            handles = handles or {_NO_HANDLE: None}
        if not handles:
            return
        before: dict = {}
        for handle in [*handles, _ANY_HANDLE]:
            for other, last in self._last_users.get(handle, {}).items():
                if not exclude(other, place):
                    before[last] = None
        op._wait_for(self._seen_from(place, before, op._id))
        self._use(op, place, handles)

    def _use(self, op, place, handles):
        """An operation is the last user of handles: whatever comes after it there, comes after the others as well."""
        for handle in self._last_users if _ANY_HANDLE in handles else handles:
            users = self._last_users.get(handle, {})
            self._last_users[handle] = {other: last for other, last in users.items() if not place <= other}
        for handle in handles:
            self._last_users.setdefault(handle, {})[place] = op

    def _seen_from(self, place, operations, before):
        """What to wait for at a place: the operations, or the ends of branches that they are in.

        A Merge at the end of branches waits for what has not run, too. All that wait for it are at `before` or later.
        """
        found: dict = {}
        for op in operations:
            other = self._places.of(op)
            found[op if other <= place else self._merge(self._places.leave(other, place), op, before)] = None
        return list(found)

    def _merge(self, switch, op, before):
        merge, first = self._merges.get(switch, (None, 0))
        if op._id > first:  # what waits for that Merge may come before the operation
            with self._graph.control_dependencies(None):
                merge = ops.merge(switch._outputs, name="artificial_merge")[0].op
            context = switch._control_flow_context  # None for a Switch that a gradient has added
            merge._control_flow_context = None if context is None else context.outer_context
            self._merges[switch] = merge, before
        merge._wait_for([op])
        return merge


@by_mode
def control_of_graph():
    """What orders the effects of the operations that are added from now on; None where they run when called."""
    return AutomaticControl(get_default_graph())


@eager_version_of(control_of_graph)
def no_control():
    return None


@public("python.framework.auto_control_deps.AutomaticControlDependencies")
class AutomaticControlDependencies:
    """A context in which what has effects gets control dependencies in program order.

    What is returned from it goes through `mark_as_return`, and waits for all effects. Operations that are executed
    eagerly are in order without it.
    """

    def __init__(self):
        self._control: AutomaticControl | None = None
        self.ops_which_must_run: set = set()  # operations, once the context has ended

    def __enter__(self):
        self._control = control_of_graph()
        return self

    def __exit__(self, *exception):
        if self._control is not None and exception[0] is None:
            self.ops_which_must_run = set(self._control.end())

    def mark_as_return(self, tensor):
        """The tensor or composite tensor to return for `tensor`."""
        if self._control is None:
            return tensor
        return nest.map_structure(self._control.mark_as_return, tensor, expand_composites=True)


@public("python.framework.auto_control_deps.automatic_control_dependencies")
def automatic_control_dependencies(f):
    """Decorates a function whose effects are ordered, and waited for by what it returns."""

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        with AutomaticControlDependencies() as control:
            result = f(*args, **kwargs)
            return nest.map_structure(control.mark_as_return, result)

    return wrapper

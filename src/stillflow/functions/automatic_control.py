"""Automatic control dependencies: in a function, what has effects runs in any case, in program order."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.functions.effects import context_around, has_effects, is_carrier
from stillflow.graph import dtypes, nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.operation import Operation
from stillflow.names import public


def _is_in_loop(op):
    context = op._control_flow_context
    return context is not None and context.GetWhileContext() is not None


def _is_within(op, context):
    """Whether an operation is in a context, or in one inside of it."""
    around = context_around(op)
    while around is not context and around is not None:
        around = around.outer_context
    return around is context


class AutomaticControl:
    """Orders the nodes that a function's body gets between `begin` and `end`.

    Nodes in loops are left as they are.
    """

    def __init__(self, graph):
        self._graph = graph
        self._first = graph.version
        self._returned: list = []  # nodes whose outputs the function returns
        self._must_run: dict = {}  # nodes, as an ordered set
        self._last_users: dict = {}  # handle, or None for all nodes without one -> the last node that used it
        self._barrier: Operation | None = None  # the end of the last loop with effects
        self._merges: dict = {}  # handle inside of a branch -> the Merge that comes after all its users

    def mark_as_return(self, tensor):
        """The tensor to return for `tensor`: nothing else depends on it, so that it may wait for everything."""
        result = ops.identity(tensor)
        self._returned.append(result._op)
        return result

    def end(self):
        """Adds the control dependencies; returns the operations that must run."""
        for op in self._graph.get_operations()[self._first :]:
            if op.type == "Exit":
                self._order_exit(op)
            elif not _is_in_loop(op):
                self._order(op)
        for op in self._returned:
            same = [other for other in self._must_run if context_around(other) is op._control_flow_context]
            op._wait_for([other for other in same if other is not op])
        return list(self._must_run)

    def _order(self, op):
        if has_effects(op):
            self._must_run[op] = None
        if op.type == "Switch" and op._inputs[0]._dtype is dtypes.resource:
            return
        if op.type == "Merge":
            self._order_merge(op)
            return
        handles = dict.fromkeys(tensor for tensor in op._inputs if tensor._dtype is dtypes.resource)
        before: dict = {}
        if self._barrier is not None and (handles or has_effects(op)) and op._control_flow_context is None:
            before[self._barrier] = None
        for handle in handles:
            if handle._op.type == "Switch":
                self._add_merge(handle._op)
            last = self._last_users.get(handle)
            if last is not None and last._control_flow_context is op._control_flow_context:
                before[last] = None
            if handle in self._merges:
                self._merges[handle]._wait_for([op])
            self._last_users[handle] = op
        if has_effects(op) and not handles and op._control_flow_context is None:
            if None in self._last_users:
                op._wait_for([self._last_users[None]])
            self._last_users[None] = op
        op._wait_for(list(before))

    def _order_exit(self, op):
        """The end of a loop with effects, for which all waits that comes after."""
        if is_carrier(op) and context_around(op) is None:
            self._must_run[op] = None
            self._barrier = op
            self._last_users = dict.fromkeys(self._last_users, op)

    def _order_merge(self, op):
        """A Merge waits for all that must run where it is, and in branches there: it stands for it from now on."""
        context = op._control_flow_context
        before = [other for other in self._must_run if _is_within(other, context)]
        op._wait_for(before)
        for other in before:
            del self._must_run[other]
            for tensor in other._inputs:
                if tensor in self._last_users:
                    self._last_users[tensor] = op
        self._must_run[op] = None

    def _add_merge(self, switch):
        """Adds the Merge after which a handle that a branch used may be used outside again."""
        source = switch._inputs[0]
        if source._dtype is dtypes.resource and source._op.type == "Switch":
            self._add_merge(source._op)
        if switch._outputs[0] in self._merges:
            return
        merge = ops.merge(switch._outputs, name="artificial_merge")[0].op
        context = switch._control_flow_context  # None for a Switch that a gradient has added
        merge._control_flow_context = None if context is None else context.outer_context
        self._must_run[merge] = None
        if source in self._last_users:
            switch._wait_for([self._last_users[source]])
        self._last_users[source] = merge
        if source in self._merges:
            self._merges[source]._wait_for([merge])
        self._merges.update(dict.fromkeys(switch._outputs, merge))


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

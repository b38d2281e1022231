"""Loops in the body of a vectorized loop: one loop that goes on as long as it does in any round."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.shape import TensorShape
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.parallel_for.rules import has_effects, repeat, same_in_all, stacked

_NEVER_STACKED = frozenset(("Shape", "Rank", "ShapeN", "Size", "TensorArrayV3", "TensorArraySizeV3"))


class Loop:
    """A while loop as it stands in the body: for each of its variables Enter, Merge, Switch, NextIteration and Exit.

    Args:
      context: its WhileContext.
      vectorizer: the Vectorizer of what is around it.
    """

    def __init__(self, context, vectorizer):
        self.condition = context.pivot.op.inputs[0]
        self.is_of_body = self.condition.op in vectorizer
        self.outputs = [output.op.outputs[0] for output in context.loop_exits]
        self._switches = [output.op.inputs[0].op for output in self.outputs]
        self._merges = [switch.inputs[0].op for switch in self._switches]
        self._variables = [merge.inputs[0] for merge in self._merges]
        self._next = [merge.inputs[1].op for merge in self._merges]
        known = set(self._variables)
        self._constants = [
            op.outputs[0]
            for op in get_default_graph().get_operations()
            if op.type == "Enter" and op._control_flow_context is context and op.outputs[0] not in known
        ]

    @property
    def inputs(self):
        return [enter.op.inputs[0] for enter in self._variables + self._constants]

    @property
    def control_inputs(self):
        return [control for enter in self._variables + self._constants for control in enter.op.control_inputs]

    def vectorize(self, vectorizer):
        """What its outputs are for all rounds, as a loop of the graph."""
        entering = [self._enter(vectorizer, enter) for enter in self._variables]
        self._fixed = [self._enter(vectorizer, enter) for enter in self._constants]
        self._flags, is_condition_stacked = self._stacked_flags(vectorizer, entering)
        initial = [
            found.tensor if found.is_stacked or not flag else repeat(found.tensor, vectorizer.length)
            for found, flag in zip(entering, self._flags, strict=True)
        ]
        loop = self._while_any if is_condition_stacked else self._while_all
        return loop(vectorizer, initial)

    def _enter(self, vectorizer, enter):
        found = vectorizer.find(enter.op.inputs[0])
        controls = [vectorizer.find(item) for op in enter.op.control_inputs for item in (op.outputs or [op])]
        if not controls:
            return found
        waited = [getattr(item, "tensor", item) for item in controls]
        with get_default_graph().control_dependencies(waited):
            return found._replace(tensor=ops.identity(found.tensor))

    # ---- Which variables differ between rounds --------------------------------------------------------------

    def _stacked_flags(self, vectorizer, entering):
        """(for each variable whether it may differ between the rounds, whether the condition may)."""
        flags = [found.is_stacked for found in entering]
        while True:
            known = {enter: found.is_stacked for enter, found in zip(self._constants, self._fixed, strict=True)}
            for switch, merge, enter, flag in zip(self._switches, self._merges, self._variables, flags, strict=True):
                known[switch.outputs[1]] = known[merge.outputs[0]] = known[enter] = flag
                known[merge.outputs[1]] = False
            after = [
                flag or self._may_differ(vectorizer, known, node.inputs[0])
                for flag, node in zip(flags, self._next, strict=True)
            ]
            if after == flags:
                return flags, self._may_differ(vectorizer, known, self.condition)
            flags = after

    def _may_differ(self, vectorizer, known, tensor):
        pending = [tensor]
        while pending:
            current = pending[-1]
            if current in known:
                pending.pop()
                continue
            op = current.op
            if op not in vectorizer or op.type in _NEVER_STACKED:
                known[current] = False
            elif op.type == "Exit" or current is vectorizer.loop_var or has_effects(op):
                known[current] = op.type != "StackPopV2" or vectorizer.stacks.get(source_of(op.inputs[0]), False)
            else:
                missing = [item for item in op.inputs if item not in known]
                if missing:
                    pending.extend(missing)
                    continue
                known[current] = any(known[item] for item in op.inputs)
            pending.pop()
        return known[tensor]

    # ---- The two kinds of loops -----------------------------------------------------------------------------

    def _inner(self, vectorizer, values, rounds, is_partial):
        """A vectorizer for nodes in the loop, while its variables are `values`."""
        inner = vectorizer.within(rounds, is_partial)
        for switch, merge, enter, value, flag in zip(
            self._switches, self._merges, self._variables, values, self._flags, strict=True
        ):
            found = stacked(value) if flag else same_in_all(value)
            for tensor in (switch.outputs[1], merge.outputs[0], enter):
                inner.set(tensor, found)
            inner.set(merge.outputs[1], same_in_all(ops.constant(-1.0)))  # which input came: only ever waited for
        for enter, found in zip(self._constants, self._fixed, strict=True):
            inner.set(enter, found)
        return inner

    def _step(self, inner):
        """The variables after the body."""
        results = []
        for node, flag in zip(self._next, self._flags, strict=True):
            controls = [inner.find(item) for op in node.control_inputs for item in (op.outputs or [op])]
            value = inner.convert(node.inputs[0]) if flag else inner.find(node.inputs[0]).tensor
            with get_default_graph().control_dependencies([getattr(item, "tensor", item) for item in controls]):
                results.append(ops.identity(value) if controls else value)
        return results

    def _while_all(self, vectorizer, initial):
        """All rounds leave the loop together."""

        def condition(*values):
            inner = self._inner(vectorizer, values, vectorizer.rounds, vectorizer.is_partial)
            return ops.reshape(inner.find(self.condition).tensor, [])

        def body(*values):
            return self._step(self._inner(vectorizer, values, vectorizer.rounds, vectorizer.is_partial))

        values = _loop(condition, body, initial)
        return [
            stacked(value) if flag else same_in_all(value) for value, flag in zip(values, self._flags, strict=True)
        ]

    def _while_any(self, vectorizer, initial):
        """Rounds leave the loop at different times: the body runs for those that are still in it."""
        width = len(initial)
        rows = [
            tensor if flag else repeat(tensor, vectorizer.length)
            for tensor, flag in zip(initial, self._flags, strict=True)
        ]

        def going_on(values, rounds, is_partial):
            return ops.reshape(self._inner(vectorizer, values, rounds, is_partial).convert(self.condition), [-1])

        def body(active, *values):
            # The values of the rounds that were active so far, and the results of all.
            current, results = list(values[:width]), list(values[width:])
            rounds = ops.gather(vectorizer.rounds, active)
            fixed, self._fixed = self._fixed, self._rows_of(self._fixed, active)
            chosen = ops.cast(ops.reshape(ops.where(going_on(current, rounds, True)), [-1]), "int32")
            active = ops.gather(active, chosen)
            self._fixed = self._rows_of(fixed, active)
            current = [ops.gather(value, chosen) if flag else value
                      for value, flag in zip(current, self._flags, strict=True)]  # fmt: skip
            inner = self._inner(vectorizer, current, ops.gather(vectorizer.rounds, active), True)
            current = self._step(inner)
            self._fixed = fixed
            places, count = ops.expand_dims(active, 1), ops.reshape(ops.size(active), [1])
            results = [
                ops.tensor_scatter_update(result, places, value if flag else repeat(value, count))
                for result, value, flag in zip(results, current, self._flags, strict=True)
            ]
            return [active, *current, *results]

        def condition(active, *values):
            fixed, self._fixed = self._fixed, self._rows_of(self._fixed, active)
            found = going_on(values[:width], ops.gather(vectorizer.rounds, active), True)
            self._fixed = fixed
            return ops.reduce_any(found)

        numbers = ops.range(vectorizer.length[0])
        values = _loop(condition, body, [numbers, *initial, *rows])
        return [stacked(value) for value in values[1 + width :]]

    @staticmethod
    def _rows_of(fixed, active):
        """What enters the loop as a constant, for some of the rounds."""
        return [
            found._replace(tensor=ops.gather(found.tensor, active)) if found.is_stacked else found for found in fixed
        ]


def _loop(condition, body, initial):
    values = while_loop(condition, body, initial, shape_invariants=[TensorShape(None)] * len(initial))
    return list(values) if isinstance(values, (list, tuple)) else [values]


def source_of(handle):
    """The node that made a handle of a stack or an array, which loops and copies may have passed on."""
    while handle.op.type in ("Enter", "Identity"):
        handle = handle.op.inputs[0]
    return handle.op

"""The Vectorizer: for tensors of a loop's body, tensors that hold their values of all rounds."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Operation
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.parallel_for import algebra, arrays, calls, elementwise, networks, tensor_arrays
from stillflow.parallel_for.rules import (
    RULES,
    Vectorized,
    VectorizedNode,
    again,
    has_effects,
    repeat,
    same_in_all,
    stacked,
)
from stillflow.parallel_for.while_loops import Loop
from stillflow.platform import flags, logging

flags.DEFINE_bool(
    "op_conversion_fallback_to_while_loop", False, "Whether pfor runs ops that it cannot vectorize in a loop."
)
_RULES_ARE_IN = (algebra, arrays, calls, elementwise, networks, tensor_arrays)


class Vectorizer:
    """Vectorizes what was built for one round.

    Args:
      loop_var: the placeholder that stands for the round's number.
      length: a scalar int32 tensor, how many rounds there are.
      body: the set of the operations of the body.
      rounds: an int32 vector, the numbers of the rounds; by default all from 0.
      is_partial: whether `rounds` may be fewer than all, as in a loop that some rounds have left.
    """

    def __init__(self, loop_var, length, body, rounds=None, is_partial=False, config=None):
        self.loop_var = loop_var
        self.body = body
        self.length = ops.reshape(length, [1])
        self.rounds = ops.range(length) if rounds is None else rounds
        self.is_partial = is_partial
        self.config = config
        self.stacks: dict = {}  # node of a stack -> whether its elements are stacked
        self.sparse: set = set()  # parts of sparse tensors that stand for those of all rounds as one sparse tensor
        self._found = {loop_var: stacked(self.rounds)}
        self._loops: dict = {}  # context of a loop -> Loop, or None for a loop from outside

    def of_function(self, operations):
        """A vectorizer for the body of a function that is called in the body."""
        inner = Vectorizer(self.loop_var, self.length[0], set(operations), self.rounds, self.is_partial, self.config)
        inner.stacks = self.stacks
        return inner

    def within(self, rounds, is_partial):
        """A vectorizer for the rounds that are still in a loop of the body."""
        inner = Vectorizer(self.loop_var, ops.size(rounds), self.body, rounds, is_partial, self.config)
        inner.stacks = self.stacks
        return inner

    def __contains__(self, op):
        """Whether an operation was built in the body."""
        return op in self.body

    def set(self, tensor, vectorized):
        """Says what stands for a tensor."""
        self._found[tensor] = vectorized

    def convert(self, item):
        """What a result of the body is for all rounds: a tensor with a first dimension for them, or an operation."""
        if item is None:
            return None
        if isinstance(item, SparseTensor):
            return self._convert_sparse(item)
        found = self.find(item)
        if isinstance(found, Vectorized):
            return found.tensor if found.is_stacked else repeat(found.tensor, self.length)
        return found

    def find(self, item):
        """What stands for a tensor, a Vectorized, or for an operation without outputs, an Operation."""
        pending = [item]
        while pending:
            current = pending[-1]
            if current in self._found:
                pending.pop()
                continue
            node = current if isinstance(current, Operation) else current.op
            loop = self._loop_of(node)
            missing = [] if not self._is_of_body(node, loop) else self._missing(node if loop is None else loop)
            if missing:
                pending.extend(missing)
            else:
                self._convert_node(current, node, loop)
                pending.pop()
        return self._found[item]

    def _loop_of(self, node):
        """The loop that a node leaves, if that was built in the body."""
        if node.type != "Exit":
            return None
        context = node._control_flow_context
        if context not in self._loops:
            loop = Loop(context, self)
            self._loops[context] = loop if loop.is_of_body else None
        return self._loops[context]

    def _is_of_body(self, node, loop):
        return loop is not None or (node in self.body and node.type != "Exit")

    def _missing(self, node):
        """What a node needs that has not been vectorized yet."""
        needed = list(node.inputs)
        for control in node.control_inputs:
            needed.extend(control.outputs or [control])
        return [item for item in needed if item not in self._found]

    def _is_changed(self, item):
        found = self._found[item]
        return (found.tensor if isinstance(found, Vectorized) else found) is not item

    def _convert_node(self, item, node, loop):
        if not self._is_of_body(node, loop):
            self._keep(item, node)
            return
        source = node if loop is None else loop
        controls, changed = self._controls(source)
        inputs = [self._found[tensor] for tensor in source.inputs]
        graph = get_default_graph()
        waits = graph.control_dependencies([] if loop is not None else controls)
        with waits, name_scope(f"{node.name}/pfor/"):
            reduced = self.config.reduced_for(item) if self.config is not None else None
            if reduced is not None:
                tensor = self._found[reduced]
                rows = tensor.tensor if tensor.is_stacked else repeat(tensor.tensor, self.length)
                self._found[item] = same_in_all(rows)
                return
            if loop is not None:
                for tensor, vectorized in zip(loop.outputs, loop.vectorize(self), strict=True):
                    self._found[tensor] = vectorized
                return
            changed = changed or any(self._is_changed(tensor) for tensor in node.inputs)
            if not changed and not has_effects(node) and node.graph is graph:
                self._keep(item, node)
                return
            if has_effects(node) or any(vectorized.is_stacked for vectorized in inputs):
                self._apply_rule(node, inputs)
                return
            copy = again(node, [vectorized.tensor for vectorized in inputs])
            self._set_outputs(node, copy, [same_in_all(tensor) for tensor in copy.outputs])

    def _keep(self, item, node):
        if isinstance(item, Operation):
            self._found[item] = item
        for tensor in node.outputs:
            self._found.setdefault(tensor, same_in_all(tensor))

    def _controls(self, node):
        found, changed = [], False
        for control in node.control_inputs:
            for item in control.outputs or [control]:
                changed = changed or self._is_changed(item)
                new = self._found[item]
                new = new.tensor.op if isinstance(new, Vectorized) else new
                if new not in found:
                    found.append(new)
        return found, changed

    def _apply_rule(self, node, inputs):
        rule = RULES.get(node.type)
        if rule is None and flags.FLAGS.op_conversion_fallback_to_while_loop:
            logging.warn("Using a while_loop for converting %s", node.type)
            rule = networks.one_by_one
        if rule is None:
            raise ValueError(
                f"No converter defined for {node.type}\n{node}\ninputs: {[tuple(item) for item in inputs]}. "
                "\nEither add a converter or set --op_conversion_fallback_to_while_loop=True, which may run slower"
            )
        result = rule(VectorizedNode(self, node, inputs))
        if isinstance(result, Operation):
            self._set_outputs(node, result, [])
        else:
            self._set_outputs(node, None, [result] if isinstance(result, Vectorized) else result)

    def _set_outputs(self, node, new, outputs):
        if new is not None:
            self._found[node] = new
        for tensor, vectorized in zip(node.outputs, outputs, strict=True):
            self._found[tensor] = vectorized

    def _convert_sparse(self, item):
        """A sparse tensor with a first dimension for the rounds, as wide as the widest of them."""
        parts = item.indices, item.values, item.dense_shape
        if all(part in self.sparse for part in parts):
            return SparseTensor(*(self.find(part).tensor for part in parts))
        return self._restack(*(self.convert(part) for part in parts))

    def _restack(self, indices, values, shapes):
        """One sparse tensor of as many as there are rows in the parts of all."""
        count = ops.shape(values)[1]
        numbers = ops.tile(
            ops.reshape(ops.cast(ops.range(self.length[0]), indices.dtype), [-1, 1, 1]), ops.stack([1, count, 1])
        )
        indices = ops.reshape(
            ops.concat([numbers, indices], 2), ops.stack([self.length[0] * count, ops.shape(indices)[2] + 1])
        )
        shape = ops.concat([ops.cast(self.length, shapes.dtype), ops.reduce_max(shapes, axis=0)], 0)
        return SparseTensor(indices, ops.reshape(values, [-1]), shape)

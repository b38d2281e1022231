"""while_v2: a loop as a While node whose condition and body are functions."""

from __future__ import annotations

from stillflow import ops
from stillflow.functions.function import Function
from stillflow.functions.node_body import NodeBody, match_captures, names_of_bodies, results_of
from stillflow.graph import dtypes, nest
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.ops.control_flow.tensor_array import as_tensor, with_arrays
from stillflow.ops.control_flow.while_loop import as_variable, flat_invariants
from stillflow.ops.convert import convert_to_tensor

_COUNTERS = 2  # variables before those of the program: the number of rounds, and the most that there may be


def while_v2(
    cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, maximum_iterations=None, name=None,
    return_same_structure=True, back_prop=True,
):  # fmt: skip
    """What `loop_vars` are after `body` has run as long as `cond` holds. Arguments are those of tf.while_loop.

    Raises:
      TypeError: for results of another structure, or of other types than the variables.
      ValueError: for shapes that change though they must not.
    """
    values = nest.flatten(loop_vars)
    variables = [as_variable(as_tensor(value)) for value in values]
    if shape_invariants is not None:
        nest.assert_same_structure(loop_vars, shape_invariants)
    shapes = [None] * len(variables) if shape_invariants is None else nest.flatten(shape_invariants)
    invariants = flat_invariants(variables, shapes)
    with name_scope(name or "while") as scope:
        names = names_of_bodies(scope, "cond", "body")
        loop = _Loop(loop_vars, [part for value in variables for part in nest.components(value)], invariants)
        loop.add_counters(maximum_iterations)
        loop.add_condition(names[0], cond)
        loop.add_body(names[1], body)
        results = loop.add_node(scope, parallel_iterations)
        results = loop.packed(results)
    flat = nest.flatten(results, expand_composites=True)
    return results if return_same_structure or len(flat) != 1 else flat[0]


class _Loop:
    """A loop that is being built: its variables, and the bodies of its two functions."""

    def __init__(self, structure, tensors, invariants):
        self._structure, self._tensors, self._invariants = structure, tensors, invariants

    def add_counters(self, maximum_iterations):
        """Puts the number of rounds, and the most that there may be, before the variables."""
        self._has_maximum = maximum_iterations is not None
        maximum = convert_to_tensor(
            maximum_iterations if self._has_maximum else -1, dtypes.int32, name="maximum_iterations"
        )
        if maximum.shape.ndims:
            raise ValueError(f"maximum_iterations must be a scalar, saw shape: {maximum.shape}")
        self._tensors = [ops.constant(0, dtype=maximum.dtype, name="loop_counter"), maximum, *self._tensors]
        self._invariants = [TensorShape([])] * _COUNTERS + self._invariants

    def packed(self, tensors):
        """Tensors in the structure of the program's variables."""
        leaves = with_arrays(nest.flatten(self._structure, expand_composites=True), tensors)
        return nest.pack_sequence_as(self._structure, leaves, expand_composites=True)

    def _start(self, name):
        """A body with an argument for each variable."""
        graph = NodeBody(name)
        with graph.as_default():
            graph.inputs = [
                ops.placeholder(tensor.dtype.base_dtype, shape)
                for tensor, shape in zip(self._tensors, self._invariants, strict=True)
            ]
        return graph

    def add_condition(self, name, cond):
        graph = self._condition = self._start(name)
        counter, maximum, *variables = graph.inputs
        with graph.building():
            holds = convert_to_tensor(cond(*self.packed(variables)))
            if holds.shape.ndims != 0:
                holds = ops.squeeze(holds)
            if self._has_maximum:
                holds = ops.logical_and(counter < maximum, holds)
            graph.outputs = [graph.capture(holds)]

    def add_body(self, name, body):
        graph = self._body = self._start(name)
        counter, maximum, *variables = graph.inputs
        with graph.building():
            for tensor in self._condition.external_captures:
                graph.capture(tensor)
            results = body(*self.packed(variables))
            if not nest.is_nested(results):
                results = [results]
            nest.assert_same_structure(list(results), list(self._structure), expand_composites=True)
            flat = [convert_to_tensor(as_tensor(value)) for value in nest.flatten(results, expand_composites=True)]
            graph.outputs = [graph.capture(tensor) for tensor in [counter + 1, maximum, *flat]]
        self._check_results()

    def _check_results(self):
        checked = zip(self._tensors, self._invariants, self._body.outputs, strict=True)
        for before, invariant, after in list(checked)[_COUNTERS:]:
            if before.dtype.base_dtype is not after.dtype.base_dtype:
                raise TypeError(
                    f"Loop var {before.name} enters the loop with type {before.dtype.base_dtype} but has type "
                    f"{after.dtype.base_dtype} after 1 iteration."
                )
            if not after.shape.is_subtype_of(invariant):
                raise ValueError(
                    f"Input tensor '{before.name}' enters the loop with shape {before.shape}, but has shape "
                    f"{after.shape} after one iteration. To allow the shape to vary across iterations, use the "
                    "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
                )

    def add_node(self, scope, parallel_iterations):
        """Adds the node; returns its results for the program's variables."""
        bodies, graph = [self._condition, self._body], get_default_graph()
        captured = match_captures(bodies)
        results = len(self._body.outputs)
        self._body.outputs += [self._body._captures[tensor] for tensor in captured]
        shapes = [*self._invariants, *(tensor.shape for tensor in captured)]
        with control_dependencies([op for body in bodies for op in body.control_captures]):
            outputs = ops.while_op(
                [*self._tensors, *captured],
                cond=Function(self._condition.name, graph, body=self._condition),
                body=Function(self._body.name, graph, body=self._body),
                output_shapes=shapes,
                parallel_iterations=parallel_iterations,
                name=scope,
            )
        outputs[0].op._attrs["_num_original_outputs"] = results + len(captured)
        return results_of(outputs)[_COUNTERS:results]

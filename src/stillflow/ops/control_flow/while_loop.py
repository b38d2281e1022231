"""while_loop: a body that runs again and again, as long as a condition holds."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import TypeSpec
from stillflow.names import public
from stillflow.ops.control_flow.context import switch_ref_or_tensor
from stillflow.ops.control_flow.kinds import is_loop_constant
from stillflow.ops.control_flow.summaries import with_summaries
from stillflow.ops.control_flow.tensor_array import as_tensor, with_arrays
from stillflow.ops.control_flow.while_context import WhileContext
from stillflow.ops.convert import convert_to_tensor


@public("while_loop")
@by_mode
def while_loop(
    cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
    name=None, maximum_iterations=None, return_same_structure=False,
):  # fmt: skip
    """What `loop_vars` are after `body` has run as long as `cond` holds.

    Args:
      cond: a function of the variables that returns a bool scalar tensor.
      body: a function of the variables that returns them for the next round, in the same structure.
      loop_vars: a list or tuple: tensors, TensorArrays, and nested structures of them.
      shape_invariants: what is known of the variables' shapes in every round; by default what is known at first.
      parallel_iterations, swap_memory: kept on the nodes.
      back_prop: whether gradients go through the loop.
      name: the scope of the new nodes.
      maximum_iterations: an integer scalar: no more rounds than that.
      return_same_structure: whether one variable is returned in a list.

    Raises:
      TypeError: for what cannot be called, and for results of another structure.
      ValueError: without variables, and for shapes that change though they must not.

    Executed eagerly it is a loop in Python: shapes and types of the variables may change.
    """
    for function, argument in ((cond, "cond"), (body, "body")):
        if not callable(function):
            raise TypeError(f"{argument} must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    with name_scope(name, "while", nest.flatten(loop_vars)):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, name="maximum_iterations")
            if maximum_iterations.shape.rank != 0:
                raise ValueError(f"maximum_iterations must be a scalar, saw shape: {maximum_iterations.shape}")
            is_single = len(loop_vars) == 1 and not return_same_structure
            loop_vars, cond, body = _counting(loop_vars, cond, body, maximum_iterations, is_single)
            if shape_invariants is not None:
                shape_invariants = (TensorShape([]), shape_invariants[0] if is_single else shape_invariants)
        return make_loop(
            cond, body, loop_vars, shape_invariants, maximum_iterations, return_same_structure,
            parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory,
        )  # fmt: skip


@by_mode
def make_loop(
    cond, body, loop_vars, shape_invariants, maximum_iterations, return_same_structure, *, parallel_iterations,
    back_prop, swap_memory,
):  # fmt: skip
    """while_loop, in a scope of its own and with arguments that have been checked.

    With `maximum_iterations` the first of the variables is a counter, which is not returned.
    """
    if shape_invariants is not None:
        nest.assert_same_structure(loop_vars, _as_leaves(shape_invariants))
    context = WhileContext(maximum_iterations, parallel_iterations, back_prop, swap_memory)
    if context.outer_context is None:
        get_default_graph().add_to_collection(GraphKeys.WHILE_CONTEXT, context)
    result = _build(context, cond, body, loop_vars, shape_invariants)
    if maximum_iterations is not None:
        return result[1]
    return result[0] if len(nest.flatten(result)) == 1 and not return_same_structure else result


@by_mode
def counter_to(maximum):
    """What a loop that runs at most so many times counts with: (the counter, what it is compared with)."""
    return ops.constant(0, dtype=maximum.dtype.base_dtype, name="iteration_counter"), maximum


def _counting(loop_vars, cond, body, maximum, is_single):
    """Variables, condition and body with a counter, which ends the loop."""
    counter, maximum = counter_to(maximum)
    if is_single:
        return (
            (counter, loop_vars[0]),
            lambda i, variable: ops.logical_and(i < maximum, cond(variable)),
            lambda i, variable: (i + 1, body(variable)),
        )
    return (
        (counter, loop_vars),
        lambda i, variables: ops.logical_and(i < maximum, cond(*variables)),
        lambda i, variables: (i + 1, body(*variables)),
    )


def _as_leaves(shapes):
    return nest.map_structure(lambda shape: shape, shapes)


def _build(context, cond, body, loop_vars, shape_invariants):
    """Builds the loop; returns its results in the structure that the body returned."""
    variables = [as_variable(as_tensor(value)) for value in nest.flatten(loop_vars)]
    shapes = [None] * len(variables) if shape_invariants is None else nest.flatten(shape_invariants)
    invariants = flat_invariants(variables, shapes)
    graph = get_default_graph()
    tensors = [part for value in variables for part in nest.components(value)]
    tensors = [tensor if tensor._value is None else graph.capture(tensor) for tensor in tensors]
    with context:
        loop = _Building(context, loop_vars, tensors, invariants)
        loop.add_test(cond)
        result = loop.add_body(body)
        exits = loop.add_exits()
    return nest.pack_sequence_as(result, with_arrays(nest.flatten(result, True), exits), expand_composites=True)


def as_variable(value):
    """What stands for several tensors as it is, anything else as a tensor."""
    return value if isinstance(value, CompositeTensor) else convert_to_tensor(value)


def flat_invariants(variables, shapes):
    """The shapes that the tensors of a loop's variables always have; `shapes` as in `invariant_spec`."""
    specs = [_invariant_spec(variable, shape) for variable, shape in zip(variables, shapes, strict=True)]
    return [spec.shape for spec in nest.flatten(specs, expand_composites=True)]


def _invariant_spec(variable, shape):
    """The TypeSpec that a loop's variable is always of, for a TensorShape or such a specification; None for its own.

    Raises TypeError for anything else, and for the shape of what only a specification can describe.
    """
    if shape is None:
        return getattr(variable, "_type_spec", None) or TensorSpec(variable.shape, variable.dtype.base_dtype)
    if isinstance(shape, TypeSpec):
        if not shape.is_compatible_with(variable):
            raise TypeError(f"TypeSpec {shape!r} is not compatible with {variable!r}")
        return shape
    if not isinstance(shape, TensorShape):
        raise TypeError(f"Expected shape to be a TypeSpec or TensorShape, got {shape!r}")
    if not isinstance(variable, CompositeTensor):
        return TensorSpec(shape, variable.dtype)
    try:
        return variable._shape_invariant_to_type_spec(shape)
    except NotImplementedError:
        raise TypeError(
            f"To describe or constrain a {type(variable).__name__}, use a {type(variable._type_spec).__name__} "
            "instead of a TensorShape."
        ) from None


class _Building:
    """A loop that is being built, inside of its context."""

    def __init__(self, context, structure, tensors, invariants):
        self._context = context
        self._structure = structure
        context._values = {tensor.name for tensor in tensors}
        outer = context.outer_context
        if outer is not None:
            tensors = [outer.AddValue(tensor) for tensor in tensors]
        with get_default_graph().control_dependencies(None):
            enters = [context.enter(tensor, uses_shape=False) for tensor in tensors]
            for tensor in enters:
                tensor.graph.prevent_feeding(tensor)
                if outer is not None:
                    outer.AddInnerOp(tensor.op)
        self._wait_for_outer_round(enters)
        ops.apply_shape_invariants(tensors, enters, invariants)
        context.take_enters(enters)
        context._values = {tensor.name for tensor in enters}
        context._loop_enters = enters
        self._merges = [ops.merge([tensor, tensor])[0] for tensor in enters]
        context._pivot_for_pred = self._merges[0]
        self._switches: list = []

    def _wait_for_outer_round(self, enters):
        """Enters of what is constant in the loop around wait for a round of that."""
        outer, pivot = self._context.outer_context, None
        while outer is not None and pivot is None:
            pivot = outer.GetControlPivot()
            outer = outer.outer_context
        if pivot is not None:
            for tensor in enters:
                if is_loop_constant(tensor.op._inputs[0].op):
                    tensor.op._wait_for([pivot.op])

    def _packed(self, tensors):
        leaves = with_arrays(nest.flatten(self._structure, expand_composites=True), tensors)
        return nest.pack_sequence_as(self._structure, leaves, expand_composites=True)

    def add_test(self, cond):
        predicate = convert_to_tensor(cond(*self._packed(self._merges)))
        self._context._pivot = ops.loop_cond(predicate, name="LoopCond")
        self._switches = [switch_ref_or_tensor(tensor, self._context.pivot) for tensor in self._merges]

    def add_body(self, body):
        inside = [
            (ops.ref_identity if tensor[1].dtype._is_ref_dtype else ops.identity)(tensor[1])
            for tensor in self._switches
        ]
        self._context._pivot_for_body = inside[0]
        variables = self._packed(inside)
        result = with_summaries(body, *variables)
        if not nest.is_nested(result):
            result = [result]
        nest.assert_same_structure(list(variables), list(result), expand_composites=True)
        tensors = [convert_to_tensor(as_tensor(value)) for value in nest.flatten(result, expand_composites=True)]
        for merge, tensor in zip(self._merges, tensors, strict=True):
            ops.close_round(merge, tensor)
        return result

    def add_exits(self):
        exits = [ops.exit_loop(tensor[0]) for tensor in self._switches]
        self._context._loop_exits = exits
        self._context.ExitResult(exits)
        return exits

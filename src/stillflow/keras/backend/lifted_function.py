"""keras.backend.function in eager execution: a part of the graph of models, as a function of tensors."""

from __future__ import annotations

from stillflow import ops
from stillflow.eager.tensor import EagerTensor
from stillflow.graph import dtypes, nest
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import init_scope
from stillflow.graph.operation import Operation, Tensor
from stillflow.keras.backend.phases import get_graph, symbolic_learning_phase
from stillflow.ops.convert import convert_to_tensor
from stillflow.traced_functions.body import FuncGraph
from stillflow.traced_functions.concrete import ConcreteFunction
from stillflow.traced_functions.lifting import lift_to_graph
from stillflow.variables import assignments


class LiftedFunction:
    """A function of arrays: it runs copies of the nodes between tensors, and then updates.

    Args:
      inputs: tensors of the graph of models, which are fed; a number stands for the learning phase.
      outputs: tensors and variables, in a structure.
      updates: operations, and pairs of a variable and its new value.
      name: the function's name.

    Raises:
      TypeError: for updates that are no list.
      ValueError: for tensors of other graphs.
      UnliftableError: if the outputs need a placeholder that is not among the inputs.
    """

    def __init__(self, inputs, outputs, updates=None, name=None):
        updates = updates or []
        if not isinstance(updates, (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self._structure = outputs
        self.outputs = nest.flatten(outputs, expand_composites=True)
        self.inputs = [
            symbolic_learning_phase() if isinstance(each, int) else each
            for each in nest.flatten(inputs, expand_composites=True)
        ]
        updated = [part for each in updates for part in (each if isinstance(each, tuple) else [each])]
        symbolic = [each for each in (*self.inputs, *self.outputs, *updated) if _is_symbolic(each)]
        graph = get_graph()
        if any(each.graph is not graph for each in symbolic):
            raise ValueError("Unknown graph. Aborting.")
        with init_scope():
            body = FuncGraph(name or "keras_function")
        body.outer_graph = graph.outer_graph
        inputs = {id(each) for each in self.inputs}
        targets = [each for each in symbolic[len(self.inputs) :] if id(each) not in inputs]
        captured = _captures_of(graph, targets)
        known = lift_to_graph(targets, body, [*self.inputs, *(inside for _, inside in captured)])
        known = known or {each: _placeholder_of(body, each) for each in self.inputs}
        body.inputs = [known[each] for each in self.inputs]
        for outside, inside in captured:
            body.add_capture(outside, known[inside])
        self._add_results(body, known, updates)
        self._function = ConcreteFunction(body)
        self._function._num_positional_args = len(self.inputs)
        self._function._arg_keywords = []

    def _add_results(self, body, known, updates):
        with body.as_default():
            results = [body.capture(convert_to_tensor(known.get(each, each))) for each in self.outputs]
            with control_dependencies(results):
                updates = [
                    assignments.assign(each[0], known.get(each[1], each[1]))
                    if isinstance(each, tuple)
                    else known.get(each, each)
                    for each in updates
                ]
            updates = [getattr(each, "op", each) for each in updates]
            updates = [each for each in updates if each is not None]
            with control_dependencies(updates):
                body.outputs.extend(map(ops.identity, results))
        body.control_outputs.extend(updates)
        body.structured_outputs = body.outputs

    def __call__(self, inputs):
        """The values of the outputs, in a structure like theirs, for values of the inputs."""
        given = nest.flatten(inputs, expand_composites=True)
        found = self._function(*map(_value_for, self.inputs, given))
        arrays = [each.numpy() if isinstance(each, EagerTensor) else each for each in found]
        return nest.pack_sequence_as(self._structure, arrays, expand_composites=True)


def _is_symbolic(item):
    return isinstance(item, (Tensor, Operation)) and not isinstance(item, EagerTensor)


def _placeholder_of(body, tensor):
    with body.as_default():
        return ops.placeholder(tensor.dtype, tensor.shape)


def _captures_of(graph, targets):
    """[(tensor outside, tensor of the graph)] of those that operations read for the targets."""
    seen: dict = {}
    pending = [each if isinstance(each, Operation) else each.op for each in targets]
    while pending:
        op = pending.pop()
        if op not in seen:
            seen[op] = None
            pending += [*(tensor.op for tensor in op._inputs), *op._control_inputs]
    return [(outside, inside) for outside, inside in graph.captures if inside.op in seen]


def _value_for(tensor, value):
    """What is fed to a tensor. Raises ValueError for None, unless the tensor has a default."""
    if value is None:
        default = tensor.op._inputs[0].op if tensor.op.type == "PlaceholderWithDefault" else None
        if default is None or not default._op_def.constant_value:
            raise ValueError(f"You must feed a value for placeholder {tensor}")
        value = default._attrs["value"].array()
    if not isinstance(value, Tensor):
        value = bool(value) if isinstance(value, int) and tensor.dtype is dtypes.bool_ else value
        return convert_to_tensor(value, tensor.dtype)
    return value if value.dtype == tensor.dtype else ops.cast(value, tensor.dtype)

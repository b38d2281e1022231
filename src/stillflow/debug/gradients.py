"""GradientsDebugger: remembers the tensors that hold gradients, for a debugger to look up."""

from __future__ import annotations

import re
import uuid

from stillflow.autodiff.registry import RegisterGradient
from stillflow.debug.dumps.dump_dir import WatchKeyDoesNotExistInDebugDumpDirError
from stillflow.debug.dumps.element_names import parse_node_or_tensor_name
from stillflow.graph.operation import Tensor
from stillflow.names import public, public_module
from stillflow.ops.array.identity import debug_gradient_identity, debug_gradient_ref_identity
from stillflow.variables.variable import Variable

public_module("python.debug.lib.debug_gradients")

_TAG = "gradient_debug_"

_debuggers: dict = {}  # identifier -> GradientsDebugger


def _node_name(tensor, identifier):
    node, slot = parse_node_or_tensor_name(tensor.name)
    return f"{node}_{slot}/{_TAG}{identifier}"


def _parse_node_name(name):
    """(identifier of the debugger, name of the tensor) of the name of a node that `identify_gradient` has made."""
    *scopes, tensor, tag = name.split("/")
    identifier = tag.removeprefix(_TAG).partition("_")[0]
    node, _, slot = tensor.rpartition("_")
    return identifier, f"{'/'.join([*scopes, node])}:{slot}"


@public("python.debug.GradientsDebugger")
class GradientsDebugger:
    """Remembers the gradients of some tensors while tf.gradients or an optimizer builds them.

        debugger = tf_debug.GradientsDebugger()
        with debugger.watch_gradients_by_tensor_names(graph, "hidden/.*"):
            train = optimizer.minimize(loss)
        debugger.gradient_tensor("hidden/MatMul:0")

    The context is needed only if there are several debuggers.

    Args:
      y_tensor: the tensor of which gradients are taken, which says what the graph is.
    """

    def __init__(self, y_tensor=None):
        self._identifier = uuid.uuid4().hex
        self._gradients: dict = {}  # name of a tensor -> its gradient
        self._y_tensor = y_tensor
        self._graph = None if y_tensor is None else y_tensor.graph
        self._is_active = False
        _debuggers[self._identifier] = self

    @property
    def y_tensor(self):
        """The tensor of which gradients are taken, or None."""
        return self._y_tensor

    @property
    def graph(self):
        """The graph of the gradients, None until there is one."""
        return self._graph

    def __enter__(self):
        self._is_active = True
        return self

    def __exit__(self, *exception):
        self._is_active = False

    def identify_gradient(self, input_tensor):
        """A tensor equal to `input_tensor`; the gradient that flows back through it is remembered.

        Raises ValueError if there is one already, by this debugger.
        """
        name = _node_name(input_tensor, self._identifier)
        make = debug_gradient_ref_identity if input_tensor.dtype._is_ref_dtype else debug_gradient_identity
        output = make(input_tensor, name=name)
        if output.op.name != name:
            raise ValueError(f"The graph already contains an op named {name}")
        return output

    def watch_gradients_by_tensors(self, graph, tensors):
        """Remembers the gradients of tensors, one or a list. Returns the debugger, to be used as a context."""
        if not isinstance(tensors, list):
            tensors = [tensors]
        names = "|".join(f"{re.escape(tensor.name)}$" for tensor in tensors)
        return self.watch_gradients_by_tensor_names(graph, f"({names})")

    def watch_gradients_by_tensor_names(self, graph, tensor_name_regex):
        """Remembers the gradients of all tensors whose names begin with a match of a regular expression.

        What reads such a tensor reads the output of `identify_gradient` from now on.

        Returns the debugger, to be used as a context.
        """
        pattern = re.compile(tensor_name_regex)
        with graph.as_default():
            for op in graph.get_operations():
                for tensor in op.outputs:
                    if pattern.match(tensor.name):
                        readers = list(dict.fromkeys(tensor.consumers()))
                        self._redirect(readers, tensor, self.identify_gradient(tensor))
        return self

    @staticmethod
    def _redirect(readers, tensor, identified):
        for reader in readers:
            for i, read in enumerate(list(reader.inputs)):
                if read is tensor:
                    reader._update_input(i, identified)

    def register_gradient_tensor(self, x_tensor_name, gradient_tensor):
        """Remembers a gradient, if this debugger is the only one or in its context.

        Raises ValueError if it is of another graph than those before.
        """
        if len(_debuggers) != 1 and not self._is_active:
            return
        if self._graph is None:
            self._graph = gradient_tensor.graph
        elif self._graph is not gradient_tensor.graph:
            raise ValueError(
                f"The graph of the value ({gradient_tensor.graph}) is not the same as the graph {self._graph}"
            )
        self._gradients[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor):
        """The gradient of a tensor, which may be given by its name.

        Raises:
          LookupError: if none has been built.
          TypeError: for what is no tensor, variable or name.
        """
        if isinstance(x_tensor, (Tensor, Variable)):
            x_tensor = x_tensor.name
        elif not isinstance(x_tensor, str):
            raise TypeError(
                f"x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type {type(x_tensor)}"
            )
        if x_tensor not in self._gradients:
            raise LookupError(f"This GradientsDebugger has not received any gradient tensor for x-tensor {x_tensor}")
        return self._gradients[x_tensor]

    def gradient_tensors(self):
        """{name of a tensor: its gradient}."""
        return self._gradients


@public("python.debug.clear_gradient_debuggers")
def clear_gradient_debuggers():
    """Forgets all debuggers."""
    _debuggers.clear()


@RegisterGradient("DebugGradientIdentity")
@RegisterGradient("DebugGradientRefIdentity")
def _gradient(op, grad):
    identifier, name = _parse_node_name(op.name)
    _debuggers[identifier].register_gradient_tensor(name, grad)
    return grad


def gradient_values_from_dump(grad_debugger, x_tensor, dump):
    """The values of a tensor's gradient in a DebugDumpDir, [] if it was not watched.

    Raises:
      ValueError: if debugger and dump are of different graphs.
      LookupError: if no gradient of the tensor has been built.
    """
    if dump.python_graph and grad_debugger.graph and dump.python_graph is not grad_debugger.graph:
        raise ValueError(
            f"This GradientsDebugger instance has a graph ({grad_debugger.graph}) that differs from the graph of the "
            f"DebugDumpDir object ({dump.python_graph})."
        )
    node, slot = parse_node_or_tensor_name(grad_debugger.gradient_tensor(x_tensor).name)
    try:
        return dump.get_tensors(node, slot, "DebugIdentity")
    except WatchKeyDoesNotExistInDebugDumpDirError:
        return []

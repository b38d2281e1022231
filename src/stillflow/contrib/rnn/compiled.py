"""CompiledWrapper: a cell whose nodes ask to be compiled."""

from __future__ import annotations

import contextlib

from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.op_def import find
from stillflow.names import public
from stillflow.rnn.cell import RNNCell

_SCOPES = ("__xla_scope",)


class _Scopes:
    """How many scopes a graph had, and how deep the current one is."""

    def __init__(self):
        self.count = 0
        self.depth = 0


@public("xla.experimental.jit_scope", "contrib.compiler.jit.experimental_jit_scope")
@contextlib.contextmanager
def jit_scope(compile_ops=True, separate_compiled_gradients=False):
    """A scope whose nodes ask TensorFlow to compile them, for graphs that go there; here they are run as others are.

    Args:
      compile_ops: whether they do, or a function that says so of a NodeDef.
      separate_compiled_gradients: what is said of gradients.

    Raises RuntimeError where operations are executed eagerly.
    """
    require_graph(
        "xla.experimental.jit_scope is not supported when eager execution is enabled. Try use it inside tf.function."
    )
    graph = get_default_graph()
    compiles = (lambda node: bool(compile_ops(node))) if callable(compile_ops) else bool(compile_ops)
    attrs: dict = {"_XlaCompile": compiles, "_XlaSeparateCompiledGradients": bool(separate_compiled_gradients)}
    found = graph.get_collection_ref(_SCOPES)
    if not found:
        found.append(_Scopes())
    scopes = found[0]
    if scopes.depth == 0:
        attrs["_XlaScope"] = f"jit_scope_{scopes.count}".encode()
        scopes.count += 1
    scopes.depth += 1
    with graph._attr_scope_of(attrs):
        yield
    scopes.depth -= 1


@public("contrib.rnn.CompiledWrapper")
class CompiledWrapper(RNNCell):
    """A cell whose nodes ask TensorFlow to compile them.

    Args:
      cell: an RNNCell.
      compile_stateful: whether nodes with a state do so, too.
    """

    def __init__(self, cell, compile_stateful=False):
        self._cell = cell
        self._compile_stateful = compile_stateful

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        """The zero state of the cell inside."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        """(output, next state). `scope` is the variable scope that the cell inside gets."""
        with jit_scope(compile_ops=self._compile_stateful or _is_stateless):
            return self._cell(inputs, state, scope=scope)


def _is_stateless(node):
    found = find(node.op)
    return found is not None and not found.is_stateful

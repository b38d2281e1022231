"""SubGraphView: some operations of a graph, with inputs and outputs in an order of one's own."""

from __future__ import annotations

import copy

from stillflow.contrib.graph_editor.elements import (
    ListView,
    extend_unique,
    get_unique_graph,
    make_list_of_op,
    make_list_of_t,
)
from stillflow.contrib.graph_editor.selection import (
    compute_boundary_ts,
    get_name_scope_ops,
    get_walks_union_ops,
    select_ops_and_ts,
)
from stillflow.graph.graph import Graph
from stillflow.names import public


def _indices(items, tensors, may_repeat):
    """The places of tensors, or numbers, in a list. Raises ValueError for what is not there, or there twice."""
    found = [item if isinstance(item, int) else tensors.index(item) for item in items]
    for index in found:
        if not 0 <= index < len(tensors):
            raise ValueError(f"Out of [0, {len(tensors)}[ range: {index}")
    if not may_repeat and len(set(found)) != len(found):
        raise ValueError(f"Found repetition in mapping: {found}")
    return found


@public("contrib.graph_editor.SubGraphView", "contrib.graph_editor.subgraph.SubGraphView")
class SubGraphView:
    """Operations, the tensors that they read from outside and that others may read, and tensors that pass through.

    The view never changes the graph, and its `remap` methods make new views.

    Args:
      inside_ops: the operations.
      passthrough_ts: tensors that are inputs and outputs at the same time.
    """

    def __init__(self, inside_ops=(), passthrough_ts=()):
        self._ops = make_list_of_op(inside_ops)
        passing = make_list_of_t(passthrough_ts)
        members = self._ops + passing
        self._graph = get_unique_graph(members) if members else None
        inputs, outputs, inside = compute_boundary_ts(self._ops)
        own = frozenset((*inputs, *outputs, *inside))
        self._passthrough_ts = [tensor for tensor in passing if tensor not in own]
        self._input_ts = inputs + self._passthrough_ts
        self._output_ts = outputs + self._passthrough_ts

    def __copy__(self):
        found = type(self).__new__(type(self))
        found.__dict__.update(
            (name, list(value) if isinstance(value, list) else value) for name, value in self.__dict__.items()
        )
        return found

    def copy(self):
        """The same view again."""
        return copy.copy(self)

    def _assign_from(self, other):
        self.__dict__.update(other.copy().__dict__)

    def remap_default(self, remove_input_map=True, remove_output_map=True):
        """The view with its inputs and outputs as they were at first."""
        found = self.copy()
        inputs, outputs, _ = compute_boundary_ts(self._ops)
        if remove_input_map:
            found._input_ts = inputs + self._passthrough_ts
        if remove_output_map:
            found._output_ts = outputs + self._passthrough_ts
        return found

    def remap_inputs(self, new_input_indices):
        """The view with these of its inputs, in this order: numbers or tensors. ValueError for repetitions."""
        return self.remap(new_input_indices)

    def remap_outputs(self, new_output_indices):
        """The view with these of its outputs, in this order: numbers or tensors, which may repeat."""
        return self.remap(None, new_output_indices)

    def remap(self, new_input_indices=None, new_output_indices=None):
        """The view with other inputs and outputs."""
        found = self.copy()
        if new_input_indices is not None:
            chosen = _indices(new_input_indices, self._input_ts, may_repeat=False)
            found._input_ts = [self._input_ts[i] for i in chosen]
        if new_output_indices is not None:
            chosen = _indices(new_output_indices, self._output_ts, may_repeat=True)
            found._output_ts = [self._output_ts[i] for i in chosen]
        return found

    def remap_outputs_make_unique(self):
        """The view with each output once."""
        found = self.copy()
        found._output_ts = extend_unique([], self._output_ts)
        return found

    def remap_outputs_to_consumers(self):
        """The view with each output as often as it is read."""
        found = self.copy()
        unique = extend_unique([], self._output_ts)
        found._output_ts = [tensor for tensor in unique for _ in tensor.consumers()]
        return found

    def remove_unused_ops(self, control_inputs=True):
        """The view without operations that no input leads to and that lead to no output."""
        found = self.copy()
        used = frozenset(
            get_walks_union_ops(
                self.connected_inputs, self.connected_outputs, within_ops=self._ops, control_inputs=control_inputs
            )
        )
        found._ops = [op for op in self._ops if op in used]
        return found

    def find_op_by_name(self, op_name):
        """The operation of that name. Raises ValueError if there is none."""
        for op in self._ops:
            if op.name == op_name:
                return op
        raise ValueError(f"{op_name} not in subgraph.")

    def __str__(self):
        if not self:
            return "SubGraphView: empty"

        def tensor_name(tensor):
            return f"{tensor.name} *" if tensor in self._passthrough_ts else tensor.name

        lines = [f"SubGraphView (graphid={id(self._graph)}):"]
        for what, names in (
            ("ops", [op.name for op in self._ops]),
            ("inputs", list(map(tensor_name, self._input_ts))),
            ("outputs", list(map(tensor_name, self._output_ts))),
        ):
            lines += (
                [f"** {what}[{len(names)}]:", *(f"  {name}" for name in names)] if names else [f"** {what}: empty"]
            )
        return "\n".join(lines) + "\n"

    @property
    def graph(self):
        return self._graph

    @property
    def ops(self):
        return self._ops

    def op(self, op_id):
        return self._ops[op_id]

    @property
    def inputs(self):
        return ListView(self._input_ts)

    @property
    def outputs(self):
        return ListView(self._output_ts)

    @property
    def passthroughs(self):
        return ListView(self._passthrough_ts)

    @property
    def connected_inputs(self):
        """The inputs that operations read."""
        return [tensor for tensor in self._input_ts if tensor not in self._passthrough_ts]

    @property
    def connected_outputs(self):
        """The outputs of operations."""
        return [tensor for tensor in self._output_ts if tensor not in self._passthrough_ts]

    def is_passthrough(self, t):
        return t in self._passthrough_ts

    def input_index(self, t):
        """The number of an input. Raises ValueError if it is none."""
        return self._index("inputs", self._input_ts, t)

    def output_index(self, t):
        """The number of an output. Raises ValueError if it is none."""
        return self._index("outputs", self._output_ts, t)

    def _index(self, what, tensors, tensor):
        if tensor not in tensors:
            raise ValueError(f"Can't find {tensor.name} in {what} of subgraph.")
        return tensors.index(tensor)

    def consumers(self):
        """The operations outside that read outputs."""
        members = frozenset(self._ops)
        readers = (op for tensor in self._output_ts for op in tensor.consumers())
        return extend_unique([], (op for op in readers if op not in members))

    def __bool__(self):
        return self._graph is not None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass


@public("contrib.graph_editor.make_view", "contrib.graph_editor.subgraph.make_view", "contrib.graph_editor.sgv")
def make_view(*args, **kwargs):
    """A SubGraphView of what `select_ops_and_ts` finds, or the view that is given.

    Raises TypeError for what is no graph, ValueError for a view of another graph than the argument `graph`.
    """
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        view = args[0]
    else:
        view = SubGraphView(*select_ops_and_ts(*args, **kwargs))
    graph = kwargs.get("graph")
    if graph is not None and view:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        if view.graph is not graph:
            raise ValueError("Graph mismatch.")
    return view


@public("contrib.graph_editor.make_view_from_scope", "contrib.graph_editor.subgraph.make_view_from_scope")
@public("contrib.graph_editor.sgv_scope")
def make_view_from_scope(scope, graph):
    """A SubGraphView of the operations in a name scope."""
    return SubGraphView(get_name_scope_ops(graph, scope))

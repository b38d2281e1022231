"""Parts of a graph that are copied, into the same or another graph: tf.contrib.graph_editor.transform."""

from __future__ import annotations

from stillflow.contrib.graph_editor import rerouting
from stillflow.contrib.graph_editor.elements import (
    ControlOutputs,
    flatten_tree,
    get_unique_graph,
    make_placeholder_from_tensor,
    predefined_collections,
    transform_tree,
    with_slash,
)
from stillflow.contrib.graph_editor.selection import get_walks_intersection_ops
from stillflow.contrib.graph_editor.views import SubGraphView, make_view
from stillflow.graph import attr_value
from stillflow.graph.graph import Graph
from stillflow.graph.imported import add_imported_node
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public

# ---- What a Transformer calls; programs may put functions of their own in their place ---------------------------


@public("contrib.graph_editor.replace_t_with_placeholder_handler")
@public("contrib.graph_editor.transform.replace_t_with_placeholder_handler")
def replace_t_with_placeholder_handler(info, t):
    """A placeholder in place of a tensor from outside."""
    with info.graph_.as_default():
        return make_placeholder_from_tensor(t, scope=info.scope_)


@public("contrib.graph_editor.keep_t_if_possible_handler")
@public("contrib.graph_editor.transform.keep_t_if_possible_handler")
def keep_t_if_possible_handler(info, t):
    """A tensor from outside itself, or a placeholder if the copy is in another graph."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


@public("contrib.graph_editor.assign_renamed_collections_handler")
@public("contrib.graph_editor.transform.assign_renamed_collections_handler")
def assign_renamed_collections_handler(info, elem, elem_):
    """Puts a copy into the collections of what it is a copy of; the program's own are renamed as nodes are."""
    known = predefined_collections()
    for name, collection in info.collections.items():
        if any(elem is item for item in collection):
            info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


@public("contrib.graph_editor.transform_op_if_inside_handler")
@public("contrib.graph_editor.transform.transform_op_if_inside_handler")
def transform_op_if_inside_handler(info, op, keep_if_possible=True):
    """The copy of an operation; of one that is not copied itself, or None if the copy is in another graph."""
    if op in info.transformed_ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


@public("contrib.graph_editor.copy_op_handler", "contrib.graph_editor.transform.copy_op_handler")
def copy_op_handler(info, op, new_inputs, copy_shape=False, nodedef_fn=None):
    """Copies an operation without its control dependencies.

    Args:
      new_inputs: the tensors that the copy reads.
      copy_shape: whether the copy's shapes are those of the operation.
      nodedef_fn: a function that changes the copy's NodeDef.

    Returns:
      (the copy, its outputs). Raises TypeError if `new_inputs` is a bool.
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    name = info.graph_.unique_name(info.new_name(op.name))
    attrs, device = dict(op._attrs), op.device
    if nodedef_fn is not None:
        node_def = op.node_def
        node_def.name = name
        node_def = nodedef_fn(node_def)
        name, device = node_def.name, node_def.device
        attrs = {key: attr_value.from_message(value) for key, value in node_def.attr.items()}
    copied = add_imported_node(info.graph_, op._op_def, name, list(new_inputs), [], attrs, None)
    copied._set_device(device)
    if copy_shape:
        for old, new in zip(op.outputs, copied.outputs, strict=True):
            new.set_shape(old.shape)
    copied._original_op = op._original_op
    return copied, copied.outputs


# ---- Copies -------------------------------------------------------------------------------------------------------


class _Work:
    """What a Transformer knows while it copies; the names are those that handlers ask for."""

    def __init__(self, sgv, dst_graph, dst_scope, src_scope):
        self.sgv = sgv
        self.sgv_inputs_set = frozenset(sgv.inputs)
        self.ops = frozenset(sgv.ops)
        self.control_outputs = ControlOutputs(sgv.graph)
        self.graph, self.scope = sgv.graph, src_scope
        self.graph_, self.scope_ = dst_graph, dst_scope
        self.transformed_ops = {}
        self.transformed_ts = {}
        self.collections = {key: sgv.graph.get_collection(key) for key in sgv.graph.get_all_collection_keys()}
        self.tmp_cyclic_ts = []

    def new_name(self, name):
        """A name in the scope of the copy. Raises ValueError for one outside of the scope that is copied."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]


@public("contrib.graph_editor.TransformerInfo", "contrib.graph_editor.transform.TransformerInfo")
class TransformerInfo:
    """What became what when a view was copied."""

    def __init__(self, info):
        self._graph, self._scope = info.graph, info.scope
        self._graph_, self._scope_ = info.graph_, info.scope_
        self._transformed_ops, self._transformed_ts = info.transformed_ops, info.transformed_ts

    def _pairs(self, item):
        if not isinstance(item, (Operation, Tensor)):
            raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(item)}")
        return self._transformed_ops if isinstance(item, Operation) else self._transformed_ts

    def transformed(self, original, missing_fn=None):
        """The copies of operations and tensors in lists, tuples and dictionaries.

        What was not copied is None, or what `missing_fn` makes of it.
        """

        def find(item):
            missing = None if missing_fn is None else missing_fn(item)
            return self._pairs(item).get(item, missing)

        return transform_tree(original, find)

    def original(self, transformed, missing_fn=None):
        """What operations and tensors are copies of; see `transformed`."""

        def find(item):
            for old, new in self._pairs(item).items():
                if new is item:
                    return old
            return None if missing_fn is None else missing_fn(item)

        return transform_tree(transformed, find)

    def __str__(self):
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            lines.append(f"  Within graph[{id(self._graph)}]{'' if self._scope_ else ' IN-PLACE'}")
        else:
            lines.append(f"  graph[{id(self._graph)}] => graph[{id(self._graph_)}]")
        if self._scope:
            lines.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        lines.append("Operations mapping:")
        lines += [f"  {old.name} => {new.name}" for old, new in self._transformed_ops.items()]
        return "\n".join(lines) + "\n"


@public("contrib.graph_editor.Transformer", "contrib.graph_editor.transform.Transformer")
class Transformer:
    """Copies views. Its attributes are functions that say how, which may be replaced.

    transform_op_handler(info, op, new_inputs): makes (a copy, its outputs)
    assign_collections_handler(info, item, copy): puts it into collections
    transform_control_input_handler(info, op): what control dependencies on an operation are on in copies
    transform_external_input_handler(info, tensor): what is read in place of an input of the view
    transform_external_hidden_input_handler(info, tensor): what is read in place of another tensor from outside
    """

    def __init__(self):
        self.transform_op_handler = copy_op_handler
        self.transform_control_input_handler = transform_op_if_inside_handler
        self.assign_collections_handler = assign_renamed_collections_handler
        self.transform_external_input_handler = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler = keep_t_if_possible_handler
        self.transform_original_op_handler = transform_op_if_inside_handler

    def __call__(self, sgv, dst_graph, dst_scope, src_scope="", reuse_dst_scope=False):
        """Copies a view.

        Args:
          dst_graph: the graph to copy to. TypeError for what is none.
          dst_scope: the name scope of the copies; if it is taken it gets a number, unless `reuse_dst_scope`.
          src_scope: the name scope that is copied, in place of which the other stands in names.

        Returns:
          (the view of the copies, a TransformerInfo).
        """
        sgv = make_view(sgv)
        _check_graph(dst_graph)
        dst_scope = with_slash(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = with_slash(dst_graph.unique_name(dst_scope[:-1]))
        info = _Work(sgv, dst_graph, dst_scope, with_slash(src_scope))
        self._copy_ops(info)
        self._close_cycles(info)
        self._connect_control_inputs(info)
        return self._copied_view(info), TransformerInfo(info)

    def _copy_ops(self, info):
        for op in sorted(info.sgv.ops, key=lambda op: op._id):
            inputs = [self._copied_input(info, tensor, op) for tensor in op.inputs]
            copied, outputs = self.transform_op_handler(info, op, inputs)
            if copied is op:
                raise ValueError("In-place transformation not allowed.")
            info.transformed_ops[op] = copied
            self.assign_collections_handler(info, op, copied)
            for old, new in zip(op.outputs, outputs, strict=False):
                info.transformed_ts[old] = new
                self.assign_collections_handler(info, old, new)

    def _copied_input(self, info, tensor, reader):
        if tensor in info.transformed_ts:
            return info.transformed_ts[tensor]
        if tensor in info.sgv_inputs_set:
            return self.transform_external_input_handler(info, tensor)
        if tensor.op not in info.ops:
            return self.transform_external_hidden_input_handler(info, tensor)
        # In a cycle: something stands for the tensor until it is there.
        if reader.type == "Merge":
            stand_in = self._copied_input(info, reader.inputs[0], reader)
        elif tensor.op.type == "Enter":
            stand_in = self._copied_input(info, tensor.op.inputs[0], reader)
        else:
            with info.graph_.as_default():
                stand_in = make_placeholder_from_tensor(tensor, scope=info.scope_, prefix="geph_tmp")
        info.tmp_cyclic_ts.append((tensor, reader, reader.inputs.index(tensor)))
        return stand_in

    def _close_cycles(self, info):
        for tensor, reader, index in info.tmp_cyclic_ts:
            info.transformed_ops[reader]._update_input(index, info.transformed_ts[tensor])

    def _connect_control_inputs(self, info):
        for op in info.sgv.ops:
            copied = info.transformed_ops[op]
            if op._original_op is not None:
                original = self.transform_original_op_handler(info, op._original_op)
                if original is not None:
                    copied._original_op = original
            controls = [self.transform_control_input_handler(info, control) for control in op.control_inputs]
            rerouting.add_control_inputs(copied, [control for control in controls if control is not None])

    def _copied_view(self, info):
        found = SubGraphView(list(info.transformed_ops.values()))

        def indices(tensors, copied):
            copies_ = (info.transformed_ts.get(tensor) for tensor in tensors)
            return [list(copied).index(tensor) for tensor in copies_ if tensor is not None and tensor in list(copied)]

        return found.remap(indices(info.sgv.inputs, found.inputs), indices(info.sgv.outputs, found.outputs))


def _check_graph(graph):
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")


@public("contrib.graph_editor.copy", "contrib.graph_editor.transform.copy")
def copy(sgv, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Copies a view, with placeholders in place of its inputs; see Transformer."""
    sgv = make_view(sgv)
    return Transformer()(sgv, _or_own(dst_graph, sgv), dst_scope, src_scope, reuse_dst_scope)


def _or_own(graph, sgv):
    if graph is None:
        return sgv.graph
    _check_graph(graph)
    return graph


@public("contrib.graph_editor.copy_with_input_replacements")
@public("contrib.graph_editor.transform.copy_with_input_replacements")
def copy_with_input_replacements(
    sgv, replacement_ts, dst_graph=None, dst_scope="", src_scope="", reuse_dst_scope=False
):
    """Copies a view, with other tensors in place of inputs: {input: tensor}. See Transformer."""
    sgv = make_view(sgv)
    copier = Transformer()

    def replacement(info, tensor):
        return replacement_ts[tensor] if tensor in replacement_ts else keep_t_if_possible_handler(info, tensor)

    copier.transform_external_input_handler = replacement
    return copier(sgv, _or_own(dst_graph, sgv), dst_scope, src_scope, reuse_dst_scope)


@public("contrib.graph_editor.graph_replace", "contrib.graph_editor.transform.graph_replace")
def graph_replace(target_ts, replacement_ts, dst_scope="", src_scope="", reuse_dst_scope=False):
    """Targets, computed anew with some tensors replaced by others.

    Args:
      target_ts: tensors in lists, tuples and dictionaries.
      replacement_ts: {tensor: the one in its place}.
      dst_scope, src_scope, reuse_dst_scope: as for Transformer.

    Returns:
      The same structure of new tensors. Raises ValueError if no target depends on what is replaced.
    """
    targets = flatten_tree(target_ts)
    controls = ControlOutputs(get_unique_graph(targets, check_types=Tensor))
    ops = get_walks_intersection_ops(list(replacement_ts), targets, control_ios=controls)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _add_whole_loops(ops, controls)
    _, info = copy_with_input_replacements(ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope)
    return info.transformed(target_ts, lambda tensor: tensor)


def _add_whole_loops(ops, controls):
    """Adds the rest of the loops that some operations are in."""
    contexts = dict.fromkeys(op._control_flow_context for op in ops)
    known = set(ops)
    for context in contexts:
        if context is not None and context.IsWhileContext():
            enters = [tensor.op for tensor in context.loop_enters]
            exits = [tensor.op for tensor in context.loop_exits]
            for op in get_walks_intersection_ops(enters, exits, control_ios=controls):
                if op not in known:
                    known.add(op)
                    ops.append(op)

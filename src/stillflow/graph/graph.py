"""Graph: the nodes of a program, and the scopes that are in force while it is built."""

from __future__ import annotations

import contextlib
import re
import threading
from typing import ClassVar

from stillflow.graph import op_def as op_defs
from stillflow.graph import recording, scopes
from stillflow.graph.control import ControlDependencies
from stillflow.graph.elements import find_element
from stillflow.graph.operation import Operation, Tensor
from stillflow.graph.placement_scopes import PlacementScopes
from stillflow.graph.shape_inference import infer_shapes
from stillflow.names import public

_VALID_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")
_VALID_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*$")


@public("Graph")
class Graph(PlacementScopes):
    """A dataflow graph: Operations, connected by the Tensors they make and take.

    Nodes have the names, types and order that TensorFlow 1.15 gives them. A graph may grow in one thread
    while another runs it; it must not grow in two threads at a time.
    """

    executes_eagerly = False  # for tf.executing_eagerly and contexts: all else has versions, see graph.mode
    serves_eager_execution = False  # whether what is executed eagerly may add nodes that read its tensors
    takes_any_input = False  # whether operations may read tensors of other graphs
    scopes_need_names = True  # whether a name scope of None for a function with inputs is refused
    runs_one_op = False  # see eager.kernels
    versions: ClassVar[dict] = {}  # which tf.enable_control_flow_v2 sets

    def version_of(self, item):
        """What this graph has in the place of a function or class that depends on the mode; see graph.mode."""
        return self.versions.get(item, item)

    def require_nodes(self, reason, error=RuntimeError):
        """Raises `error` with the reason given where operations do not become nodes."""

    def require_values(self, reason, error=RuntimeError):
        """Raises `error` with the reason given where tensors do not have their values at once."""
        raise error(reason)

    def __init__(self):
        self._lock = threading.RLock()
        self._operations = []
        self._by_name = {}
        self._names_in_use = {}
        self._name_stacks = threading.local()
        self._device_stack = []
        self._colocation_stack = []
        self._control_stack = []
        self._control_flow_context = None
        self._collections = {}
        self._attr_scope = {}
        self._gradient_overrides = {}
        self._kernel_labels: dict = {}  # op type -> label
        self._default_original_op = None
        self._container = ""
        self._seed = None
        self._seed_rule = None
        self._further_nodes = 0  # that TensorFlow's graph has, which count in automatic seeds
        self._automatic_seeds = 0  # that were given out by the rule of TensorFlow 2
        self._finalized = False
        self._functions: dict = {}  # name -> functions.Function
        self._numbers_of_functions = 0  # see functions.numbers
        self._py_functions = []  # kept alive for the nodes that call them
        self._edits = 0  # changes of existing nodes
        self._unfeedable = set()
        self._unfetchable = set()

    # ---- Nodes ----------------------------------------------------------------------------------------------

    def create_op(
        self, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None, op_def=None,
        compute_shapes=True, compute_device=True,
    ):  # fmt: skip
        """Adds a node. `inputs` are Tensors; `attrs` maps names to values or AttrValue messages.

        `dtypes`, `input_types`, `op_def`, `compute_shapes` and `compute_device` follow from the op type and are
        accepted for compatibility.

        Raises:
          RuntimeError: for an unknown op type, or when the graph is finalized.
          TypeError: if an input is no Tensor.
          ValueError: if an input is of another graph, or shapes do not fit.
        """
        found = op_defs.find(op_type)
        if found is None:
            raise RuntimeError(f"Op type not registered '{op_type}' in binary running on this machine.")
        for index, tensor in enumerate(inputs):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"Input #{index} is not a tensor: {tensor}")
        return self._add_node(found, list(inputs), _plain_attrs(attrs or {}), name or op_type)

    def _add_node(self, op_def, inputs, attrs, name):
        """Adds a node whose inputs and attributes fit its op. A name that ends in "/" is taken as it is."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        for tensor in inputs:
            if tensor._op._graph is not self:
                raise ValueError(f"{tensor!r} must be from the same graph as {inputs[0]!r}.")
        with self._lock:
            name = _text(name, op_def.name)
            name = name[:-1] if name.endswith("/") else self.unique_name(name)
            if not _VALID_OP_NAME.match(name):
                raise ValueError(f"'{name}' is not a valid node name")
            control_inputs = self._control_inputs_for(inputs)
            op = Operation._made(self, op_def, name, len(self._operations) + 1, inputs, control_inputs, attrs)
            op._control_flow_context = self._control_flow_context
            op._original_op = self._default_original_op
            infer_shapes(op)
            self._operations.append(op)
            self._by_name[name] = op
            self._place_in_context(op)
            self._apply_scopes(op)
        recording.record(op)
        return op

    def _add_described_node(self, op, node_def, inputs, control_inputs):
        """Makes `op` a node of the graph, as a NodeDef message has it. Raises as an Operation's construction does."""
        from stillflow.graph import described

        described.add_node(self, op, node_def, inputs, control_inputs)

    def _place_in_context(self, op):
        """Makes a new node part of the branch or loop that is being built. Raises ValueError if it cannot be."""
        context = self._control_flow_context
        for tensor in op._inputs:
            source_context = tensor._op._control_flow_context
            if source_context is not None and source_context is not context:
                source_context.check_reader(tensor._op, op)
        if context is not None:
            context.AddOp(op)

    def _apply_scopes(self, op):
        """What device, colocation, attribute and container scopes say of a new node."""
        if self._attr_scope:
            for key, value in self._attr_scope.items():
                if key not in op._attrs:
                    value = value(op.node_def) if callable(value) else value
                    if value is not None:
                        op._attrs.update(_plain_attrs({key: value}))
        label = self._kernel_labels.get(op.type) if self._kernel_labels else None
        if label is not None:
            op._attrs["_kernel"] = label.encode()
        override = self._gradient_overrides.get(op.type)
        if override is not None:
            op._attrs["_gradient_op_type"] = override.encode()
        for controller in self._control_stack:
            controller.add_op(op)
        self._place(op)
        if self._container and op._op_def.is_stateful and op._attrs.get("container") == b"":
            op._attrs["container"] = self._container.encode()

    def _note_change(self):
        """Says that an existing node was changed, so that sessions plan again."""
        self._edits += 1

    @property
    def version(self):
        """A number that grows with every node."""
        return len(self._operations)

    @property
    def _last_id(self):
        """The id of the newest node: how many there are."""
        return len(self._operations)

    def get_operations(self):
        """All operations, in the order in which they were made."""
        return list(self._operations)

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The Tensor or Operation that `obj` is or names.

        Raises:
          TypeError: if `obj` is neither an element nor a name.
          ValueError: if it is of another graph, or a malformed name.
          KeyError: if nothing has that name.
        """
        return find_element(self, obj, allow_tensor, allow_operation)

    def get_operation_by_name(self, name):
        """Raises KeyError if there is no such operation, ValueError for a tensor's name."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name):
        """Raises KeyError if there is no such tensor, ValueError for an operation's name."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def finalize(self):
        """Refuses further nodes."""
        self._finalized = True

    @property
    def _c_graph(self):
        """What functions of pywrap_tensorflow are given for the graph."""
        return self

    @property
    def finalized(self):
        return self._finalized

    def _unsafe_unfinalize(self):
        self._finalized = False

    def prevent_feeding(self, tensor):
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor):
        return tensor not in self._unfeedable

    def prevent_fetching(self, op):
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op):
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    def as_graph_def(self, from_version=None, add_shapes=False):
        """The GraphDef message of the graph, or of the nodes added after `from_version`.

        With `add_shapes` every node carries what is known of its outputs' shapes.
        """
        from stillflow.graph import graph_def

        return graph_def.graph_def_message(self, from_version, add_shapes)

    _producer: int | None = None  # the version of the oldest of the graphs that were imported
    _min_consumer = 0  # and the newest that one of them asks for

    def _note_versions(self, versions):
        """Called with the VersionDef of a graph that is imported."""
        known = self.graph_def_versions.producer
        self._producer = min(versions.producer, known)
        self._min_consumer = max(versions.min_consumer, self._min_consumer)

    @property
    def graph_def_versions(self):
        """The VersionDef message that as_graph_def carries."""
        return self.as_graph_def(from_version=self.version).versions

    _building_function = False

    @property
    def building_function(self):
        """Whether it is the body of a function."""
        return self._building_function

    # ---- Seed -----------------------------------------------------------------------------------------------

    @property
    def seed(self):
        """The graph-level seed, or None."""
        return self._seed

    @seed.setter
    def seed(self, seed):
        self._seed = seed

    # ---- Names ----------------------------------------------------------------------------------------------

    def unique_name(self, name, mark_as_used=True):
        """`name` in the current scope, with "_1", "_2", ... if it is taken. Case does not tell names apart."""
        if self._name_stack:
            name = f"{self._name_stack}/{name}"
        key = name.lower()
        taken = self._names_in_use.get(key, 0)
        if mark_as_used:
            self._names_in_use[key] = taken + 1
        if taken == 0:
            return name
        base = key
        while key in self._names_in_use:
            key = f"{base}_{taken}"
            taken += 1
        if mark_as_used:
            self._names_in_use[key] = 1
        return f"{name}_{taken - 1}"

    @contextlib.contextmanager
    def name_scope(self, name):
        """Puts `name/` before the names of new nodes and yields that prefix.

        A name that ends in "/" is a prefix to return to; None or "" leaves all scopes. Raises ValueError for
        names with other characters than letters, digits and `_.-/`.
        """
        if name:
            if isinstance(name, bytes):
                name = name.decode()
            pattern = _VALID_SCOPE_NAME if self._name_stack else _VALID_OP_NAME
            if not pattern.match(name):
                raise ValueError(f"'{name}' is not a valid scope name")
        previous = self._name_stack
        if not name:
            scope = None
        elif name[-1] == "/":
            scope = name[:-1]
        else:
            scope = self.unique_name(name)
        self._name_stack = scope
        try:
            yield f"{scope}/" if scope else ""
        finally:
            self._name_stack = previous

    def get_name_scope(self):
        """The current scope, without a slash at its end: "" outside of all, None where name_scope(None) left them."""
        return self._name_stack

    # ---- Scopes ---------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def as_default(self):
        """Makes this the graph to which functions of tf.* add nodes, in this thread."""
        with scopes.graphs.with_default(self):
            yield self

    def find_function(self, name):
        """The function of that name that nodes here can call, or None."""
        return self._functions.get(name)

    def py_functions_of_bodies(self):
        """The list that keeps alive what py_func nodes in bodies of functions call: as long as this graph lives."""
        return self._py_functions

    def free_with(self, owner, handle, kind):
        """Frees a resource when `owner` goes, where operations are executed eagerly. Sessions keep theirs."""

    def control_dependencies(self, control_inputs):
        """New nodes run after these operations or tensors; None forgets those of outer scopes."""
        return ControlDependencies(self, control_inputs)

    def _control_inputs_for(self, inputs):
        if not self._control_stack:
            return []
        input_ops = {tensor._op for tensor in inputs}
        found = {}
        for controller in self._control_stack:
            if not controller.dominates(input_ops):
                found.update(dict.fromkeys(op for op in controller.control_inputs if op not in input_ops))
        return list(found)

    def _get_control_flow_context(self):
        return self._control_flow_context

    def _set_control_flow_context(self, context):
        self._control_flow_context = context

    @contextlib.contextmanager
    def container(self, container_name):
        """Stateful nodes keep their state under this name."""
        saved, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = saved

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map):
        """Nodes of the mapped op types take the gradient registered under the mapped name."""
        for key, value in op_type_map.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        saved, self._gradient_overrides = (
            self._gradient_overrides,
            {**self._gradient_overrides, **op_type_map},
        )
        try:
            yield
        finally:
            self._gradient_overrides = saved

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map):
        """Nodes of the mapped op types ask for a kernel by the mapped label, which they keep."""
        if not isinstance(op_to_kernel_label_map, dict):
            raise TypeError("op_to_kernel_label_map must be a dictionary mapping strings to strings")
        saved, self._kernel_labels = self._kernel_labels, {**self._kernel_labels, **op_to_kernel_label_map}
        try:
            yield
        finally:
            self._kernel_labels = saved

    @contextlib.contextmanager
    def _attr_scope_of(self, attr_map):
        saved, self._attr_scope = self._attr_scope, {**self._attr_scope, **attr_map}
        try:
            yield
        finally:
            self._attr_scope = saved

    @contextlib.contextmanager
    def _original_op(self, op):
        saved, self._default_original_op = self._default_original_op, op
        try:
            yield
        finally:
            self._default_original_op = saved

    # ---- Collections ----------------------------------------------------------------------------------------

    @property
    def collections(self):
        """The names of the collections."""
        return list(self._collections)

    def get_all_collection_keys(self):
        return [key for key in self._collections if isinstance(key, str)]

    def add_to_collection(self, name, value):
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        names = (names,) if isinstance(names, str) else dict.fromkeys(names)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name):
        """The list itself; changing it changes the collection."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name, scope=None):
        """A copy of the collection; with `scope`, of the items whose names match that regular expression."""
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        pattern = re.compile(scope)
        return [item for item in items if hasattr(item, "name") and pattern.match(item.name)]

    def clear_collection(self, name):
        self._collections.pop(name, None)


def _text(name, op_type):
    """The name of a node as text: as bytes too, and its type's where it is None."""
    if name is None:
        return op_type
    return name.decode() if isinstance(name, bytes) else name


def _plain_attrs(attrs):
    """Attribute values with AttrValue messages decoded."""
    if not any(hasattr(value, "WhichOneof") for value in attrs.values()):
        return dict(attrs)
    from stillflow.graph.attr_value import from_message

    return {key: from_message(v) if hasattr(v, "WhichOneof") else v for key, v in attrs.items()}

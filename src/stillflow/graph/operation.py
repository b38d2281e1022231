"""Operation and Tensor: a node of a graph, and one of its outputs."""

from __future__ import annotations

from typing import Any

from stillflow import errors
from stillflow.graph import scopes
from stillflow.graph.call_sites import call_sites, line_of
from stillflow.graph.shape import TensorShape, as_shape, merge
from stillflow.graph.shape_inference import forget, incompatible_text
from stillflow.graph.unknown_values import not_in_graphs
from stillflow.names import public
from stillflow.platform.identities import Reference


@public("Tensor")
class Tensor:
    """One output of an Operation: a symbol for a value that a session computes.

    `shape` is what is known of the value's shape while the graph is built. Tensors compare and hash by
    identity, as in TensorFlow 1, unless tf.enable_tensor_equality was called. Arithmetic operators and indexing add
    nodes to the graph.
    """

    OVERLOADABLE_OPERATORS = set(  # programs take operators out of it, as they can in TensorFlow
        "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __div__ __rdiv__ __truediv__ __rtruediv__ "
        "__floordiv__ __rfloordiv__ __mod__ __rmod__ __lt__ __le__ __gt__ __ge__ __ne__ __eq__ __and__ __rand__ "
        "__or__ __ror__ __xor__ __rxor__ __getitem__ __pow__ __rpow__ __invert__ __neg__ __abs__ __matmul__ "
        "__rmatmul__".split()
    )
    # numpy must leave `array + tensor` to the tensor.
    __array_priority__ = 100
    _value: Any = None  # an array where it is known: see eager.tensor
    _USE_EQUALITY = False  # see ops.equality
    _last_shape: Any = None
    _findings: Any = None  # what was found out of its value: see shape_inference

    def __init__(self, op, value_index, dtype):
        self._op = op
        self._value_index = value_index
        self._dtype = dtype
        self._dims = None
        self._consumers: Any = []

    @property
    def op(self):
        """The Operation that makes this tensor."""
        return self._op

    @property
    def dtype(self):
        return self._dtype

    @property
    def graph(self):
        return self._op._graph

    @property
    def name(self):
        """ "<operation name>:<index of the output>"."""
        return f"{self._op._name}:{self._value_index}"

    @property
    def _label(self):
        """The name that messages have for it, or "" for a tensor without one."""
        return self.name

    @property
    def _description(self):
        """What messages call it: its name, or of a tensor without one the shape and type."""
        return self.name

    @property
    def device(self):
        return self._op.device

    @property
    def value_index(self):
        return self._value_index

    @property
    def shape(self):
        """What is known of the shape: the same object until more is, as programs ask with `is`."""
        if self._last_shape is None or self._last_shape._dims is not self._dims:
            self._last_shape = TensorShape._of(self._dims)
        return self._last_shape

    _shape = shape

    def get_shape(self):
        return self.shape

    def _shape_tuple(self):
        return self._dims

    def _shape_as_list(self):
        return None if self._dims is None else list(self._dims)

    def _as_node_def_input(self):
        return f"{self._op._name}:{self._value_index}" if self._value_index else self._op._name

    @property
    def _rank(self):
        return None if self._dims is None else len(self._dims)

    def set_shape(self, shape):
        """Adds to what is known of the shape. Raises ValueError when that contradicts it."""
        dims = as_shape(shape)._dims
        merged = merge(self._dims, dims)
        if merged is False:
            raise ValueError(incompatible_text(self._dims, dims))
        if merged != self._dims:
            for op in self._consumers:
                op._remember_shape(self)
            self._dims = merged

    def consumers(self):
        """The Operations that take this tensor as an input, once for each input."""
        return list(self._consumers)

    def eval(self, feed_dict=None, session=None):
        """The tensor's value, computed by `session` or the default session.

        Raises:
          ValueError: without a session, or with one of another graph.
        """
        return session_for(self.graph, session, "evaluate tensor", "eval").run(self, feed_dict)

    def experimental_ref(self):
        """A hashable Reference, whose `deref()` is the tensor."""
        return Reference(self)

    ref = experimental_ref  # as later versions call it, and programs for their compat.v1

    def _as_graph_element(self):
        return self

    _as_tf_output = _as_graph_element  # for functions of pywrap_tensorflow

    def __array__(self, dtype=None, copy=None):
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array.")

    def __len__(self):
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) "
            "Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __iter__(self):
        raise not_in_graphs("iterating over `tf.Tensor`")
        yield  # a generator, as in TensorFlow: `iter(tensor)` itself is no error

    def __bool__(self):
        raise not_in_graphs("using a `tf.Tensor` as a Python `bool`")

    def __nonzero__(self):  # Python 2's name, which programs overload together with the operators
        return self.__bool__()

    def __copy__(self):
        result = type(self).__new__(type(self))
        result.__dict__.update(self.__dict__)
        return result

    @staticmethod
    def _override_operator(operator, function):
        if operator not in Tensor.OVERLOADABLE_OPERATORS:
            raise ValueError(f"{operator} cannot be overridden")
        setattr(Tensor, operator, function)

    def __str__(self):
        shape = "" if self._dims is None else f", shape={self.shape}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self._dtype.name}{device})'

    def __repr__(self):
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self._dtype.name}>"


@public("Operation")
class Operation:
    """A node of a graph, mostly made by `Graph.create_op`.

    Args:
      node_def: a NodeDef message: the op, the name, the device, and attributes where they are not the default.
      g: the graph that the node is added to.
      inputs: its input tensors.
      output_types, input_types, op_def: follow from the op.
      control_inputs: operations, or tensors of them, that are to run before.
      original_op: the operation that it was made for.

    Raises:
      TypeError: if `node_def` is no NodeDef, `g` no graph, or an input no tensor.
      ValueError: for a name that is not valid or taken, an op that is not known, and shapes that do not fit.
    """

    _early_shapes: dict | None = None  # plain shapes of inputs of which more became known after the node was made
    _device_scopes: tuple = ()  # that were in force when it was made, the outermost first, and colocations
    _colocations: tuple = ()
    _captured: Tensor | None = None  # what an argument of a function stands for, if the function itself took it

    def __init__(
        self, node_def, g, inputs=None, output_types=None, control_inputs=None, input_types=None, original_op=None,
        op_def=None,
    ):  # fmt: skip
        if not hasattr(g, "_add_described_node"):
            raise TypeError(f"g needs to be a Graph: {g}")
        g._add_described_node(self, node_def, inputs or [], control_inputs or [])
        self._original_op = original_op

    @classmethod
    def _made(cls, *args):
        """A node of these parts, which are `_set_up`'s."""
        op = cls.__new__(cls)
        op._set_up(*args)
        return op

    def _set_up(self, graph, op_def, name, node_id, inputs, control_inputs, attrs):
        self._graph = graph
        self._op_def = op_def
        self._name = name
        self._id = node_id
        self._inputs = inputs
        self._control_inputs = control_inputs
        self._control_outputs = []
        self._attrs = attrs
        self._device = ""
        self._original_op = None
        self._control_flow_context = None
        self._call_sites = call_sites()
        self._outputs = [Tensor(self, index, dtype) for index, dtype in enumerate(op_def.output_dtypes(attrs))]
        for tensor in inputs:
            tensor._consumers.append(self)
        for op in control_inputs:
            op._control_outputs.append(self)

    @property
    def name(self):
        return self._name

    @property
    def type(self):
        """The op type, such as "MatMul"."""
        return self._op_def.name

    @property
    def graph(self):
        return self._graph

    @property
    def inputs(self):
        return list(self._inputs)

    @property
    def outputs(self):
        return list(self._outputs)

    @property
    def control_inputs(self):
        return list(self._control_inputs)

    @property
    def _control_outputs_list(self):
        return list(self._control_outputs)

    @property
    def device(self):
        return self._device

    @property
    def _output_types(self):
        return [tensor._dtype for tensor in self._outputs]

    @property
    def _input_types(self):
        return [tensor._dtype for tensor in self._inputs]

    def values(self):
        return tuple(self._outputs)

    @property
    def op_def(self):
        """The OpDef message."""
        from stillflow.graph import graph_def

        return graph_def.op_def_message(self._op_def)

    @property
    def node_def(self):
        """The NodeDef message."""
        from stillflow.graph import graph_def

        return graph_def.node_def_message(self)

    def get_attr(self, name):
        """An attribute's value: int, float, bool, bytes, DType, list, or a message for shapes and tensors.

        Raises:
          ValueError: if the node has no such attribute.
        """
        if name not in self._attrs:
            raise ValueError(f"Operation '{self._name}' has no attr named '{name}'.")
        from stillflow.graph.attr_value import as_given_out

        return as_given_out(self._attrs[name])

    def _set_attr(self, name, value):
        if hasattr(value, "WhichOneof"):
            from stillflow.graph.attr_value import from_message

            value = from_message(value)
        self._attrs[name] = value
        self._graph._note_change()

    def _clear_attr(self, name):
        self._attrs.pop(name, None)
        self._graph._note_change()

    def colocation_groups(self):
        """The names, as b"loc:@name", of the nodes this one is placed with; its own when there are none."""
        groups = [group for group in self._attrs.get("_class", ()) if group.startswith(b"loc:@")]
        return groups or [b"loc:@" + self._name.encode()]

    def _set_device(self, device):
        from stillflow.graph.device import name_as_given

        self._device = name_as_given(device)

    def _add_control_input(self, op):
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops):
        self._wait_for(ops)
        self._graph._note_change()

    def _wait_for(self, ops):
        """Adds control inputs to a node that is being made."""
        for op in ops:
            if op not in self._control_inputs:
                self._control_inputs.append(op)
                op._control_outputs.append(self)

    def _remove_all_control_inputs(self):
        self._wait_for_nothing()
        self._graph._note_change()

    def _wait_for_nothing(self):
        """Takes the control inputs from a node that is being made."""
        for op in self._control_inputs:
            op._control_outputs.remove(self)
        self._control_inputs = []

    def _remember_shape(self, tensor):
        """Called before more becomes known of an input's shape."""
        if self._early_shapes is None:
            self._early_shapes = {}
        self._early_shapes.setdefault(tensor, tensor._dims)

    def _update_input(self, index, tensor):
        """Gives the operation another input.

        Raises:
          ValueError: if the tensor is of another graph.
          OutOfRangeError: if there is no such input.
          InvalidArgumentError: if the shapes of the inputs contradict each other.
        """
        if tensor.graph is not self._graph:
            raise ValueError(f"{tensor!r} must be from the same graph as {self!r}.")
        if index >= len(self._inputs):
            raise errors.OutOfRangeError(
                None, None,
                f"Cannot update edge. Input index [{index}] is greater than the number of total inputs "
                f"[{len(self._inputs)}].",
            )  # fmt: skip
        before = self._inputs[index]._dims
        if merge(tensor._dims, before) is False:
            raise errors.InvalidArgumentError(
                None, None, f"Cannot update edge, incompatible shapes: {_text(tensor._dims)} and {_text(before)}."
            )
        self._reconnect(index, tensor)
        self._graph._note_change()
        forget(self)

    def _reconnect(self, index, tensor):
        """Gives a node that is being made another input."""
        self._inputs[index]._consumers.remove(self)
        self._inputs[index] = tensor
        tensor._consumers.append(self)

    def _get_control_flow_context(self):
        return self._control_flow_context

    def _set_control_flow_context(self, context):
        self._control_flow_context = context

    @property
    def traceback(self):
        """[(file, line, function, source line)] of the calls that made this node, outermost first."""
        import linecache

        sites = [(code, line_of(code, instruction)) for code, instruction in self._call_sites]
        return [
            (code.co_filename, line, code.co_name, linecache.getline(code.co_filename, line).strip())
            for code, line in sites
        ]

    @property
    def _device_assignments(self):
        """The devices of the scopes that it was made in, and where these were entered, the innermost first."""
        return [scope.entered for scope in reversed(self._device_scopes)]

    @property
    def _colocation_dict(self):
        """{name of an operation that it is placed with: where the program says so}"""
        return {scope.op.name: scope.entered for scope in self._colocations}

    @property
    def traceback_with_start_lines(self):
        """`traceback` with the first line of each function besides."""
        lines = [code.co_firstlineno for code, _ in self._call_sites]
        return [(*site, line) for site, line in zip(self.traceback, lines, strict=True)]

    @property
    def described(self):
        """What error messages call this operation: its name, and where it was made."""
        sites = self.traceback
        where = f" (defined at {sites[-1][0]}:{sites[-1][1]}) " if sites else ""
        return f"node {self.name}{where}"

    def located(self, message):
        """What an error in this operation says: which node it is, and where it was made."""
        if self._graph.runs_one_op:
            return f"{message} [Op:{self.type}]"
        sites = self.traceback
        text = f"{message}\n\t [[{self.described}]]"
        if sites:
            import traceback

            lines = "".join(traceback.format_list(sites))
            text += f"\n\nOriginal stack trace for '{self.name}':\n{lines}"
        return text

    def run(self, feed_dict=None, session=None):
        """Runs this operation in `session` or the default session. Raises ValueError without one."""
        session_for(self._graph, session, "execute operation", "run").run(self, feed_dict)

    def _as_graph_element(self):
        return self

    def __str__(self):
        return str(self.node_def)

    def __repr__(self):
        return f"<tf.Operation '{self._name}' type={self.type}>"


def _text(dims):
    """A plain shape as TensorFlow's C++ writes it."""
    return str(list(dims)).replace("None", "?").replace(" ", "")


def session_for(graph, session, action, method):
    if session is None:
        session = scopes.get_default_session()
        if session is None:
            colon = ":" if method == "run" else ""  # TensorFlow's two messages differ
            raise ValueError(
                f"Cannot {action} using `{method}()`: No default session is registered. "
                f"Use `with sess.as_default(){colon}` or pass an explicit session to `{method}(session=sess)`"
            )
        if session.graph is not graph:
            raise ValueError(
                f"Cannot use the default session to {action}: the {action.split()[-1]}'s graph is different from "
                f"the session's graph. Pass an explicit session to `{method}(session=sess)`."
            )
    elif session.graph is not graph:
        raise ValueError(
            f"Cannot use the given session to {action}: the {action.split()[-1]}'s graph is different from the "
            "session's graph."
        )
    return session

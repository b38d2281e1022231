"""TensorArrays: lists of tensors that a run writes and reads, one element or all of them at a time."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import MadeByMode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, as_shape, merge
from stillflow.graph.shape_inference import ShapeError, constant_value
from stillflow.graph.shape_inference import incompatible_text as incompatible
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

tensor_array_v3 = define_op(
    "TensorArrayV3(size: int32) -> (handle: resource, flow: float32)",
    "dtype: type; element_shape: shape = unknown; dynamic_size: bool = false; clear_after_read: bool = true; "
    "identical_element_shapes: bool = false; tensor_array_name: string = ''",
    kernel="tensor_array(size | dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes, "
    "tensor_array_name)",
    stateful=True,
    differentiable=False,
)
tensor_array_grad_v3 = define_op(
    "TensorArrayGradV3(handle: resource, flow_in: float32) -> (grad_handle: resource, flow_out: float32)",
    "source: string",
    kernel="tensor_array_grad(handle, flow_in | source)",
    stateful=True,
    differentiable=False,
)
tensor_array_grad_with_shape = define_op(
    "TensorArrayGradWithShape(handle: resource, flow_in: float32, shape_to_prepend: int32) -> "
    "(grad_handle: resource, flow_out: float32)",
    "source: string",
    kernel="tensor_array_grad_with_shape(handle, flow_in, shape_to_prepend | source)",
    stateful=True,
    differentiable=False,
)
tensor_array_write_v3 = define_op(
    "TensorArrayWriteV3(handle: resource, index: int32, value: T, flow_in: float32) -> (flow_out: float32)",
    "T: type",
    kernel="tensor_array_write(handle, index, value, flow_in)",
    stateful=True,
)
tensor_array_read_v3 = define_op(
    "TensorArrayReadV3(handle: resource, index: int32, flow_in: float32) -> (value: dtype)",
    "dtype: type",
    kernel="tensor_array_read(handle, index | dtype)",
    stateful=True,
)
tensor_array_gather_v3 = define_op(
    "TensorArrayGatherV3(handle: resource, indices: int32, flow_in: float32) -> (value: dtype)",
    "dtype: type; element_shape: shape = unknown",
    kernel="tensor_array_gather(handle, indices | dtype, element_shape)",
    stateful=True,
)
tensor_array_scatter_v3 = define_op(
    "TensorArrayScatterV3(handle: resource, indices: int32, value: T, flow_in: float32) -> (flow_out: float32)",
    "T: type",
    kernel="tensor_array_scatter(handle, indices, value, flow_in)",
    stateful=True,
)
tensor_array_concat_v3 = define_op(
    "TensorArrayConcatV3(handle: resource, flow_in: float32) -> (value: dtype, lengths: int64)",
    "dtype: type; element_shape_except0: shape = unknown",
    kernel="tensor_array_concat(handle | dtype, element_shape_except0)",
    stateful=True,
)
tensor_array_split_v3 = define_op(
    "TensorArraySplitV3(handle: resource, value: T, lengths: int64, flow_in: float32) -> (flow_out: float32)",
    "T: type",
    kernel="tensor_array_split(handle, value, lengths, flow_in)",
    stateful=True,
)
tensor_array_size_v3 = define_op(
    "TensorArraySizeV3(handle: resource, flow_in: float32) -> (size: int32)",
    kernel="tensor_array_size(handle)",
    stateful=True,
    differentiable=False,
)
tensor_array_close_v3 = define_op(
    "TensorArrayCloseV3(handle: resource) -> ()",
    kernel="tensor_array_close(handle)",
    stateful=True,
    differentiable=False,
)


# ---- Shapes -------------------------------------------------------------------------------------------------


@tensor_array_v3.shape_rule
@tensor_array_grad_v3.shape_rule
@tensor_array_grad_with_shape.shape_rule
def _(context):
    return [(2,), ()]


def _element(context):
    """What the array says of its elements' shape; False if it says nothing."""
    maker = context.handle(0)._op
    while maker.type in ("Enter", "Identity"):
        maker = maker._inputs[0]._op
    if maker._op_def is tensor_array_grad_with_shape:
        return False
    attrs = context.handle_attrs(0)
    shape = attrs.get("element_shape")
    if shape is None or not (attrs.get("identical_element_shapes") or shape.is_fully_defined()):
        return False
    return shape._dims


def _checked(found, wanted):
    if wanted is not False and merge(found, wanted) is False:
        raise ShapeError(incompatible(wanted, found))


@tensor_array_write_v3.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 0)
    _checked(context.shapes[2], _element(context))
    return ()


@tensor_array_read_v3.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 0)
    return _element(context) or (() if _element(context) == () else None)


@tensor_array_gather_v3.shape_rule
def _(context):
    indices, element = plain.with_rank(context.shapes[1], 1), _element(context)
    return plain.joined(indices, context.attrs["element_shape"]._dims if element is False else element)


@tensor_array_scatter_v3.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 1)
    value = plain.with_rank_at_least(context.shapes[2], 1)
    _checked(None if value is None else value[1:], _element(context))
    return ()


@tensor_array_concat_v3.shape_rule
def _(context):
    return [None, (None,)]


@tensor_array_split_v3.shape_rule
@tensor_array_size_v3.shape_rule
def _(context):
    return ()


# ---- Functions ----------------------------------------------------------------------------------------------


@public("TensorArray")
class TensorArray(metaclass=MadeByMode):
    """A list of tensors of one type, mostly for loops: each element is written once, and read.

    What changes the list returns it anew: later uses take that, so that they come after. Gradients go through it.

    Args:
      dtype: the elements' type.
      size: how many there are at first, an int32 scalar.
      dynamic_size: whether writing beyond the end makes it longer.
      clear_after_read: whether an element is given up when it has been read; True by default.
      tensor_array_name: a name for messages.
      handle, flow: those of an existing array, instead of a size.
      infer_shape: whether all elements have one shape, which is found out from what is written.
      element_shape: what is known of the elements' shapes.
      colocate_with_first_write_call: whether its nodes are placed with what is written first.
      name: the name of the node.

    Raises:
      ValueError: for arguments that do not go together.
      TypeError: for a handle that is no tensor.
    """

    def __init__(
        self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
        flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None,
    ):  # fmt: skip
        _check_arguments(handle, size, tensor_array_name, element_shape, dynamic_size, clear_after_read)
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._infer_shape = infer_shape
        self._is_colocated = colocate_with_first_write_call
        self._colocate_with: list = []  # what was written first; shared with the arrays that follow
        self._element_shape = [as_shape(element_shape)]  # shared, too
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                if flow is None:
                    raise ValueError("flow must not be None if handle is not None.")
                self._handle, self._flow = handle, flow
                return
            graph = get_default_graph()
            with contextlib.ExitStack() as where:
                if colocate_with_first_write_call:
                    where.enter_context(graph.device(None))
                    where.enter_context(graph.colocate_with(None, ignore_existing=True))
                self._handle, self._flow = ops.tensor_array_v3(
                    dtype=dtype, size=size, element_shape=TensorShape(element_shape),
                    identical_element_shapes=infer_shape, dynamic_size=self._dynamic_size,
                    clear_after_read=True if clear_after_read is None else clear_after_read,
                    tensor_array_name=tensor_array_name, name=scope,
                )  # fmt: skip

    def _followed_by(self, flow):
        """The array after a change."""
        array = TensorArray(
            self._dtype, handle=self._handle, flow=flow, infer_shape=self._infer_shape,
            colocate_with_first_write_call=self._is_colocated,
        )  # fmt: skip
        array._dynamic_size = self._dynamic_size
        array._colocate_with = self._colocate_with
        array._element_shape = self._element_shape
        return array

    @property
    def flow(self):
        """A tensor that stands for all that was written."""
        return self._flow

    @property
    def dtype(self):
        return self._dtype

    @property
    def handle(self):
        return self._handle

    @property
    def element_shape(self):
        """What is known of the elements' shapes."""
        return self._element_shape[0]

    @property
    def dynamic_size(self):
        return self._dynamic_size

    def _take_element_shape(self, shape):
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} ")
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(shape)

    def _placed_with(self, value):
        if not self._is_colocated:
            return contextlib.nullcontext()
        if not self._colocate_with:
            self._colocate_with.append(value)
        return get_default_graph().colocate_with(self._colocate_with[0].op)

    def identity(self):
        """The same array, after what the control dependencies in force say."""
        return self._followed_by(ops.identity(self._flow))

    def grad(self, source, flow=None, name=None):
        """The array of the gradients of this array's elements, for the gradients that `source` names."""
        flow = self.flow if flow is None else flow
        graph = get_default_graph()
        with name_scope(name, "TensorArrayGrad", [self._handle]), graph.colocate_with(self._handle.op):
            handle, _ = ops.tensor_array_grad_v3(handle=self._handle, source=source, flow_in=flow, name=name)
            with graph.control_dependencies([handle]):
                flow = ops.identity(flow, name="gradient_flow")
            array = TensorArray(
                self._dtype, handle=handle, flow=flow, infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )  # fmt: skip
            array._element_shape = self._element_shape
            return array

    def read(self, index, name=None):
        """The element at `index`."""
        value = ops.tensor_array_read_v3(
            handle=self._handle, index=index, flow_in=self._flow, dtype=self._dtype, name=name
        )
        value.set_shape(self.element_shape)
        return value

    def write(self, index, value, name=None):
        """The array with `value` at `index`. Raises ValueError for a value of another shape."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._as_value(value)
            self._take_element_shape(value.shape)
            with self._placed_with(value):
                flow = ops.tensor_array_write_v3(
                    handle=self._handle, index=index, value=value, flow_in=self._flow, name=name
                )
            return self._followed_by(flow)

    def _as_value(self, value):
        return convert_to_tensor(value, preferred_dtype=self._dtype, name="value")

    def stack(self, name=None):
        """All elements as one tensor, side by side along a new first dimension."""
        with get_default_graph().colocate_with(self._handle.op), name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(ops.range(0, self.size()), name=name)

    def gather(self, indices, name=None):
        """The elements at `indices`, an int32 vector, side by side along a new first dimension."""
        value = ops.tensor_array_gather_v3(
            handle=self._handle, indices=indices, flow_in=self._flow, dtype=self._dtype, name=name,
            element_shape=self.element_shape,
        )  # fmt: skip
        if self.element_shape.rank is not None:
            value.set_shape([None, *self.element_shape.as_list()])
        return value

    def concat(self, name=None):
        """All elements as one tensor, one after the other along their first dimension."""
        element = self.element_shape
        value, _ = ops.tensor_array_concat_v3(
            handle=self._handle, flow_in=self._flow, dtype=self._dtype, name=name,
            element_shape_except0=element[1:] if element.rank is not None else element,
        )  # fmt: skip
        if element.rank is not None:
            value.set_shape([None, *element.as_list()[1:]])
        return value

    def unstack(self, value, name=None):
        """The array with the parts of `value` along its first dimension as elements."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = ops.shape(value)[0]
            return self.scatter(indices=ops.range(0, count), value=value, name=name)

    def scatter(self, indices, value, name=None):
        """The array with the parts of `value` along its first dimension at `indices`, an int32 vector."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._as_value(value)
            self._take_element_shape(value.shape[1:] if value.shape.rank is not None else value.shape)
            with self._placed_with(value):
                flow = ops.tensor_array_scatter_v3(
                    handle=self._handle, indices=indices, value=value, flow_in=self._flow, name=name
                )
            return self._followed_by(flow)

    def split(self, value, lengths, name=None):
        """The array with `value` cut along its first dimension: elements of so many rows each."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert_to_tensor(value, dtype=self._dtype, name="value")
            with self._placed_with(value):
                lengths = ops.cast(lengths, dtypes.int64)
                known = constant_value(lengths)
                if value.shape.rank is not None and known is not None and known.ndim and known.max() == known.min():
                    self._take_element_shape(TensorShape([int(known[0]), *value.shape.as_list()[1:]]))
                flow = ops.tensor_array_split_v3(
                    handle=self._handle, value=value, lengths=lengths, flow_in=self._flow, name=name
                )
            return self._followed_by(flow)

    def size(self, name=None):
        """The number of elements."""
        return ops.tensor_array_size_v3(handle=self._handle, flow_in=self.flow, name=name)

    def close(self, name=None):
        """An operation that gives the elements up."""
        return ops.tensor_array_close_v3(handle=self._handle, name=name)


def _check_arguments(handle, size, tensor_array_name, element_shape, dynamic_size, clear_after_read):
    if handle is None:
        if size is None:
            raise ValueError("Size must be provided if handle is not provided")
        return
    if tensor_array_name:
        raise ValueError("Cannot construct with both handle and tensor_array_name")
    if not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    given = {
        "size": size, "element_shape": element_shape, "dynamic_size": dynamic_size,
        "clear_after_read": clear_after_read,
    }  # fmt: skip
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"Cannot provide both a handle and {name} at the same time")


# ---- As variables of loops and results of branches --------------------------------------------------------------


def as_tensor(value):
    """The flow of a TensorArray; anything else as it is."""
    return value.flow if isinstance(value, TensorArray) else value


def with_arrays(values, tensors):
    """The tensors, with TensorArrays in the place of flows where `values` has TensorArrays."""
    return [
        value._followed_by(tensor) if isinstance(value, TensorArray) else tensor
        for value, tensor in zip(values, tensors, strict=True)
    ]


# ---- Gradients ----------------------------------------------------------------------------------------------


def _gradient_array(op, flow, dtype, where):
    """The array of gradients that belongs to an op's array, for the call of tf.gradients that `where` is made by."""
    array = TensorArray(dtype, handle=op._inputs[0], flow=flow, colocate_with_first_write_call=False)
    return array.grad(_source(where), flow)


def _source(tensor):
    """The scope of the call of tf.gradients."""
    parts = tensor.name.split("/")
    places = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not places:
        raise ValueError(
            f"Expected op/tensor name to start with gradients (excluding scope), got: {tensor.name}. Calls to "
            "tf.gradients through a TensorArray must have names that start with 'gradients'."
        )
    return "/".join(parts[: places[-1] + 1])


@tensor_array_read_v3.gradient
def _(op, grad):
    _, index, flow = op._inputs
    return None, None, _gradient_array(op, flow, op._attrs["dtype"], grad).write(index, grad).flow


@tensor_array_write_v3.gradient
def _(op, flow):
    return None, None, _gradient_array(op, flow, op._attrs["T"], flow).read(op._inputs[1]), flow


@tensor_array_gather_v3.gradient
def _(op, grad):
    _, indices, flow = op._inputs
    return None, None, _gradient_array(op, flow, op._attrs["dtype"], grad).scatter(indices, grad).flow


@tensor_array_scatter_v3.gradient
def _(op, flow):
    return None, None, _gradient_array(op, flow, op._attrs["T"], flow).gather(op._inputs[1]), flow


@tensor_array_concat_v3.gradient
def _(op, grad, _):
    array = _gradient_array(op, op._inputs[1], op._attrs["dtype"], grad)
    return None, array.split(grad, lengths=op._outputs[1]).flow


@tensor_array_split_v3.gradient
def _(op, flow):
    return None, _gradient_array(op, flow, op._attrs["T"], flow).concat(), None, flow

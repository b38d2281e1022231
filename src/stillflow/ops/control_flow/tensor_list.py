"""TensorLists: lists of tensors as values, under the TensorArrays of functions. The shape of elements is a tensor."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, dimension_value, merge
from stillflow.graph.shape_inference import ShapeError, incompatible_text, partial_value, value_as_dims
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

_TYPE = "element_dtype: type"
_SHAPED = f"{_TYPE}; shape_type: {{int32, int64}}"

empty_tensor_list_op = define_op(
    "EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> (handle: variant)",
    _SHAPED,
    kernel="empty_tensor_list(element_shape, max_num_elements | element_dtype)",
    differentiable=None,
)
tensor_list_reserve_op = define_op(
    "TensorListReserve(element_shape: shape_type, num_elements: int32) -> (handle: variant)",
    _SHAPED,
    kernel="tensor_list_reserve(element_shape, num_elements | element_dtype)",
    differentiable=None,
)
tensor_list_length = define_op(
    "TensorListLength(input_handle: variant) -> (length: int32)",
    kernel="tensor_list_length(input_handle)",
    differentiable=False,
    public="python.ops.list_ops.tensor_list_length",
    doc="How many elements a list has.",
)
tensor_list_element_shape = define_op(
    "TensorListElementShape(input_handle: variant) -> (element_shape: shape_type)",
    "shape_type: {int32, int64}",
    kernel="tensor_list_element_shape(input_handle | shape_type)",
    differentiable=False,
    public="python.ops.list_ops.tensor_list_element_shape",
    doc="The shape of a list's elements: -1 for what is unknown.",
)
tensor_list_resize = define_op(
    "TensorListResize(input_handle: variant, size: int32) -> (output_handle: variant)",
    kernel="tensor_list_resize(input_handle, size)",
    stateful=True,
    public="python.ops.list_ops.tensor_list_resize",
    doc="A list cut or filled up, with elements that are not set, to a size.",
)
tensor_list_push_back = define_op(
    "TensorListPushBack(input_handle: variant, tensor: element_dtype) -> (output_handle: variant)",
    _TYPE,
    kernel="tensor_list_push_back(input_handle, tensor | element_dtype)",
    public="python.ops.list_ops.tensor_list_push_back",
    doc="A list with one more element.",
)
tensor_list_push_back_batch = define_op(
    "TensorListPushBackBatch(input_handles: variant, tensor: element_dtype) -> (output_handles: variant)",
    _TYPE,
    kernel="tensor_list_push_back_batch(input_handles, tensor | element_dtype)",
    differentiable=False,
    public="python.ops.list_ops.tensor_list_push_back_batch",
    doc="Lists, each with one more element: its part of a tensor along the first dimensions.",
)
tensor_list_pop_back_op = define_op(
    "TensorListPopBack(input_handle: variant, element_shape: int32) -> "
    "(output_handle: variant, tensor: element_dtype)",
    _TYPE,
    kernel="tensor_list_pop_back(input_handle, element_shape | element_dtype)",
)
tensor_list_get_item_op = define_op(
    "TensorListGetItem(input_handle: variant, index: int32, element_shape: int32) -> (item: element_dtype)",
    _TYPE,
    kernel="tensor_list_get_item(input_handle, index, element_shape | element_dtype)",
)
tensor_list_set_item_op = define_op(
    "TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> (output_handle: variant)",
    _TYPE,
    kernel="tensor_list_set_item(input_handle, index, item | element_dtype)",
)
tensor_list_stack_op = define_op(
    "TensorListStack(input_handle: variant, element_shape: int32) -> (tensor: element_dtype)",
    f"{_TYPE}; num_elements: int = -1",
    kernel="tensor_list_stack(input_handle, element_shape | element_dtype, num_elements)",
)
tensor_list_gather_op = define_op(
    "TensorListGather(input_handle: variant, indices: int32, element_shape: int32) -> (values: element_dtype)",
    _TYPE,
    kernel="tensor_list_gather(input_handle, indices, element_shape | element_dtype)",
)
tensor_list_concat_op = define_op(
    "TensorListConcat(input_handle: variant) -> (tensor: element_dtype, lengths: int64)",
    f"{_TYPE}; element_shape: shape = unknown",
    kernel="tensor_list_concat(input_handle | element_dtype, element_shape)",
)
tensor_list_concat_v2 = define_op(
    "TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64) -> "
    "(tensor: element_dtype, lengths: int64)",
    _SHAPED,
    kernel="tensor_list_concat_v2(input_handle, element_shape, leading_dims | element_dtype)",
)
tensor_list_concat_lists = define_op(
    "TensorListConcatLists(input_a: variant, input_b: variant) -> (output: variant)",
    _TYPE,
    kernel="tensor_list_concat_lists(input_a, input_b | element_dtype)",
    differentiable=False,
    public="python.ops.list_ops.tensor_list_concat_lists",
    doc="Lists, each with another's elements behind its own.",
)
tensor_list_from_tensor_op = define_op(
    "TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> (output_handle: variant)",
    _SHAPED,
    kernel="tensor_list_from_tensor(tensor, element_shape)",
)
tensor_list_split_op = define_op(
    "TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) -> (output_handle: variant)",
    _SHAPED,
    kernel="tensor_list_split(tensor, element_shape, lengths)",
)
tensor_list_scatter_op = define_op(
    "TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) -> (output_handle: variant)",
    _SHAPED,
    kernel="tensor_list_scatter(tensor, indices, element_shape)",
)
tensor_list_scatter_v2 = define_op(
    "TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32) -> "
    "(output_handle: variant)",
    _SHAPED,
    kernel="tensor_list_scatter(tensor, indices, element_shape, num_elements)",
)
tensor_list_scatter_into = define_op(
    "TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, indices: int32) -> "
    "(output_handle: variant)",
    _TYPE,
    kernel="tensor_list_scatter_into(input_handle, tensor, indices | element_dtype)",
)


# ---- Shapes -------------------------------------------------------------------------------------------------


def _scalar(context):
    return ()


_SCALARS = (
    empty_tensor_list_op,
    tensor_list_reserve_op,
    tensor_list_length,
    tensor_list_resize,
    tensor_list_from_tensor_op,
    tensor_list_split_op,
    tensor_list_scatter_op,
    tensor_list_scatter_v2,
    tensor_list_scatter_into,
)
for _op in _SCALARS:
    _op.shape_rule(_scalar)


@tensor_list_element_shape.shape_rule
def _(context):
    return (None,)


@tensor_list_push_back_batch.shape_rule
@tensor_list_concat_lists.shape_rule
def _(context):
    return context.shapes[0]


# The input that is the shape of the elements of what makes a list, and what hands on a list's.
_MAKERS = {
    "EmptyTensorList": 0, "TensorListReserve": 0, "TensorListFromTensor": 1, "TensorListSplit": 1,
    "TensorListScatter": 2, "TensorListScatterV2": 2,
}  # fmt: skip
_FOLLOWERS = frozenset(
    ("Identity", "TensorListPushBack", "TensorListPopBack", "TensorListSetItem", "TensorListResize",
     "TensorListScatterIntoExistingList")
)  # fmt: skip


def _spelled(dims, partial):
    """The dims that a tensor of that shape and value spells; None if they are unknown, or a scalar says so."""
    if dims == ():
        return None
    if partial is None:
        return None if dims is None or dims[0] is None else (None,) * dims[0]
    return value_as_dims([None if size is None or size < 0 else size for size in partial])


def _of_list(handle):
    """What is known of the dims of a list's elements from the operation that has made it."""
    op = handle._op
    while op.type in _FOLLOWERS:
        op = op._inputs[0]._op
    if op.type not in _MAKERS:
        return None
    shape = op._inputs[_MAKERS[op.type]]
    return _spelled(shape._dims, partial_value(shape))


def _element(context, index):
    """The dims of elements: what input `index` spells, and the list knows."""
    dims = _spelled(context.shapes[index], context.partial_value(index))
    merged = merge(dims, _of_list(context.handle(0)))
    if merged is False:
        raise ShapeError(incompatible_text(dims, _of_list(context.handle(0))))
    return merged


def _check_element(context, dims):
    """Raises ShapeError where an element has another shape than the list's."""
    known = _of_list(context.handle(0))
    if merge(known, dims) is False:
        raise ShapeError(incompatible_text(known, dims))
    return ()


@tensor_list_push_back.shape_rule
def _(context):
    return _check_element(context, context.shapes[1])


@tensor_list_set_item_op.shape_rule
def _(context):
    return _check_element(context, context.shapes[2])


@tensor_list_pop_back_op.shape_rule
def _(context):
    return [(), _element(context, 1)]


@tensor_list_get_item_op.shape_rule
def _(context):
    return _element(context, 2)


@tensor_list_stack_op.shape_rule
def _(context):
    count = context.attrs["num_elements"]
    return plain.joined((None if count == -1 else count,), _element(context, 1))


@tensor_list_gather_op.shape_rule
def _(context):
    return plain.joined(plain.with_rank(context.shapes[1], 1), _element(context, 2))


@tensor_list_concat_op.shape_rule
def _(context):
    element = _of_list(context.handle(0))
    rest = context.attrs["element_shape"]._dims if element is None else element[1:]
    return [plain.joined((None,), rest), (None,)]


@tensor_list_concat_v2.shape_rule
def _(context):
    element = _element(context, 1)
    return [None if element is None else (None, *element[1:]), (None,)]


# ---- Functions ----------------------------------------------------------------------------------------------


@public("python.ops.list_ops._build_element_shape")
def _shape_tensor(shape):
    """What the ops take as the shape of elements."""
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape):
        shape = None if shape.rank is None else shape.as_list()
    if shape is None:
        return -1
    if isinstance(shape, int):
        return shape
    if not len(shape):
        return convert_to_tensor([], dtype=dtypes.int32)
    return [-1 if size is None else size for size in shape]


@public("python.ops.list_ops.empty_tensor_list")
def empty_tensor_list(element_shape, element_dtype, max_num_elements=None, name=None):
    """A list without elements, which may get `max_num_elements`."""
    most = -1 if max_num_elements is None else max_num_elements
    return empty_tensor_list_op(_shape_tensor(element_shape), most, element_dtype=element_dtype, name=name)


@public("python.ops.list_ops.tensor_list_reserve")
def tensor_list_reserve(element_shape, num_elements, element_dtype, name=None):
    """A list of so many elements, none of which is set: they read as zeros."""
    return tensor_list_reserve_op(_shape_tensor(element_shape), num_elements, element_dtype=element_dtype, name=name)


@public("python.ops.list_ops.tensor_list_from_tensor")
def tensor_list_from_tensor(tensor, element_shape, name=None):
    """The list of the parts of a tensor along its first dimension."""
    return tensor_list_from_tensor_op(tensor, _shape_tensor(element_shape), name=name)


@public("python.ops.list_ops.tensor_list_pop_back")
def tensor_list_pop_back(input_handle, element_dtype, name=None):
    """(the list without its last element, the element)."""
    return tensor_list_pop_back_op(input_handle, -1, element_dtype=element_dtype, name=name)


@public("python.ops.list_ops.tensor_list_get_item")
def tensor_list_get_item(input_handle, index, element_dtype, element_shape=None, name=None):
    """Element `index` of a list."""
    shape = _shape_tensor(element_shape)
    return tensor_list_get_item_op(input_handle, index, shape, element_dtype=element_dtype, name=name)


@public("python.ops.list_ops.tensor_list_set_item")
def tensor_list_set_item(input_handle, index, item, resize_if_index_out_of_bounds=False, name=None):
    """The list with `item` as element `index`, made longer if that lies behind its end and it may be."""
    if resize_if_index_out_of_bounds:
        given = input_handle
        is_outside = ops.greater_equal(index, tensor_list_length(given))
        input_handle = cond(is_outside, lambda: tensor_list_resize(given, index + 1), lambda: given)
    return tensor_list_set_item_op(input_handle, index, item, name=name)


@public("python.ops.list_ops.tensor_list_stack")
def tensor_list_stack(input_handle, element_dtype, num_elements=-1, element_shape=None, name=None):
    """All elements side by side along a new first dimension: as many as `num_elements`, unless that is -1."""
    shape = _shape_tensor(element_shape)
    return tensor_list_stack_op(
        input_handle, shape, element_dtype=element_dtype, num_elements=num_elements, name=name
    )


@public("python.ops.list_ops.tensor_list_gather")
def tensor_list_gather(input_handle, indices, element_dtype, element_shape=None, name=None):
    """The elements at `indices`, side by side along a new first dimension."""
    shape = _shape_tensor(element_shape)
    return tensor_list_gather_op(input_handle, indices, shape, element_dtype=element_dtype, name=name)


@public("python.ops.list_ops.tensor_list_scatter")
def tensor_list_scatter(tensor, indices, element_shape=None, input_handle=None, name=None):
    """The list `input_handle`, or a new one, with the parts of a tensor along its first dimension at `indices`."""
    if input_handle is not None:
        return tensor_list_scatter_into(input_handle, tensor, indices, name=name)
    return tensor_list_scatter_v2(tensor, indices, _shape_tensor(element_shape), -1, name=name)


@public("python.ops.list_ops.tensor_list_concat")
def tensor_list_concat(input_handle, element_dtype, element_shape=None, leading_dims=None, name=None):
    """All elements one after the other along their first dimension. Returns a tensor without the lengths.

    `leading_dims` are the sizes of elements that were never set.
    """
    leading_dims = convert_to_tensor([], dtypes.int64) if leading_dims is None else leading_dims
    shape = _shape_tensor(element_shape)
    return tensor_list_concat_v2(input_handle, shape, leading_dims, element_dtype=element_dtype, name=name)[0]


@public("python.ops.list_ops.tensor_list_split")
def tensor_list_split(tensor, element_shape, lengths, name=None):
    """The list of a tensor cut along its first dimension: elements of so many rows each."""
    return tensor_list_split_op(tensor, _shape_tensor(element_shape), lengths, name=name)


# ---- Gradients ----------------------------------------------------------------------------------------------


def _own_shape(handle):
    return tensor_list_element_shape(handle, shape_type=dtypes.int32)


def _or_empty(gradient, handle, dtype):
    """The gradient of a list, or that of one that nothing depends on."""
    return empty_tensor_list_op(_own_shape(handle), -1, element_dtype=dtype) if gradient is None else gradient


@tensor_list_push_back.gradient
def _(op, gradient):
    shape = ops.shape(op._inputs[1])
    return tensor_list_pop_back_op(gradient, shape, element_dtype=op._attrs["element_dtype"])


@tensor_list_pop_back_op.gradient
def _(op, of_list, of_element):
    of_list = _or_empty(of_list, op._outputs[0], op._attrs["element_dtype"])
    if of_element is None:
        of_element = ops.zeros_like(op._outputs[1])
    return tensor_list_push_back(of_list, of_element), None


@tensor_list_stack_op.gradient
def _(op, gradient):
    return tensor_list_from_tensor(gradient, gradient.shape[1:]), None


@tensor_list_gather_op.gradient
def _(op, gradient):
    handle, indices, _shape = op._inputs
    zeros = tensor_list_reserve_op(_own_shape(handle), tensor_list_length(handle), element_dtype=gradient.dtype)
    return tensor_list_scatter_into(zeros, gradient, indices), None, None


@tensor_list_concat_op.gradient
def _(op, gradient, _lengths):
    return tensor_list_split_op(gradient, _own_shape(op._inputs[0]), op._outputs[1])


@tensor_list_concat_v2.gradient
def _(op, gradient, _lengths):
    return tensor_list_split_op(gradient, _own_shape(op._inputs[0]), op._outputs[1]), None, None


@tensor_list_split_op.gradient
def _(op, gradient):
    tensor, _shape, lengths = op._inputs
    shape = ops.slice(ops.shape(tensor), [1], [-1])
    whole = ops.concat([[-1], shape], axis=0)
    return tensor_list_concat_v2(gradient, whole, lengths, element_dtype=tensor.dtype)[0], None, None


@tensor_list_from_tensor_op.gradient
def _(op, gradient):
    tensor = op._inputs[0]
    count = dimension_value(tensor.shape[0]) if tensor.shape.rank else None
    shape = ops.slice(ops.shape(tensor), [1], [-1])
    stacked = tensor_list_stack_op(
        gradient, shape, element_dtype=tensor.dtype, num_elements=-1 if count is None else count
    )
    return stacked, None


@tensor_list_get_item_op.gradient
def _(op, gradient):
    handle, index, _shape = op._inputs
    size = tensor_list_length(handle)
    zeros = tensor_list_reserve_op(_own_shape(handle), size, element_dtype=gradient.dtype)
    return tensor_list_set_item_op(zeros, index, gradient), None, None


@tensor_list_set_item_op.gradient
def _(op, gradient):
    _handle, index, item = op._inputs
    of_list = tensor_list_set_item_op(gradient, index, ops.zeros_like(item))
    of_item = tensor_list_get_item_op(gradient, index, ops.shape(item), element_dtype=item.dtype)
    return of_list, None, of_item


@tensor_list_resize.gradient
def _(op, gradient):
    return tensor_list_resize(gradient, tensor_list_length(op._inputs[0])), None


def _scattered(op, gradient):
    tensor, indices = op._inputs[:2]
    shape = ops.slice(ops.shape(tensor), [1], [-1])
    return [
        tensor_list_gather_op(gradient, indices, shape, element_dtype=tensor.dtype),
        *[None] * (len(op._inputs) - 1),
    ]


tensor_list_scatter_op.gradient(_scattered)
tensor_list_scatter_v2.gradient(_scattered)


@tensor_list_scatter_into.gradient
def _(op, gradient):
    _handle, tensor, indices = op._inputs
    of_list = tensor_list_scatter_into(gradient, ops.zeros_like(tensor), indices)
    shape = ops.slice(ops.shape(tensor), [1], [-1])
    return of_list, tensor_list_gather_op(gradient, indices, shape, element_dtype=tensor.dtype), None

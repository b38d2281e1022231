"""ListTensorArray: what tf.TensorArray makes in functions of data sets: a TensorList, which may be an element."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import as_shape
from stillflow.graph.shape_inference import constant_value
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.convert import convert_to_tensor


class ListTensorArray(TensorArray):
    """A TensorArray whose flow is the list itself. Arguments are those of TensorArray.

    Raises:
      ValueError: for a handle, and without a size or a flow.
    """

    def __init__(
        self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
        flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None,
    ):  # fmt: skip
        if handle is not None:
            raise ValueError("Cannot construct with handle in functions.")
        if (flow is None) == (size is None):
            raise ValueError("Either flow or size must be declared.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._size = size
        self._infer_shape = infer_shape
        self._is_colocated = False
        self._element_shape = [as_shape(element_shape)]  # shared with the arrays that follow
        self._handle = None
        with name_scope(name, "TensorArrayV2", [size, flow]) as scope:
            if flow is None:
                flow = ops.tensor_list_reserve(element_shape, size, self._dtype, name=scope)
        self._flow = flow

    def _followed_by(self, flow):
        array = ListTensorArray(
            self._dtype, flow=flow, dynamic_size=self._dynamic_size, infer_shape=self._infer_shape
        )
        array._size = self._size
        array._element_shape = self._element_shape
        return array

    def grad(self, source, flow=None, name=None):
        """Refused: the gradients of a list are a list."""
        raise NotImplementedError("gradients of TensorArrays in functions need no array of their own")

    def read(self, index, name=None):
        with name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            return ops.tensor_list_get_item(self._flow, index, self._dtype, self.element_shape, name=name)

    def write(self, index, value, name=None):
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            value = self._as_value(value)
            self._take_element_shape(value.shape)
            flow = ops.tensor_list_set_item(
                self._flow, index, value, resize_if_index_out_of_bounds=self._dynamic_size, name=name
            )
            return self._followed_by(flow)

    def stack(self, name=None):
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            count = None if self._dynamic_size else self._size
            if isinstance(count, Tensor):
                count = constant_value(count)
            count = -1 if count is None else int(count)
            return ops.tensor_list_stack(self._flow, self._dtype, count, self.element_shape)

    def gather(self, indices, name=None):
        with name_scope(name, "TensorArrayV2Gather", [self._flow, indices]):
            return ops.tensor_list_gather(self._flow, indices, self._dtype, self.element_shape, name=name)

    def concat(self, name=None):
        with name_scope(name, "TensorArrayV2Concat", [self._flow]):
            element = self.element_shape
            shape = None if element.rank is None else [None, *element.as_list()[1:]]
            return ops.tensor_list_concat(self._flow, self._dtype, shape, name=name)

    def unstack(self, value, name=None):
        with name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            value = self._as_value(value)
            element = value.shape[1:] if value.shape.rank is not None else value.shape
            self._take_element_shape(element)
            array = self._followed_by(ops.tensor_list_from_tensor(value, element))
            array._size = None
            return array

    def scatter(self, indices, value, name=None):
        with name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            value = self._as_value(value)
            self._take_element_shape(value.shape[1:] if value.shape.rank is not None else value.shape)
            flow = ops.tensor_list_scatter(value, indices, self.element_shape, input_handle=self._flow)
            return self._followed_by(flow)

    def split(self, value, lengths, name=None):
        with name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value = self._as_value(value)
            lengths = ops.cast(lengths, dtypes.int64)
            known = constant_value(lengths)
            rows = None
            if known is not None and known.ndim and len(known) and known.max() == known.min():
                rows = int(known[0])
            if value.shape.rank is not None:
                self._take_element_shape(as_shape([rows, *value.shape.as_list()[1:]]))
            return self._followed_by(ops.tensor_list_split(value, self.element_shape, lengths, name=name))

    def size(self, name=None):
        if not self._dynamic_size and self._size is not None:
            return convert_to_tensor(self._size, dtype=dtypes.int32)
        return ops.tensor_list_length(self._flow)

    def close(self, name=None):
        return ops.no_op(name=name)

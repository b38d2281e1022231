"""EagerTensorArray: what tf.TensorArray makes while operations are executed eagerly, a list of tensors."""

from __future__ import annotations

from stillflow import errors, ops
from stillflow.graph import dtypes
from stillflow.graph.mode import eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import as_shape
from stillflow.graph.shape_inference import constant_value
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.convert import convert_to_tensor


@eager_version_of(TensorArray)
class EagerTensorArray(TensorArray):
    """A TensorArray that changes in place: what changes it returns the array itself.

    Elements that were never written are zeros. Arguments are those of TensorArray; there are no handles.

    Raises:
      ValueError: for a handle, and without a size.
    """

    def __init__(
        self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
        flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None,
    ):  # fmt: skip
        if handle is not None:
            raise ValueError("TensorArray handles are not supported when eager execution is enabled.")
        if size is None:
            raise ValueError("Size must be declared for TensorArrays when eager execution is enabled.")
        self._handle = None
        self._flow = ops.constant(0, dtypes.int32)
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._infer_shape = infer_shape
        self._is_colocated = colocate_with_first_write_call
        self._element_shape = [as_shape(element_shape)]
        self._clear_after_read = clear_after_read is None or clear_after_read
        self._cleared: set = set()  # indices of what has been read and given up
        self._elements: list = [None] * int(size)

    def _followed_by(self, flow):
        return self

    def identity(self):
        return self

    def grad(self, source, flow=None, name=None):
        """Raises NotImplementedError: tapes differentiate what was written."""
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient implementation does not "
            "use/need this function to compute gradients of operations that use TensorArrays."
        )

    # ---- One element ----------------------------------------------------------------------------------------

    def read(self, index, name=None):
        index = int(index)
        count = len(self._elements)
        if index < 0:
            raise _out_of_range(f"Reading from negative indices (index {index}) is not allowed.")
        if index >= count:
            raise _out_of_range(f"Tried to read from index {index} but array size is: {count}")
        if self._elements[index] is None and index in self._cleared:
            raise errors.InvalidArgumentError(
                None, None,
                f"Could not read index {index} twice because it was cleared after a previous read (perhaps try "
                "setting clear_after_read = false?)",
            )  # fmt: skip
        value = self._element(index)
        if self._clear_after_read:
            self._elements[index] = None
            self._cleared.add(index)
        return value

    def _element(self, index):
        value = self._elements[index]
        if value is None:
            value = self._elements[index] = ops.zeros(self.element_shape, self._dtype)
        return value

    def write(self, index, value, name=None):
        index = int(index)
        count = len(self._elements)
        if index < 0:
            raise _out_of_range(f"Writing to negative indices (index {index}) is not allowed.")
        if index >= count:
            if not self._dynamic_size:
                raise _out_of_range(
                    f"Tried to write to index {index} but array is not resizeable and size is: {count}"
                )
            self._elements.extend([None] * (index + 1 - count))
        value = value if isinstance(value, Tensor) else self._as_value(value)
        if value.dtype is not self._dtype:
            raise errors.InvalidArgumentError(
                None, None,
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name}",
            )  # fmt: skip
        if not self.element_shape.is_compatible_with(value.shape):
            raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({self.element_shape})")
        self._take_element_shape(value.shape)
        self._elements[index] = value
        return self

    # ---- Many elements --------------------------------------------------------------------------------------

    def stack(self, name=None):
        return convert_to_tensor(self._all(), dtype=self._dtype, name=name)

    def _all(self):
        return [self._element(i) for i in range(len(self._elements))]

    def gather(self, indices, name=None):
        indices = constant_value(indices) if isinstance(indices, Tensor) else indices
        return ops.stack([self._element(i) for i in indices])

    def concat(self, name=None):
        elements = self._all()
        try:
            return ops.concat(elements, 0, name=name)
        except (errors.OpError, ValueError):
            for i, element in enumerate(elements):
                if not element._dims:
                    raise errors.InvalidArgumentError(
                        None, None, f"Concat saw a scalar shape at index {i} but requires at least vectors."
                    ) from None
            raise

    def unstack(self, value, name=None):
        elements = ops.unstack(value, name=name)
        if len(elements) > len(self._elements) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(elements)} tensors into a TensorArray of static size {len(self._elements)}"
            )
        self._elements = list(elements)
        return self

    def scatter(self, indices, value, name=None):
        indices = constant_value(indices) if isinstance(indices, Tensor) else indices
        for index, element in zip(indices, ops.unstack(value)):  # noqa: B905 - the rest of a longer one is left
            self.write(index, element)
        return self

    def split(self, value, lengths, name=None):
        value = self._as_value(value)
        lengths = convert_to_tensor(lengths)
        self._check_lengths(value._dims, lengths._dims, int(lengths.numpy().sum()))
        self._elements = list(ops.split(value, lengths, name=name))
        return self

    def _check_lengths(self, shape, lengths_shape, total):
        count = len(self._elements)
        if len(lengths_shape) != 1:
            problem = f"Expected lengths to be a vector, received shape: {list(lengths_shape)}"
        elif not shape:
            problem = "Expected value to be at least a vector, but received shape: []"
        elif total != shape[0]:
            problem = (
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{total} and value's shape is: {list(shape)} "
            )
        elif not self._dynamic_size and lengths_shape[0] != count:
            problem = (
                f"TensorArray's size is not equal to the size of lengths ({count} vs. {lengths_shape[0]}), and the "
                "TensorArray is not marked as dynamically resizeable"
            )
        else:
            return
        raise errors.InvalidArgumentError(None, None, problem)

    def size(self, name=None):
        return ops.constant(len(self._elements))

    def close(self, name=None):
        """Gives the elements up."""
        self._elements.clear()


def _out_of_range(message):
    return errors.OutOfRangeError(None, None, message)

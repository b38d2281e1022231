"""EagerTensor: a tensor that has its value."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_ids = itertools.count()
DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def graph_only(name):
    """A property of tensors and variables that only graphs give them."""

    def refuse(self):
        raise AttributeError(f"Tensor.{name} is meaningless when eager execution is enabled.")

    return property(refuse)


@public("python.framework.ops.EagerTensor")
class EagerTensor(Tensor):
    """What an operation that has run returns. It can be used wherever a number or an array can.

    `value` is an array of the type's numpy form that nobody writes to.
    """

    def __init__(self, graph, value, dtype):
        self._op = graph.source
        self._value_index = 0
        self._dtype = dtype
        self._dims: Any = value.shape
        self._value = value
        self._id = next(_ids)

    @property
    def _consumers(self) -> Any:  # type: ignore[override]
        return []  # what has run does not keep what it used

    def _in_function(self, graph):
        """The tensor by which a function differentiates in this one's place, where gradients cannot reach it."""
        return graph.capture(self)

    # ---- The value ------------------------------------------------------------------------------------------

    def numpy(self):
        """A copy of the value: an array, or for a scalar a numpy scalar; of strings, bytes."""
        if self._dtype is dtypes.variant:
            raise TypeError("A tensor of type variant has no value in Python.")
        return self._value.copy() if self._value.ndim else self._value[()]

    def _numpy(self):
        return self._value if self._value.ndim else self._value[()]

    def __array__(self, dtype=None, copy=None):
        array = np.array(self._value)
        return array if dtype is None else array.astype(dtype, copy=False)

    def __int__(self):
        return int(self.numpy())

    def __float__(self):
        return float(self.numpy())

    def __complex__(self):
        return complex(self.numpy())

    def __index__(self):
        return self._value[()].__index__() if self._value.ndim == 0 else self._value.__index__()

    def __bool__(self):
        return bool(self.numpy())

    def __format__(self, spec):
        return format(self.numpy(), spec)

    def __len__(self):
        if not self._dims:
            raise TypeError("Scalar tensor has no `len()`")
        return self._dims[0]

    def __iter__(self):
        if not self._dims:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (ops.get_item(self, i) for i in range(self._dims[0]))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return convert_to_tensor, (self._numpy(), self._dtype)

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self._dims)

    @property
    def device(self):
        return DEVICE

    backing_device = device

    def cpu(self):
        """The tensor in the memory of the CPU, where it is."""
        return self

    def gpu(self, gpu_index=0):
        """Raises RuntimeError: there is no such device."""
        raise RuntimeError(f"/job:localhost/replica:0/task:0/device:GPU:{gpu_index} unknown device.")

    def set_shape(self, shape):
        """Raises ValueError for a shape that is not the tensor's."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self._dims} is not compatible with supplied shape {_text(shape)}")

    op: Any = graph_only("op")
    graph: Any = graph_only("graph")
    name: Any = graph_only("name")
    value_index: Any = graph_only("value_index")

    _label = ""

    @property
    def _description(self):
        return f"shape={self.shape} dtype={self._dtype.name}"

    def consumers(self):
        raise NotImplementedError("Tensor.consumers is meaningless when eager execution is enabled.")

    def eval(self, feed_dict=None, session=None):
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    def _as_graph_element(self):
        return self

    # ---- Text -----------------------------------------------------------------------------------------------

    def _text(self, is_repr):
        if self._dtype in (dtypes.resource, dtypes.variant):
            return "<unprintable>"
        text = repr(self._numpy()) if is_repr and self._dims else str(self._numpy())
        return f"\n{text}" if "\n" in text else text

    def __str__(self):
        return f"tf.Tensor({self._text(False)}, shape={self._dims}, dtype={self._dtype.name})"

    def __repr__(self):
        text = self._text(True)
        return f"<tf.Tensor: id={self._id}, shape={self._dims}, dtype={self._dtype.name}, numpy={text}>"


def _text(shape):
    return shape if isinstance(shape, TensorShape) else list(shape) if isinstance(shape, tuple) else shape

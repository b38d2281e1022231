"""print_op: a tensor that is printed with its name, type and shape whenever it is computed."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.ops.strings.print import Print
from stillflow.variables.variable import Variable


def _kind(tensor):
    for cls, name in ((Tensor, "Tensor"), (SparseTensor, "SparseTensor"), (TensorArray, "TensorArray")):
        if isinstance(tensor, cls):
            return name
    if isinstance(tensor, Variable):
        return "Variable"
    raise ValueError("t must be a Tensor, SparseTensor, TensorArray or Variable.")


def _described(tensor, with_name, with_type, with_shape, with_first_true):
    """What is printed of a tensor: tensors, some of which are words."""
    kind = _kind(tensor)
    found: list = []
    if with_name and kind == "Tensor":
        found.append(f"Name: {tensor.name}")
    if with_type:
        found.append(f"Type: {kind} ({tensor.dtype.name})")
    if with_shape and kind == "Tensor":
        found.append(f"Shape: {tensor.shape.dims}")
    elif with_shape and kind == "SparseTensor":
        found += ["Shape:", tensor.dense_shape]
    elif with_shape and kind == "TensorArray":
        found += ["Size:", tensor.size()]
    if with_first_true and tensor.dtype == dtypes.bool_:
        found += ["First True in Boolean tensor at:", ops.argmax(ops.cast(tensor, dtypes.uint8), 0)]
    if kind == "SparseTensor":
        found += ["Sparse indices:", tensor.indices, "Sparse values:", tensor.values]
    elif kind != "Variable":
        found += ["Value:", tensor.stack() if kind == "TensorArray" else tensor]
    return [ops.constant(part) if isinstance(part, str) else part for part in found]


@public("contrib.framework.python.ops.prettyprint_ops.print_op")
def print_op(
    input_, data=None, message=None, first_n=None, summarize=20, print_tensor_name=True, print_tensor_type=True,
    print_shape=True, summarize_indicator_vector=True, name=None,
):  # fmt: skip
    """`input_`, which prints itself and `data` whenever it is computed.

    Args:
      input_: a Tensor, SparseTensor, TensorArray or Variable.
      data: a list of others.
      message: what is printed before.
      first_n: how often to print; negative or None for always.
      summarize: how many elements of each.
      print_tensor_name, print_tensor_type, print_shape: what to say of each.
      summarize_indicator_vector: whether to print the place of the first True of bools.

    Raises ValueError for what is none of these.
    """
    if input_ is None:
        raise ValueError("input_ must be of type Tensor, SparseTensor or TensorArray")
    flags = print_tensor_name, print_tensor_type, print_shape, summarize_indicator_vector
    parts = [part for each in [input_, *(data or ())] for part in _described(each, *flags)]
    kind = _kind(input_)
    if kind in ("Tensor", "Variable"):
        return Print(input_, parts, message or "", first_n, summarize, name)
    printed = Print(ops.constant([]), parts, message or "", first_n, summarize, name)
    with control_dependencies([printed]):
        if kind == "TensorArray":
            return TensorArray(dtype=input_.dtype, handle=input_.handle, flow=input_.flow)
        return SparseTensor(*(ops.identity(part) for part in (input_.indices, input_.values, input_.dense_shape)))

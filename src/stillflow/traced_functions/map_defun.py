"""tensorflow.python.data.experimental.ops.map_defun: a function of each row of tensors."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("python.data.experimental.ops.map_defun.map_defun")
def map_defun(fn, elems, output_dtypes, output_shapes, max_intra_op_parallelism=1):
    """What a tf.function makes of each row.

    Args:
      fn: a function of `tf.contrib.eager.defun` with an input signature.
      elems: a list of tensors with as many rows each.
      output_dtypes: a list of the types of the results.
      output_shapes: a list of the shapes of the results of one call.
      max_intra_op_parallelism: how many threads an operation may use.

    Raises ValueError for what is no list. At run time: InvalidArgumentError for results of other types and shapes.
    """
    for name, value, what in (
        ("elems", elems, "tensors"),
        ("output_dtypes", output_dtypes, "`tf.DType` objects"),
        ("output_shapes", output_shapes, "`tf.TensorShape` objects"),
    ):
        if not isinstance(value, list):
            raise ValueError(f"`{name}` must be a list of {what}.")
    concrete = fn._get_concrete_function_internal()
    concrete.add_to_graph()
    return ops.map_defun(
        [convert_to_tensor(each) for each in elems],
        concrete.captured_inputs,
        output_types=output_dtypes,
        output_shapes=[TensorShape(shape) for shape in output_shapes],
        f=concrete._function.inference.function,
        max_intra_op_parallelism=max_intra_op_parallelism,
    )

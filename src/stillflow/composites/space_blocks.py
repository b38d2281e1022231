"""required_space_to_batch_paddings: paddings that make sizes multiples of the block's."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("required_space_to_batch_paddings")
def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """(paddings, crops) for space_to_batch_nd and batch_to_space_nd that make sizes multiples of blocks'.

    Args:
      input_shape, block_shape: vectors of int32.
      base_paddings: [number of dimensions, 2]: the least paddings.

    Raises:
      ValueError: for shapes that are not known, or do not fit.
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        input_shape = convert_to_tensor(input_shape, dtypes.int32, name="input_shape")
        block_shape = convert_to_tensor(block_shape, dtypes.int32, name="block_shape")
        block_shape.shape.assert_is_fully_defined()
        block_shape.shape.assert_has_rank(1)
        count = block_shape.shape.dims[0].value
        if count == 0:
            return ops.zeros([0, 2], dtypes.int32), ops.zeros([0, 2], dtypes.int32)
        input_shape.shape.assert_is_compatible_with([count])
        if base_paddings is None:
            base_paddings = ops.zeros([count, 2], dtypes.int32)
        else:
            base_paddings = convert_to_tensor(base_paddings, dtypes.int32, name="base_paddings")
            base_paddings.shape.assert_is_compatible_with([count, 2])
        known = [constant_value(tensor) for tensor in (block_shape, input_shape, base_paddings)]
        if all(value is not None for value in known):
            block_shape, input_shape, base_paddings = known
        before, after = base_paddings[:, 0], base_paddings[:, 1]
        size = input_shape + before + after
        missing = (block_shape - size % block_shape) % block_shape
        after = after + missing
        paddings = ops.stack([[before[i], after[i]] for i in range(count)], name="paddings")
        return paddings, ops.stack([[0, missing[i]] for i in range(count)], name="crops")

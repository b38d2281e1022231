"""tf.nn.pool: pooling in one to three dimensions, with strided or dilated windows."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.convolution import checked_strides_and_rates
from stillflow.composites.with_space_to_batch import with_space_to_batch
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.nn.avg_pool import avg_pool, avg_pool3d
from stillflow.ops.nn.max_pool import max_pool, max_pool3d

_POOLS = {"MAX": (max_pool, max_pool, max_pool3d), "AVG": (avg_pool, avg_pool, avg_pool3d)}


@public("nn.pool")
def pool(
    input, window_shape, pooling_type, padding, dilation_rate=None, strides=None, name=None, data_format=None,
    dilations=None,
):  # fmt: skip
    """The maxima or means of images under a window.

    Args:
      input: [batch, sizes..., channels], or channels first if `data_format` begins with "NC".
      window_shape: the window's size along each of one to three spatial dimensions.
      pooling_type: "MAX" or "AVG".
      padding: "SAME" or "VALID".
      dilation_rate: how far elements under the window are from each other, along each spatial dimension.
      strides: how far the window is from one place to the next; 1 where there are gaps.

    Raises:
      ValueError: for arguments that do not fit.
    """
    rates = renamed("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        count = len(window_shape)
        if not 1 <= count <= 3:
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        input.shape.assert_has_rank(count + 2)
        strides, rates = checked_strides_and_rates(count, strides, rates)
        if padding == "SAME" and np.any(rates > 1):
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
        if np.any(strides > window_shape):
            raise ValueError(
                "strides > window_shape not supported due to inconsistency between CPU and GPU implementations"
            )
        if pooling_type not in _POOLS:
            raise ValueError(f"{count}-D {pooling_type} pooling is not supported.")
        op, spatial_dims = _pool_of(pooling_type, window_shape, strides, data_format, scope)
        return with_space_to_batch(
            input, dilation_rate=rates, padding=padding, op=op, spatial_dims=spatial_dims, filter_shape=window_shape
        )


def _pool_of(pooling_type, window_shape, strides, data_format, name):
    """(a function of (images, number of spatial dimensions, padding), the spatial dimensions)."""
    count = len(window_shape)
    pool = _POOLS[pooling_type][count - 1]
    channels_first = data_format is not None and data_format.startswith("NC")
    spatial_dims = range(2, count + 2) if channels_first else range(1, count + 1)
    sizes, steps = (
        [1, 1, *values] if channels_first else [1, *values, 1] for values in (list(window_shape), list(strides))
    )
    if count != 1:
        return lambda images, _, padding: pool(
            images, sizes, steps, padding, name=name, data_format=data_format
        ), spatial_dims
    if data_format not in (None, "NWC", "NCW"):
        raise ValueError('data_format must be either "NWC" or "NCW".')
    row_format = "NCHW" if channels_first else "NHWC"

    def pool_rows(images, _, padding):
        rows = ops.expand_dims(images, spatial_dims[0])
        pooled = pool(rows, [1, *sizes], [1, *steps], padding, name=name, data_format=row_format)
        return ops.squeeze(pooled, [spatial_dims[0]])

    return pool_rows, spatial_dims

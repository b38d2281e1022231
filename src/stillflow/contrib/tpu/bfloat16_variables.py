"""tf.tpu.bfloat16_scope: variables of float32 that are read as bfloat16."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.variables.scope import variable_scope


@public("tpu.bfloat16_scope", "contrib.tpu.bfloat16_scope")
@contextlib.contextmanager
def bfloat16_scope():
    """A variable scope in which `get_variable` makes bfloat16 of a variable that is kept as float32."""
    with variable_scope("", custom_getter=_get_cast) as scope:
        yield scope


def _get_cast(getter, *args, **kwargs):
    if kwargs["dtype"] != dtypes.bfloat16:
        return getter(*args, **kwargs)
    kwargs["dtype"] = dtypes.float32
    return ops.cast(getter(*args, **kwargs), dtypes.bfloat16)

"""The stateless random ops: their seed is an input, and the same seed always gives the same numbers."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.dims import with_rank
from stillflow.ops.random.fill import require_scalar
from stillflow.ops.registry import define_op

_FLOATS = "dtype: {float16, bfloat16, float32, float64} = float32; T: {int32, int64} = int32"
_SEED = "Tseed: {int32, int64} = int64"


def _fill(name, kernel):
    return define_op(
        f"{name}(shape: T, seed: Tseed) -> (output: dtype)",
        f"{_FLOATS}; {_SEED}",
        kernel=f"{kernel}(shape, seed | dtype)",
        differentiable=False,
    )


stateless_random_uniform_op = _fill("StatelessRandomUniform", "stateless_random_uniform")
stateless_random_normal_op = _fill("StatelessRandomNormal", "stateless_random_normal")
stateless_truncated_normal_op = _fill("StatelessTruncatedNormal", "stateless_truncated_normal")
stateless_random_uniform_int = define_op(
    "StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) -> (output: dtype)",
    f"dtype: {{int32, int64}}; T: {{int32, int64}}; {_SEED}",
    kernel="stateless_random_uniform_int(shape, seed, minval, maxval)",
    differentiable=False,
)


def _filled(context):
    seed = with_rank(context.shapes[1], 1)
    if seed[0] not in (None, 2):
        raise ShapeError(f"Dimension must be 2 but is {seed[0]}")
    return plain.spelled(context)


for _op in (stateless_random_uniform_op, stateless_random_normal_op, stateless_truncated_normal_op):
    _op.shape_rule(_filled)


@stateless_random_uniform_int.shape_rule
def _(context):
    require_scalar(context, 2, 3)
    return _filled(context)

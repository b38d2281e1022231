"""Tensors of random numbers: uniform, normal, truncated normal, uniform integers."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_SEEDS = "seed: int = 0; seed2: int = 0"
_FLOATS = "{float16, bfloat16, float32, float64}"
_INTS = "{int32, int64}"


def _fill(name, kernel):
    return define_op(
        f"{name}(shape: T) -> (output: dtype)",
        f"{_SEEDS}; dtype: {_FLOATS}; T: {_INTS}",
        kernel=f"{kernel}(shape | dtype)",
        state="random",
        stateful=True,
        differentiable=False,
        traits="is_unordered",
    )


random_uniform = _fill("RandomUniform", "random_uniform")
random_standard_normal = _fill("RandomStandardNormal", "random_standard_normal")
truncated_normal = _fill("TruncatedNormal", "truncated_normal")
random_uniform_int = define_op(
    "RandomUniformInt(shape: T, minval: Tout, maxval: Tout) -> (output: Tout)",
    f"{_SEEDS}; Tout: {_INTS}; T: {_INTS}",
    kernel="random_uniform_int(shape, minval, maxval)",
    state="random",
    stateful=True,
    differentiable=False,
    traits="is_unordered",
)


def require_scalar(context, *indices):
    """Raises ShapeError for inputs that are known not to be scalars."""
    for index in indices:
        dims = context.shapes[index]
        if dims is not None and len(dims) != 0:
            raise ShapeError(f"Shape must be rank 0 but is rank {len(dims)}")


for _op in (random_uniform, random_standard_normal, truncated_normal):
    _op.shape_rule(plain.spelled)


@random_uniform_int.shape_rule
def _(context):
    require_scalar(context, 1, 2)
    return plain.spelled(context)

"""The ops of `tf.random.experimental.Generator`: the state of their stream is a resource variable."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.random.fill import require_scalar
from stillflow.ops.registry import define_op

_SHAPE = "shape_dtype: type = int64"


def _fill(name, kernel, dtype):
    return define_op(
        f"{name}(resource: resource, algorithm: int64, shape: shape_dtype) -> (output: dtype)",
        f"dtype: type = {dtype}; {_SHAPE}",
        kernel=f"{kernel}(resource, algorithm, shape | dtype)",
        stateful=True,
        differentiable=False,
        traits="checks_variable",
    )


stateful_uniform = _fill("StatefulUniform", "generator_uniform", "float32")
stateful_standard_normal_v2 = _fill("StatefulStandardNormalV2", "generator_standard_normal", "float32")
stateful_truncated_normal = _fill("StatefulTruncatedNormal", "generator_truncated_normal", "float32")
stateful_uniform_full_int = _fill("StatefulUniformFullInt", "generator_uniform_full_int", "uint64")
stateful_uniform_int = define_op(
    "StatefulUniformInt(resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype)"
    " -> (output: dtype)",
    f"dtype: type = int64; {_SHAPE}",
    kernel="generator_uniform_int(resource, algorithm, shape, minval, maxval)",
    stateful=True,
    differentiable=False,
    traits="checks_variable",
)
stateful_random_binomial = define_op(
    "StatefulRandomBinomial(resource: resource, algorithm: int64, shape: S, counts: T, probs: T) -> (output: dtype)",
    "S: {int32, int64}; T: {float16, float32, float64, int32, int64} = float64; "
    "dtype: {float16, float32, float64, int32, int64} = int64",
    kernel="generator_binomial(resource, algorithm, shape, counts, probs | dtype)",
    stateful=True,
    differentiable=False,
    traits="checks_variable",
)
rng_skip = define_op(
    "RngSkip(resource: resource, algorithm: int64, delta: int64) -> ()",
    kernel="generator_skip(resource, algorithm, delta)",
    stateful=True,
    differentiable=False,
)
non_deterministic_ints = define_op(
    "NonDeterministicInts(shape: shape_dtype) -> (output: dtype)",
    f"dtype: type = int64; {_SHAPE}",
    kernel="random_uniform_full_int(shape | dtype)",
    state="random",
    stateful=True,
    differentiable=False,
)


def _filled(context):
    require_scalar(context, 1)
    return plain.spelled(context, 2)


for _op in (
    stateful_random_binomial,
    stateful_uniform,
    stateful_standard_normal_v2,
    stateful_truncated_normal,
    stateful_uniform_full_int,
):
    _op.shape_rule(_filled)


@stateful_uniform_int.shape_rule
def _(context):
    require_scalar(context, 3, 4)
    return _filled(context)


@rng_skip.shape_rule
def _(context):
    require_scalar(context, 1, 2)
    return []


non_deterministic_ints.shape_rule(plain.spelled)

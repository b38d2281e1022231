"""RandomGamma, RandomPoisson and ParameterizedTruncatedNormal: distributions whose parameters are tensors."""

from __future__ import annotations

from stillflow import ops
from stillflow.ops import dims as plain
from stillflow.ops.math.elementwise_binary import broadcast_rule
from stillflow.ops.registry import define_op

_SEEDS = "seed: int = 0; seed2: int = 0"
_INTS = "{int32, int64}"
_COUNTS = "{float16, float32, float64, int32, int64}"

random_gamma_op = define_op(
    "RandomGamma(shape: S, alpha: T) -> (output: T)",
    f"{_SEEDS}; S: {_INTS}; T: {{float16, float32, float64}}",
    kernel="random_gamma(shape, alpha)",
    state="random",
    stateful=True,
    traits="is_unordered",
)
random_gamma_grad = define_op(
    "RandomGammaGrad(alpha: T, sample: T) -> (output: T)",
    "T: {float32, float64}",
    kernel="random_gamma_grad(alpha, sample)",
    differentiable=None,
)
random_poisson_op = define_op(
    "RandomPoisson(shape: S, rate: dtype) -> (output: dtype)",
    f"{_SEEDS}; S: {_INTS}; dtype: {{float16, float32, float64}}",
    kernel="random_poisson(shape, rate | dtype)",
    state="random",
    stateful=True,
    differentiable=None,
    traits="is_unordered",
)
random_poisson_v2 = define_op(
    "RandomPoissonV2(shape: S, rate: R) -> (output: dtype)",
    f"{_SEEDS}; S: {_INTS}; R: {_COUNTS} = float64; dtype: {_COUNTS} = int64",
    kernel="random_poisson(shape, rate | dtype)",
    state="random",
    stateful=True,
    differentiable=None,
    traits="is_unordered",
)
parameterized_truncated_normal_op = define_op(
    "ParameterizedTruncatedNormal(shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype) -> "
    "(output: dtype)",
    f"{_SEEDS}; dtype: {{float16, bfloat16, float32, float64}}; T: {_INTS}",
    kernel="parameterized_truncated_normal(shape, means, stdevs, minvals, maxvals)",
    state="random",
    stateful=True,
    differentiable=False,
    traits="is_unordered",
)


def _samples_rule(context):
    return plain.joined(plain.spelled(context), context.shapes[1])


for _op in (random_gamma_op, random_poisson_op, random_poisson_v2):
    _op.shape_rule(_samples_rule)


random_gamma_grad.shape_rule(broadcast_rule)


@parameterized_truncated_normal_op.shape_rule
def _(context):
    for index in (1, 2, 3, 4):
        plain.with_rank_at_most(context.shapes[index], 1)
    return plain.spelled(context)


@random_gamma_op.gradient
def _(op, grad):
    """By alpha, with each sample's place in its distribution held."""
    shape, alpha = op.inputs
    with op._graph.control_dependencies([grad]):
        rank = ops.shape(shape)[0]
        leading = ops.ones([rank], "int32")
        spread = ops.reshape(alpha, ops.concat([leading, ops.shape(alpha)], 0))
        slope = random_gamma_grad(spread, op.outputs[0])
        return None, ops.reduce_sum(grad * slope, axis=ops.range(rank))

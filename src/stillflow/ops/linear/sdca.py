"""Stochastic dual coordinate ascent for linear models (Shalev-Shwartz and Zhang, 2013), and names of examples."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_LOSSES = "loss_type: {'logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss', 'poisson_loss'}"


def _optimizer(name, adaptive, **options):
    op = define_op(
        f"{name}(sparse_example_indices: num_sparse_features * int64, "
        "sparse_feature_indices: num_sparse_features * int64, "
        "sparse_feature_values: num_sparse_features_with_values * float32, "
        "dense_features: num_dense_features * float32, example_weights: float32, example_labels: float32, "
        "sparse_indices: num_sparse_features * int64, sparse_weights: num_sparse_features * float32, "
        "dense_weights: num_dense_features * float32, example_state_data: float32) -> "
        "(out_example_state_data: float32, out_delta_sparse_weights: num_sparse_features * float32, "
        "out_delta_dense_weights: num_dense_features * float32)",
        f"{_LOSSES}; {adaptive}: bool = false; num_sparse_features: int >= 0; "
        "num_sparse_features_with_values: int >= 0; num_dense_features: int >= 0; l1: float; l2: float; "
        "num_loss_partitions: int >= 1; num_inner_iterations: int >= 1",
        kernel="sdca_optimizer(sparse_example_indices, sparse_feature_indices, sparse_feature_values, "
        "dense_features, example_weights, example_labels, sparse_indices, sparse_weights, dense_weights, "
        "example_state_data | "
        f"loss_type, {adaptive}, num_sparse_features, num_sparse_features_with_values, num_dense_features, l1, l2, "
        "num_loss_partitions)",
        differentiable=False,
        **options,
    )

    @op.shape_rule
    def _(context):
        sparse, dense = context.attrs["num_sparse_features"], context.attrs["num_dense_features"]
        last = len(context.shapes) - 1
        sparse_weights = context.shapes[last - dense - sparse : last - dense]
        return [context.shapes[last], *sparse_weights, *context.shapes[last - dense : last]]

    return op


sdca_optimizer = _optimizer(
    "SdcaOptimizer",
    "adaptative",
    public="train.sdca_optimizer",
    doc="A pass of stochastic dual coordinate ascent over a batch: (new states of the examples, changes of weights).",
)
sdca_optimizer_v2 = _optimizer("SdcaOptimizerV2", "adaptive")
sdca_shrink_l1 = define_op(
    "SdcaShrinkL1(weights: num_features * Ref(float32)) -> ()",
    "num_features: int >= 0; l1: float; l2: float",
    kernel="shrink_l1(weights | l1, l2)",
    differentiable=False,
    public="train.sdca_shrink_l1",
    doc="An operation that moves reference variables towards zero by l1 / l2, and no further.",
)
sdca_shrink_l1.shape_rule(lambda context: [])
sdca_fprint = define_op(
    "SdcaFprint(input: string) -> (output: int64)",
    "",
    kernel="sdca_fprint(input)",
    differentiable=False,
    public="train.sdca_fprint",
    doc="The fingerprints of names, int64 [n, 2], whose first numbers are neither 0 nor 1.",
)


@sdca_fprint.shape_rule
def _(context):
    return (plain.with_rank(context.shapes[0], 1)[0], 2)

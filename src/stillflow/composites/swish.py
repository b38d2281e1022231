"""swish: x * sigmoid(x), with a gradient that recomputes the sigmoid."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.custom_gradient import custom_gradient
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("nn.swish")
@custom_gradient
def swish(features):
    """x * sigmoid(x)."""
    features = convert_to_tensor(features, name="features")

    def grad(dy):
        with get_default_graph().control_dependencies([dy]):
            sigmoids = ops.sigmoid(features)
        return dy * (sigmoids * (1.0 + features * (1.0 - sigmoids)))

    return features * ops.sigmoid(features), grad

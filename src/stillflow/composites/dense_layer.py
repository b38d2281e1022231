"""xw_plus_b and relu_layer: a matrix product and a bias."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _converted(x, weights, biases):
    return (
        convert_to_tensor(x, name="x"),
        convert_to_tensor(weights, name="weights"),
        convert_to_tensor(biases, name="biases"),
    )


@public("nn.xw_plus_b")
def xw_plus_b(x, weights, biases, name=None):
    """matmul(x, weights) + biases, of matrices and a vector."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x, weights, biases = _converted(x, weights, biases)
        return ops.bias_add(ops.matmul(x, weights), biases, name=scope)


@public("nn.relu_layer")
def relu_layer(x, weights, biases, name=None):
    """max(matmul(x, weights) + biases, 0), of matrices and a vector."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x, weights, biases = _converted(x, weights, biases)
        return ops.relu(ops.bias_add(ops.matmul(x, weights), biases), name=scope)

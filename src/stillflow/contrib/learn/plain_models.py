"""tf.contrib.learn.models and .ops: linear and logistic regression, and layers of words, of before tf.estimator."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.composites.dense_layer import xw_plus_b
from stillflow.composites.embedding_lookup import embedding_lookup as core_embedding_lookup
from stillflow.composites.summaries import histogram
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.losses.classification import softmax_cross_entropy
from stillflow.losses.regression import mean_squared_error
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import RandomNormal
from stillflow.variables.scope import get_variable_scope, variable_scope


@public("contrib.learn.ops.mean_squared_error_regressor")
def mean_squared_error_regressor(tensor_in, labels, weights, biases, name=None):
    """(tensor_in weights + biases, its mean squared distance from the labels)."""
    with name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = xw_plus_b(tensor_in, weights, biases)
        if len(labels.shape) == 1 and len(predictions.shape) == 2:
            predictions = ops.squeeze(predictions, axis=[1])
        return predictions, mean_squared_error(labels, predictions)


@public("contrib.learn.ops.softmax_classifier")
def softmax_classifier(tensor_in, labels, weights, biases, class_weight=None, name=None):
    """(probabilities, softmax(tensor_in weights + biases), their cross entropy with the labels).

    Args:
      labels: one-hot, or probabilities.
      class_weight: what logits are multiplied with, or None.
    """
    with name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = ops.mul(logits, class_weight)
        return ops.softmax(logits), softmax_cross_entropy(labels, logits)


@public("contrib.learn.ops.embedding_lookup")
def embedding_lookup(params, ids, name="embedding_lookup"):
    """The rows of a table for ids of any shape."""
    with name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = convert_to_tensor(params), convert_to_tensor(ids)
        shape = ops.shape(ids)
        flat = ops.reshape(ids, ops.reduce_prod(shape, keepdims=True))
        rows = core_embedding_lookup(params, flat, name)
        found = ops.reshape(rows, ops.concat([shape, [-1]], 0))
        found.set_shape(ids.shape.concatenate(params.shape[1:]))
        return found


@public("contrib.learn.ops.categorical_variable")
def categorical_variable(tensor_in, n_classes, embedding_size, name):
    """Vectors of classes, of a table that is a variable in the scope `name`."""
    with variable_scope(name):
        embeddings = get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)


@public("contrib.learn.models.linear_regression_zero_init")
def linear_regression_zero_init(x, y):
    """linear_regression whose variables begin with zeros."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


@public("contrib.learn.models.logistic_regression_zero_init")
def logistic_regression_zero_init(x, y):
    """logistic_regression whose variables begin with zeros."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


@public("contrib.learn.models.linear_regression")
def linear_regression(x, y, init_mean=None, init_stddev=1.0):
    """(predictions, loss) of a linear model, with summaries of its variables.

    Args:
      x: [examples, features].
      y: numbers, [examples] or [examples, outputs].
      init_mean, init_stddev: of the variables' normal initial values; by default they are the scope's.
    """
    with variable_scope("linear_regression"):
        outputs = 1 if len(y.shape) == 1 else y.shape[1]
        weights, bias = _variables(x, y, outputs, init_mean, init_stddev)
        return mean_squared_error_regressor(x, y, weights, bias)


@public("contrib.learn.models.logistic_regression")
def logistic_regression(x, y, class_weight=None, init_mean=None, init_stddev=1.0):
    """(probabilities, loss) of a linear model of classes, with summaries of its variables.

    Args:
      x: [examples, features].
      y: one-hot, [examples, classes].
      class_weight: what logits are multiplied with; by default the tensor class_weight:0, if there is one.
      init_mean, init_stddev: see linear_regression.
    """
    with variable_scope("logistic_regression"):
        weights, bias = _variables(x, y, y.shape[-1], init_mean, init_stddev)
        if not class_weight:
            try:
                class_weight = get_default_graph().get_tensor_by_name("class_weight:0")
            except KeyError:
                class_weight = None
        return softmax_classifier(x, y, weights, bias, class_weight=class_weight)


def _variables(x, y, outputs, init_mean, init_stddev):
    scope, dtype = get_variable_scope().name, x.dtype.base_dtype
    histogram(f"{scope}.x", x)
    histogram(f"{scope}.y", y)
    settings: dict[str, Any] = {"dtype": dtype}
    if init_mean is not None:
        settings["initializer"] = RandomNormal(init_mean, init_stddev, dtype=dtype)
    outputs = outputs if isinstance(outputs, int) else dimension_value(outputs)
    weights = get_variable("weights", [dimension_value(x.shape[1]), outputs], **settings)
    bias = get_variable("bias", [outputs], **settings)
    histogram(f"{scope}.weights", weights)
    histogram(f"{scope}.bias", bias)
    return weights, bias

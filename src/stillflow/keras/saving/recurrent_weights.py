"""Weights of LSTM and GRU, for layers of the other layout than those that wrote them: Keras' or cuDNN's."""

from __future__ import annotations

import numpy as np

from stillflow.names import public


def _each_gate(kernel, gates, function):
    return np.hstack([function(part) for part in np.hsplit(kernel, gates)])


def _kernels(weights, gates, from_cudnn):
    order = "F" if from_cudnn else "C"
    return [
        _each_gate(weights[0], gates, lambda part: part.T.reshape(part.shape, order=order)),
        _each_gate(weights[1], gates, np.transpose),
    ]


def _of_lstm(weights, target):
    units, shape = weights[1].shape[0], weights[2].shape
    if shape not in ((8 * units,), (4 * units,)):
        raise ValueError(f"Invalid bias shape: {shape}")
    from_cudnn = shape == (8 * units,)
    if from_cudnn == (target == "CuDNNLSTM"):
        return weights
    # Only the sum of the two biases of cuDNN matters.
    bias = sum(np.split(weights[2], 2)) if from_cudnn else np.tile(0.5 * weights[2], 2)
    return [*_kernels(weights, 4, from_cudnn), bias]


def _of_gru(weights, target):
    units, shape = weights[1].shape[0], weights[2].shape
    sources = {
        (6 * units,): "CuDNNGRU", (2, 3 * units): "GRU(reset_after=True)", (3 * units,): "GRU(reset_after=False)",
    }  # fmt: skip
    if shape not in sources:
        raise ValueError(f"Invalid bias shape: {shape}")
    source = sources[shape]
    if source == target:
        return weights
    if "GRU(reset_after=False)" in (source, target):
        raise ValueError(f"{source} is not compatible with {target}")
    from_cudnn = source == "CuDNNGRU"
    return [*_kernels(weights, 3, from_cudnn), np.reshape(weights[2], (2, -1) if from_cudnn else -1)]


def _of_parts(layers, weights):
    """The weights of several layers, one after the other."""
    found: list = []
    for layer in layers:
        count = len(layer.weights)
        found += fitted(layer, weights[:count])
        weights = weights[count:]
    return found


@public(
    "python.keras.saving.hdf5_format.preprocess_weights_for_loading",
    "python.keras.engine.saving.preprocess_weights_for_loading",
)
def preprocess_weights_for_loading(layer, weights, original_keras_version=None, original_backend=None):
    """Arrays for the weights of a layer, of those that a file has.

    Weights of LSTM and CuDNNLSTM become each other, and those of GRU(reset_after=True) and CuDNNGRU, also inside of
    wrappers and models.

    Args:
      layer: a layer.
      weights: a list of arrays.
      original_keras_version, original_backend: what wrote the file: Keras 2 of TensorFlow.

    Raises:
      ValueError: for weights of GRU(reset_after=False) and a layer of the other kind; for biases of another shape.
    """
    return fitted(layer, weights)


def fitted(layer, weights):
    """See `preprocess_weights_for_loading`."""
    kind = type(layer).__name__
    if kind == "Bidirectional":
        half = len(weights) // 2
        return fitted(layer.forward_layer, weights[:half]) + fitted(layer.backward_layer, weights[half:])
    if kind == "TimeDistributed":
        return fitted(layer.layer, weights)
    if kind in ("Model", "Sequential") and layer.trainable:
        trained = sum(len(each.trainable_weights) for each in layer.layers)
        if trained == len(weights):
            return _of_parts(layer.layers, weights)
    if len(weights) == 3 and kind in ("LSTM", "CuDNNLSTM"):
        return _of_lstm(weights, kind)
    if len(weights) == 3 and kind in ("GRU", "CuDNNGRU"):
        return _of_gru(weights, kind if kind == "CuDNNGRU" else f"GRU(reset_after={layer.reset_after})")
    return weights

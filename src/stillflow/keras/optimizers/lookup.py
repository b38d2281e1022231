"""Optimizers by name, and those of tf.train as optimizers of Keras."""

from __future__ import annotations

from stillflow.graph.name_scope import name_scope
from stillflow.keras.backend.values import variable
from stillflow.keras.optimizers import adam, by_squares, classic, gradient_descent
from stillflow.keras.optimizers.base import OptimizerV2
from stillflow.keras.serialization import deserialize_keras_object
from stillflow.layers.core import serialization
from stillflow.names import public
from stillflow.saver import weight_values
from stillflow.tracking.base import Trackable
from stillflow.training.optimizer import Optimizer

_KNOWN = {
    kind.__name__.lower(): kind
    for kind in (
        by_squares.Adadelta, by_squares.Adagrad, adam.Adam, adam.Adamax, adam.Nadam, by_squares.RMSprop,
        gradient_descent.SGD, by_squares.Ftrl,
    )
}  # fmt: skip


@public("python.keras.optimizers.TFOptimizer")
class TFOptimizer(Trackable):
    """An optimizer of tf.train, as one of Keras."""

    def __init__(self, optimizer, iterations=None):
        self.optimizer = optimizer
        self._track_trackable(optimizer, name="optimizer")
        if iterations is None:
            with name_scope(type(self).__name__):
                iterations = variable(0, dtype="int64", name="iterations")
        self.iterations = iterations
        self._track_trackable(iterations, name="global_step")

    def apply_gradients(self, grads):
        return self.optimizer.apply_gradients(grads, global_step=self.iterations)

    def get_grads(self, loss, params):
        return self.optimizer.compute_gradients(loss, params)

    def get_updates(self, loss, params):
        """A list of the operation that changes variables so that a loss becomes less."""
        if not params:
            return [self.iterations.assign_add(1)]
        return [self.apply_gradients(self.get_grads(loss, params))]

    @property
    def weights(self):
        raise NotImplementedError

    def get_config(self):
        raise NotImplementedError

    def from_config(self, config):
        raise NotImplementedError


@public("python.keras.backend.track_tf_optimizer")
def track_tf_optimizer(tf_optimizer):
    """Says that the variables of a TFOptimizer's optimizer belong to a model, so that they get initial values."""
    weight_values.made_by(tf_optimizer.optimizer)


@public("keras.optimizers.serialize")
def serialize(optimizer):
    """An optimizer as plain values, or its name; see `deserialize`."""
    return serialization.serialize(optimizer)


@public("keras.optimizers.deserialize")
def deserialize(config, custom_objects=None):
    """The optimizer of what `serialize` returned. Raises ValueError for an unknown one."""
    if config["class_name"].lower() in _KNOWN:
        config["class_name"] = config["class_name"].lower()  # of the program's own dictionary, as in TensorFlow
    return deserialize_keras_object(config, _KNOWN, custom_objects, "optimizer")


@public("keras.optimizers.get")
def get(identifier):
    """The optimizer that an argument means: a name, a config, or an object, of tf.train too.

    Raises ValueError for anything else.
    """
    if isinstance(identifier, (OptimizerV2, TFOptimizer, classic.Optimizer)):
        return identifier
    if isinstance(identifier, Optimizer):
        optimizer = TFOptimizer(identifier)
        track_tf_optimizer(optimizer)
        return optimizer
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    raise ValueError("Could not interpret optimizer identifier:", identifier)

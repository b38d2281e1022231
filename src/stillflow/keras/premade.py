"""Models of tf.keras.experimental: linear ones, and those that are wide and deep."""

from __future__ import annotations

from stillflow import ops
from stillflow.keras.engine.model import Model
from stillflow.keras.serialization import deserialize_layer, serialize_keras_object
from stillflow.layers.core import activations, initializers, regularizers
from stillflow.layers.core.dense import Dense
from stillflow.layers.core.layer import Layer
from stillflow.names import public


@public("keras.experimental.LinearModel")
class LinearModel(Model):
    """The sum of linear functions of the inputs, which may be sparse, and a bias.

    Args:
      units: the size of the outputs.
      activation: a function or a name; None for none.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: callables or names.
      kernel_regularizer, bias_regularizer: functions from a variable to a loss.
      kwargs: as of tf.keras.Model.

    Raises:
      ValueError: when called with another number of inputs than before.
    """

    def __init__(
        self, units=1, activation=None, use_bias=True, kernel_initializer="glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None, **kwargs,
    ):  # fmt: skip
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        super().__init__(**kwargs)

    def build(self, input_shape):
        self.dense_layers = [
            Dense(
                self.units, use_bias=False, kernel_initializer=self.kernel_initializer,
                kernel_regularizer=self.kernel_regularizer,
            )
            for _ in (input_shape if isinstance(input_shape, list) else [input_shape])
        ]  # fmt: skip
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", shape=[self.units], initializer=self.bias_initializer, regularizer=self.bias_regularizer,
                dtype=self.dtype, trainable=True,
            )  # fmt: skip

    def call(self, inputs):  # type: ignore[override]
        inputs = inputs if isinstance(inputs, (tuple, list)) else [inputs]
        if len(inputs) != len(self.dense_layers):
            raise ValueError(f"Expected {len(self.dense_layers)} inputs, but got {len(inputs)} inputs")
        result = self.dense_layers[0](inputs[0])
        for layer, each in zip(self.dense_layers[1:], inputs[1:], strict=True):
            result += layer(each)
        if self.use_bias:
            result = ops.bias_add(result, self.bias)
        return result if self.activation is None else self.activation(result)

    def get_config(self):
        return {
            **Layer.get_config(self), "units": self.units, "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias, "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
        }  # fmt: skip

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model of what `get_config` returned."""
        return cls(**config)


@public("keras.experimental.WideDeepModel")
class WideDeepModel(Model):
    """The mean of a linear model and a deep one: Cheng et al. 2016, arXiv:1606.07792.

    `compile` takes one optimizer, or a list of the linear model's and the deep one's.

    Args:
      linear_model, dnn_model: the two. A list of two inputs has those of each; otherwise both get all inputs.
      activation: a function or a name; None for none.
      kwargs: as of tf.keras.Model.
    """

    def __init__(self, linear_model, dnn_model, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.linear_model = linear_model
        self.dnn_model = dnn_model
        self.activation = activations.get(activation)

    def call(self, inputs):  # type: ignore[override]
        of_each = inputs if isinstance(inputs, (tuple, list)) and len(inputs) == 2 else (inputs, inputs)
        output = 0.5 * (self.linear_model(of_each[0]) + self.dnn_model(of_each[1]))
        return self.activation(output) if self.activation else output

    def _optimizers_and_weights(self, weights):
        both = self.optimizer if isinstance(self.optimizer, (tuple, list)) else [self.optimizer] * 2
        known = {id(weight) for weight in weights}
        return [
            (optimizer, [weight for weight in model._unique_trainable_weights if id(weight) in known])
            for optimizer, model in zip(both, (self.linear_model, self.dnn_model), strict=True)
        ]

    def get_config(self):
        return {
            **Layer.get_config(self), "linear_model": serialize_keras_object(self.linear_model),
            "dnn_model": serialize_keras_object(self.dnn_model),
            "activation": activations.serialize(self.activation),
        }  # fmt: skip

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model of what `get_config` returned."""
        config = dict(config)
        known = {"LinearModel": LinearModel, **(custom_objects or {})}
        linear_model, dnn_model = (deserialize_layer(config.pop(key), known) for key in ("linear_model", "dnn_model"))
        activation = activations.deserialize(config.pop("activation", None), custom_objects)
        return cls(linear_model, dnn_model, activation=activation, **config)

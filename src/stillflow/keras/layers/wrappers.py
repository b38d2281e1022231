"""Wrapper, and TimeDistributed: a layer applied to each step of sequences."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.arithmetic import any_
from stillflow.keras.backend.recurrence import rnn
from stillflow.keras.backend.values import int_shape
from stillflow.keras.layers.cells import takes
from stillflow.keras.serialization import deserialize_layer
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.names import public


@public("keras.layers.Wrapper")
class Wrapper(Layer):
    """The base of layers that have another one.

    Args:
      layer: the other one.
    """

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise AssertionError(f"{layer} is no layer")
        self.layer = layer
        self._input_map: dict = {}
        super().__init__(**kwargs)

    def build(self, input_shape=None):
        if not self.layer.built:
            self.layer.build(input_shape)
        self.built = True

    @property  # type: ignore[misc]
    def activity_regularizer(self):  # type: ignore[override]
        """The layer's."""
        return getattr(self.layer, "activity_regularizer", None)

    def get_config(self):
        layer = {"class_name": type(self.layer).__name__, "config": self.layer.get_config()}
        return {**super().get_config(), "layer": layer}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A layer of what `get_config` returned."""
        layer = deserialize_layer(config.pop("layer"), custom_objects=custom_objects)
        return cls(layer, **config)


def _is_of_the_library(layer):
    """Whether it is of a class of this package, or derived from one other than Layer."""
    return any(
        issubclass(kind, Layer) and kind is not Layer and kind.__module__.startswith("stillflow.")
        for kind in type(layer).__mro__
    )


@public("keras.layers.TimeDistributed")
class TimeDistributed(Wrapper):
    """A layer applied to each step of inputs [batch, time, ...].

    Args:
      layer: the layer.

    Raises:
      ValueError: for what is no layer, and if called with inputs of less than three dimensions.
    """

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Please initialize `TimeDistributed` layer with a `Layer` instance. You passed: {layer}"
            )
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        # Such layers do not mix samples, so that steps may be samples.
        self._always_use_reshape = _is_of_the_library(layer) and not getattr(layer, "stateful", False)

    def build(self, input_shape):  # type: ignore[override]
        sizes = TensorShape(input_shape).as_list()
        if len(sizes) < 3:
            raise ValueError(
                "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 dimensions, received: "
                f"{sizes}"
            )
        self.input_spec = InputSpec(shape=[None, None, *sizes[2:]])
        super().build(TensorShape([sizes[0], *sizes[2:]]))
        self.built = True

    def compute_output_shape(self, input_shape):
        batch, steps, *sizes = TensorShape(input_shape).as_list()
        batch, *sizes = TensorShape(self.layer.compute_output_shape(TensorShape([batch, *sizes]))).as_list()
        return TensorShape([batch, steps, *sizes])

    def _shape(self, first, tensor, start, sizes=None):
        """A shape of `first` and the sizes of a tensor from an axis on: integers where they are known."""
        sizes = list(int_shape(tensor)[start:] if sizes is None else sizes)
        if all(sizes):
            return (*first, *sizes)
        shape = ops.shape(tensor)
        return (*first, *(size or shape[start + i] for i, size in enumerate(sizes)))

    def call(self, inputs, training=None, mask=None):
        given = {"training": training} if takes(self.layer.call, "training") else {}
        sizes = int_shape(inputs)
        if sizes[0] and not self._always_use_reshape:
            _, outputs, _ = rnn(
                lambda x, _: (self.layer(x, **given), []), inputs, initial_states=[], input_length=sizes[1]
            )
            return outputs
        steps = sizes[1] or ops.shape(inputs)[1]
        samples = ops.reshape(inputs, self._shape((-1,), inputs, 2))
        self._input_map[_ids(inputs)] = samples
        if mask is not None and takes(self.layer.call, "mask"):
            given["mask"] = ops.reshape(mask, self._shape((-1,), mask, 2))
        outputs = self.layer(samples, **given)
        known = self.compute_output_shape(sizes).as_list()
        return ops.reshape(outputs, self._shape((-1, steps), outputs, 1, known[2:]))

    def compute_mask(self, inputs, mask=None):
        """The inputs' mask, where the batch size is known; else that which the layer makes of it."""
        sizes = int_shape(inputs)
        if sizes[0]:
            return mask
        inner = None if mask is None else ops.reshape(mask, self._shape((-1,), mask, 2))
        found = self.layer.compute_mask(self._input_map.get(_ids(inputs), inputs), inner)
        if found is not None:
            known = int_shape(found)
            if known is None:
                known = int_shape(mask) if mask is not None else self.compute_output_shape(sizes).as_list()[:-1]
            steps = sizes[1] or ops.shape(inputs)[1]
            return ops.reshape(found, self._shape((-1, steps), found, 1, known[1:]))
        if mask is None:
            return None
        for _ in range(2, len(int_shape(mask))):
            mask = any_(mask, axis=-1)
        return mask


def _ids(inputs):
    return ", ".join(str(abs(id(each))) for each in nest.flatten(inputs))

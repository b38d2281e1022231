"""Lambda: a layer that is a function."""

from __future__ import annotations

import inspect
import sys
import types
from typing import Any

import numpy as np

from stillflow.eager.modes import eager_mode
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.values import track_variable
from stillflow.keras.engine.shapes import as_tensor_shapes, as_tuples, flat_shapes, map_shapes
from stillflow.keras.function_code import func_dump, func_load
from stillflow.keras.serialization import deserialize_keras_object
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.symbols import scope_of_variables
from stillflow.names import public
from stillflow.platform import logging
from stillflow.tracking.structures import NoDependency
from stillflow.variables.creators import variable_creator_scope


@public("keras.layers.Lambda")
class Lambda(Layer):
    """A layer that is a function of its inputs.

    Args:
      function: the function. It may take `mask` and `training`.
      output_shape: the shape of its outputs, without the batch, or a function of that of the inputs.
      mask: the mask of the outputs, or a function of the inputs and their mask.
      arguments: a dictionary of further arguments of the function.
    """

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.function = function
        self.arguments = arguments or {}
        if mask is not None:
            self.supports_masking = True
        self.mask = mask
        self._output_shape = output_shape
        names = inspect.getfullargspec(function).args
        self._passed_on = [name for name in ("mask", "training") if name in names]
        self._variables_by_name: Any = NoDependency({})

    def call(self, inputs, mask=None, training=None):
        given = {"mask": mask, "training": training}
        with variable_creator_scope(self._variable_of_name):
            return self.function(inputs, **{**self.arguments, **{name: given[name] for name in self._passed_on}})

    def _variable_of_name(self, next_creator, **options):
        """Makes a variable that the function asks for, in its first call; it is the layer's own from then on."""
        name = options["name"]
        if name not in self._variables_by_name:
            with scope_of_variables():
                made = self._variables_by_name[name] = next_creator(**options)
            self._weights_list(made.trainable).append(made)
            track_variable(made)
        return self._variables_by_name[name]

    def compute_output_shape(self, input_shape):
        """The shape, as `output_shape` says, or that of a call's outputs.

        Raises NotImplementedError if the function cannot be called with one tensor of each shape.
        """
        if self._output_shape is None:
            try:
                with eager_mode():
                    return super().compute_output_shape(input_shape)
            except NotImplementedError:
                raise NotImplementedError(
                    "We could not automatically infer the shape of the Lambda's output. Please specify "
                    "`output_shape` for this Lambda."
                ) from None
        if callable(self._output_shape):
            return as_tensor_shapes(self._output_shape(as_tuples(input_shape)))
        shapes = flat_shapes(as_tensor_shapes(input_shape))
        batch = shapes[0].as_list()[0] if shapes else None
        return map_shapes(lambda shape: TensorShape([batch, *TensorShape(shape).as_list()]), self._output_shape)

    def compute_mask(self, inputs, mask=None):
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self):
        config = {}
        for key, value, may_be_plain in (
            ("function", self.function, False), ("output_shape", self._output_shape, True),
            ("mask", self.mask, False),
        ):  # fmt: skip
            if key == "mask" and value is None:
                continue
            prefix = "" if key == "function" else f"{key}_"
            text, kind, module = _as_plain(value, may_be_plain)
            config[key] = text
            config[f"{prefix or 'function_'}type"] = kind
            config[f"{prefix}module"] = module
        return {**super().get_config(), **config, "arguments": self.arguments}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A layer of what `get_config` returned. Functions without names are loaded from it: trust its source."""
        config = dict(config)
        for key in ("function", "output_shape", "mask"):
            if key in config:
                prefix = "" if key == "function" else f"{key}_"
                module = config.pop(f"{prefix}module", None)
                kind = config.pop(f"{prefix or 'function_'}type")
                config[key] = _from_plain(config[key], kind, module, custom_objects)
        arguments = config.get("arguments")
        if arguments:
            config["arguments"] = {
                key: np.array(value["value"]) if isinstance(value, dict) and value.get("type") == "ndarray" else value
                for key, value in arguments.items()
            }
        return cls(**config)


def _as_plain(value, may_be_plain):
    """(plain value, "lambda", "function" or "raw", module)."""
    if isinstance(value, types.LambdaType) and value.__name__ == "<lambda>":
        return func_dump(value), "lambda", value.__module__
    if isinstance(value, types.FunctionType):
        return func_dump(value), "lambda", value.__module__
    if callable(value):
        return value.__name__, "function", value.__module__
    if may_be_plain:
        return value, "raw", None
    raise ValueError(f"Invalid input for serialization, type: {type(value)} ")


def _from_plain(value, kind, module, custom_objects):
    names: dict = {}
    if module in sys.modules:
        names.update(vars(sys.modules[module]))
    elif module is not None:
        logging.warning(f"{module} is not loaded, but a Lambda layer uses it. It may cause errors.")
    names.update(custom_objects or {})
    if kind == "raw":
        return value
    if kind == "function":
        return deserialize_keras_object(value, names, custom_objects, "function in Lambda layer")
    if kind == "lambda":
        return func_load(value, globs=names)
    raise TypeError("Unknown function type:", kind)

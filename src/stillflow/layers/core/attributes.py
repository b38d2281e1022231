"""Layers and variables among a layer's attributes: they are its own, and are saved with it."""

from __future__ import annotations

import functools
from typing import Any

from stillflow.graph import nest
from stillflow.names import public
from stillflow.saver import weight_values
from stillflow.tracking.structures import NoDependency, tracked
from stillflow.tracking.weights import has_weights, layers_in
from stillflow.variables.module import Module
from stillflow.variables.variable import Variable


@public("python.training.tracking.base.no_automatic_dependency_tracking")
def untracked(method):
    """Decorates a method: attributes that it sets are the object's own business."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        outer = self.__dict__.get("_self_setattr_tracking", True)
        self.__dict__["_self_setattr_tracking"] = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self.__dict__["_self_setattr_tracking"] = outer

    return call


class LayerAttributes(Module):
    """An object whose weights are variables that it was given as attributes, and those of layers among these."""

    _trainable_weights: list
    _non_trainable_weights: list
    trainable: Any

    def __setattr__(self, name, value):
        if not self.__dict__.get("_self_setattr_tracking", True) or hasattr(type(self), name):
            try:
                object.__setattr__(self, name, value.value if isinstance(value, NoDependency) else value)
            except AttributeError:
                raise AttributeError(
                    f'Can\'t set the attribute "{name}", likely because it conflicts with an existing read-only '
                    "@property of the object. Please choose a different name."
                ) from None
            return
        value = tracked(self, name, value)
        if name in self.__dict__:
            self._forget(name)
        self._own(value)
        object.__setattr__(self, name, value)

    def _own(self, value):
        layers = self.__dict__.setdefault("_layers", [])
        if has_weights(value) and not _is_in(value, layers):
            layers.append(value)
            for layer in layers_in([value], set()):
                if hasattr(layer, "_use_resource_variables"):
                    layer._use_resource_variables = True
        for item in nest.flatten(value):
            if isinstance(item, Variable) and not item._is_result_of_change:
                weights = self._weights_list(item.trainable)
                if not _is_in(item, weights):
                    weights.append(item)
                    weight_values.made(item)

    def _weights_list(self, trainable):
        return self.__dict__.setdefault("_trainable_weights" if trainable else "_non_trainable_weights", [])

    def __delattr__(self, name):
        self._forget(name)
        self._tracking.children.pop(name, None)
        object.__delattr__(self, name)

    def _forget(self, name):
        """Gives up what an attribute holds, unless another one holds it too."""
        value = self.__dict__.get(name)
        if not (has_weights(value) or isinstance(value, Variable)):
            return
        if any(other is value for key, other in vars(self).items() if key != name):
            return
        for key in ("_layers", "_trainable_weights", "_non_trainable_weights"):
            if key in self.__dict__:
                self.__dict__[key] = [each for each in self.__dict__[key] if each is not value]

    def _inner_layers(self):
        """The layers among the attributes, and in lists and dictionaries among them, in the order of their coming."""
        return list(layers_in(self.__dict__.get("_layers", ()), set()))

    def _of_inner_layers(self, attribute):
        """The lists that the inner layers have under a name, as one."""
        return [item for layer in self._inner_layers() for item in getattr(layer, attribute)]


def _is_in(value, values):
    return any(value is each for each in values)

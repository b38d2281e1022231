"""Objects by name, and as plain values: layers, and whatever has a `get_config`."""

from __future__ import annotations

import contextlib
import inspect

from stillflow.layers.core import serialization
from stillflow.layers.core.serialization import custom_objects as known_objects
from stillflow.names import namespace, public
from stillflow.platform.argument_specs import getfullargspec


@public("python.keras.utils.generic_utils.get_custom_objects")
@public("keras.utils.get_custom_objects")
def get_custom_objects():
    """The dictionary of objects that are known by name besides those of Keras; it may be changed."""
    return known_objects


@public("python.keras.utils.generic_utils.CustomObjectScope")
@public("keras.utils.CustomObjectScope")
class CustomObjectScope:
    """A context in which objects are known by name.

    Args:
      args: dictionaries of names and objects.
    """

    def __init__(self, *args):
        self.custom_objects = args
        self.backup: dict = {}

    def __enter__(self):
        self.backup = known_objects.copy()
        for objects in self.custom_objects:
            known_objects.update(objects)
        return self

    def __exit__(self, *exception):
        known_objects.clear()
        known_objects.update(self.backup)


@public("keras.utils.custom_object_scope")
def custom_object_scope(*args):
    """A context in which objects are known by name; see `CustomObjectScope`."""
    return CustomObjectScope(*args)


serialize_keras_object = public("keras.utils.serialize_keras_object")(serialization.serialize)


@public("keras.utils.deserialize_keras_object")
def deserialize_keras_object(identifier, module_objects=None, custom_objects=None, printable_module_name="object"):
    """What a name, or {"class_name": ..., "config": ...}, stands for.

    Args:
      identifier: the name or the dictionary; None for None.
      module_objects: {name: class or function} to look in.
      custom_objects: {name: class or function} to look in first.
      printable_module_name: what these are, for messages.

    Raises:
      ValueError: for an unknown name, or what is no name.
    """
    if identifier is None:
        return None
    if not isinstance(identifier, (str, dict)):
        raise ValueError("Could not interpret serialized object: " + str(identifier))
    if isinstance(identifier, str):
        found = _named(identifier, custom_objects, module_objects)
        if found is None:
            raise ValueError(f"Unknown {printable_module_name}:{identifier}")
        return found() if inspect.isclass(found) else found
    if "class_name" not in identifier or "config" not in identifier:
        raise ValueError(f"Improper config format: {identifier}")
    name, config = identifier["class_name"], identifier["config"]
    kind = _named(name, custom_objects, module_objects)
    if kind is None:
        raise ValueError(f"Unknown {printable_module_name}: {name}")
    if not hasattr(kind, "from_config"):
        with CustomObjectScope(custom_objects or {}):
            return kind(**config)
    if custom_objects and "custom_objects" in inspect.getfullargspec(kind.from_config).args:
        return kind.from_config(config, custom_objects={**known_objects, **custom_objects})
    with CustomObjectScope(custom_objects or {}):
        return kind.from_config(config)


def _named(name, custom_objects, module_objects):
    for objects in (custom_objects, known_objects, module_objects):
        if objects and name in objects:
            return objects[name]
    return None


class Known:
    """{name: object} of a namespace of tf.keras, besides those of others; objects are looked up when asked for."""

    def __init__(self, *prefixes, **others):
        self._prefixes = prefixes
        self._others = others

    def __contains__(self, name):
        return self._find(name) is not None

    def __getitem__(self, name):
        return self._find(name)

    def _find(self, name):
        if name in self._others:
            return namespace.find(self._others[name])
        for prefix in self._prefixes:
            with contextlib.suppress(KeyError):
                return namespace.find(f"{prefix}.{name}")
        return None


_LAYERS = Known(
    "keras.layers",
    "keras.models",
    BatchNormalizationV1="keras.layers.BatchNormalization",
    BatchNormalizationV2="keras.layers.BatchNormalization",
    AddLoss="python.keras.engine.base_layer.AddLoss",
    AddMetric="python.keras.engine.base_layer.AddMetric",
    BaseDenseAttention="python.keras.layers.dense_attention.BaseDenseAttention",
    LinearModel="keras.experimental.LinearModel",
    WideDeepModel="keras.experimental.WideDeepModel",
    SequenceFeatures="keras.experimental.SequenceFeatures",
    Network="python.keras.engine.network.Network",
    TensorFlowOpLayer="python.keras.engine.base_layer.TensorFlowOpLayer",
)


@public("keras.layers.serialize")
def serialize(layer):
    """{"class_name": ..., "config": ...} of a layer."""
    return {"class_name": type(layer).__name__, "config": layer.get_config()}


@public("keras.layers.deserialize")
def deserialize_layer(config, custom_objects=None):
    """The layer of what `serialize` returned.

    Args:
      config: the dictionary.
      custom_objects: {name: class or function} of the program's own.

    Raises:
      ValueError: for an unknown class.
    """
    return deserialize_keras_object(config, _LAYERS, custom_objects, "layer")


@public("python.keras.utils.generic_utils.has_arg")
def has_arg(fn, name, accept_all=False):
    """Whether a function has an argument of that name; with `accept_all`, also whether it takes any by name."""
    spec = getfullargspec(fn)
    return (accept_all and spec.varkw is not None) or name in spec.args

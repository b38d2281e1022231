"""Activations, initializers, regularizers and constraints by name, and as plain values that make them again."""

from __future__ import annotations

import inspect

# Names that a program has added to all that are known: what tf.keras.utils.custom_object_scope changes.
custom_objects: dict = {}


def serialize(instance):
    """A name, or {"class_name": ..., "config": ...}, that `deserialize` makes `instance` of; None for None.

    Raises ValueError for what has neither a config nor a name.
    """
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        return {"class_name": type(instance).__name__, "config": instance.get_config()}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError("Cannot serialize", instance)


# What configs of layers with weights hold, in the order in which TensorFlow writes it to files.
_ORDER = (
    "units", "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation",
    "recurrent_activation", "use_bias", "kernel_initializer", "recurrent_initializer", "bias_initializer",
    "unit_forget_bias", "kernel_regularizer", "recurrent_regularizer", "bias_regularizer", "activity_regularizer",
    "kernel_constraint", "recurrent_constraint", "bias_constraint", "dropout", "recurrent_dropout", "implementation",
    "reset_after",
)  # fmt: skip


def in_order_of_files(config):
    """A config with its keys in the order of `_ORDER`; other keys stay at their places."""
    ordered = iter(sorted((key for key in config if key in _ORDER), key=_ORDER.index))
    keys = [next(ordered) if key in _ORDER else key for key in config]
    return {key: config[key] for key in keys}


def deserialize(identifier, known, kind, more=None):
    """What a name or a config stands for. A class that is named is made an object of, without arguments.

    Args:
      identifier: what `serialize` returned.
      known: {name: class or function}.
      kind: what these are, for messages.
      more: {name: class or function}, which come first.

    Raises:
      ValueError: for an unknown name, or a dictionary that is no config.
    """
    if isinstance(identifier, dict):
        if "class_name" not in identifier or "config" not in identifier:
            raise ValueError(f"Improper config format: {identifier}")
        found, config = _find(identifier["class_name"], known, more), identifier["config"]
        if found is None:
            raise ValueError(f"Unknown {kind}: {identifier['class_name']}")
        return found.from_config(config) if hasattr(found, "from_config") else found(**config)
    found = _find(identifier, known, more)
    if found is None:
        raise ValueError(f"Unknown {kind}:{identifier}")
    return found() if inspect.isclass(found) else found


def _find(name, known, more):
    return {**known, **custom_objects, **(more or {})}.get(name)


def lookup(identifier, known, kind, makers=()):
    """What an argument of a layer means: None, a function or object itself, or what a name or config stands for.

    `makers` are names of functions that return what is wanted. Raises ValueError for anything else.
    """
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, str) and identifier in makers:
        identifier = {"class_name": identifier, "config": {}}
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier, known, kind)
    raise ValueError(f"Could not interpret {kind} identifier: {identifier}")

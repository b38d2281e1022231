"""Whether a step of a model is all of the library's code and draws no random numbers.

TensorFlow computes a batch that is given by itself operation by operation, and so runs a program's own Python code
each time. Where there is no such code, a function that is traced once gives the same.
"""

from __future__ import annotations

import types

from stillflow.keras.layers.functional import Lambda

_OWN = "stillflow."
_CALLS = ("PartitionedCall", "StatefulPartitionedCall", "PyFunc", "EagerPyFunc")


def _is_own(value):
    """Whether a value is no code of a program, and holds none directly."""
    if isinstance(value, types.MethodType):
        return _is_own(value.__self__)
    if isinstance(value, types.FunctionType):
        return value.__module__.startswith(_OWN)
    return not callable(value) or type(value).__module__.startswith(_OWN)


def _is_plain(thing):
    """Whether an object is of a class of the library, and its attributes hold no code of a program."""
    if not type(thing).__module__.startswith(_OWN) or isinstance(thing, Lambda):
        return False
    return all(_is_own(each) for value in vars(thing).values() for each in _items(value))


def _items(value):
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, (list, tuple)) else [value]


def _layers_in(layer):
    for inner in layer._inner_layers():
        yield inner
        yield from _layers_in(inner)


def is_library_code(model):
    """Whether a model's layers, losses, metrics and optimizer are all the library's own."""
    if model.dynamic or not type(model).__module__.startswith(_OWN):
        return False
    losses = [endpoint.loss_fn for endpoint in model._training_endpoints]
    parts = [*_layers_in(model), *model.metrics, model.optimizer, *(each for each in losses if each is not None)]
    return all(map(_is_plain, parts))


def is_repeatable(graph):
    """Whether a graph has no random operation of its own and calls nothing that could have one."""
    return not any(
        "seed2" in operation.node_def.attr or operation.type in _CALLS for operation in graph.get_operations()
    )

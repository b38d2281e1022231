"""Weights in HDF5 files, as Keras has always written them. Wants h5py."""

from __future__ import annotations

import numpy as np

from stillflow.keras.backend.values import batch_get_value, batch_set_value
from stillflow.keras.engine.training_config import KERAS_VERSION
from stillflow.keras.saving.recurrent_weights import fitted
from stillflow.names import public

_MOST_BYTES = 64512  # of an attribute; longer ones are written in parts


def require(message):
    """h5py. Raises ImportError with that message if it is not installed."""
    try:
        import h5py
    except ImportError:
        raise ImportError(message) from None
    return h5py


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


@public(
    "python.keras.saving.hdf5_format.save_attributes_to_hdf5_group",
    "python.keras.engine.saving.save_attributes_to_hdf5_group",
)
def save_names(group, name, data):
    """Writes a list of names as an attribute, in parts if it is too long."""
    encoded = np.asarray([each if isinstance(each, bytes) else each.encode() for each in data])
    if encoded.nbytes <= _MOST_BYTES:
        group.attrs[name] = encoded if len(encoded) else np.asarray([], "S1")
        return
    count = 1
    while any(part.nbytes > _MOST_BYTES for part in np.array_split(encoded, count)):
        count += 1
    for i, part in enumerate(np.array_split(encoded, count)):
        group.attrs[f"{name}{i}"] = part


@public(
    "python.keras.saving.hdf5_format.load_attributes_from_hdf5_group",
    "python.keras.engine.saving.load_attributes_from_hdf5_group",
)
def load_names(group, name):
    """The list of names that `save_names` has written."""
    if name in group.attrs:
        return [_text(each) for each in group.attrs[name]]
    found: list = []
    number = 0
    while f"{name}{number}" in group.attrs:
        found += [_text(each) for each in group.attrs[f"{name}{number}"]]
        number += 1
    return found


def save_variables(group, variables):
    """Writes variables to a group, under their names."""
    names = [variable.name for variable in variables]
    save_names(group, "weight_names", names)
    for name, value in zip(names, batch_get_value(variables), strict=True):
        dataset = group.create_dataset(name, value.shape, dtype=value.dtype)
        dataset[() if not value.shape else slice(None)] = value


def load_values(group):
    """The arrays that `save_variables` has written."""
    return [np.asarray(group[name]) for name in load_names(group, "weight_names")]


@public("python.keras.saving.hdf5_format.save_optimizer_weights_to_hdf5_group")
def save_optimizer_weights(hdf5_group, optimizer):
    """Writes the variables of an optimizer, if it has any, to the group `optimizer_weights` of a group."""
    if optimizer.weights:
        save_variables(hdf5_group.create_group("optimizer_weights"), optimizer.weights)


@public("python.keras.saving.hdf5_format.load_optimizer_weights_from_hdf5_group")
def load_optimizer_weights(hdf5_group):
    """The arrays that `save_optimizer_weights` has written."""
    return load_values(hdf5_group["optimizer_weights"])


def _weights(layer):
    """The variables of a layer, those to be trained first."""
    return layer.trainable_weights + layer.non_trainable_weights


@public(
    "python.keras.saving.hdf5_format.save_weights_to_hdf5_group",
    "python.keras.engine.saving.save_weights_to_hdf5_group",
)
def save_weights(f, layers):
    """Writes the weights of layers to a group."""
    save_names(f, "layer_names", [layer.name for layer in layers])
    f.attrs["backend"] = b"tensorflow"
    f.attrs["keras_version"] = KERAS_VERSION.encode()
    for layer in layers:
        save_variables(f.create_group(layer.name), _weights(layer))


@public(
    "python.keras.saving.hdf5_format.load_weights_from_hdf5_group",
    "python.keras.engine.saving.load_weights_from_hdf5_group",
)
def load_weights(f, layers):
    """Sets the weights of layers, in their order. Raises ValueError if they do not fit."""
    layers = [layer for layer in layers if layer.weights]
    names = [name for name in load_names(f, "layer_names") if load_names(f[name], "weight_names")]
    if len(names) != len(layers):
        raise ValueError(
            f"You are trying to load a weight file containing {len(names)} layers into a model with {len(layers)} "
            "layers."
        )
    pairs: list = []
    for number, (name, layer) in enumerate(zip(names, layers, strict=True)):
        variables, values = _weights(layer), fitted(layer, load_values(f[name]))
        if len(variables) != len(values):
            raise ValueError(
                f'Layer #{number} (named "{layer.name}" in the current model) was found to correspond to layer '
                f"{name} "
                f"in the save file. However the new layer {layer.name} expects {len(variables)} weights, but the "
                "saved "
                f"weights have {len(values)} elements."
            )
        pairs += zip(variables, values, strict=True)
    batch_set_value(pairs)


@public(
    "python.keras.saving.hdf5_format.load_weights_from_hdf5_group_by_name",
    "python.keras.engine.saving.load_weights_from_hdf5_group_by_name",
)
def load_weights_by_name(f, layers):
    """Sets the weights of those layers whose names are in the file. Raises ValueError if they do not fit."""
    by_name: dict = {}
    for layer in layers:
        by_name.setdefault(layer.name, []).append(layer)
    pairs: list = []
    for number, name in enumerate(load_names(f, "layer_names")):
        saved = load_values(f[name])
        for layer in by_name.get(name, ()):
            variables, values = _weights(layer), fitted(layer, saved)
            if len(variables) != len(values):
                raise ValueError(
                    f'Layer #{number} (named "{layer.name}") expects {len(variables)} weight(s), but the saved '
                    "weights "
                    f"have {len(values)} element(s)."
                )
            for variable, value in zip(variables, values, strict=True):
                if tuple(variable.shape.as_list()) != value.shape:
                    raise ValueError(
                        f'Layer #{number} (named "{layer.name}"), weight {variable} has shape {variable.shape}, but '
                        f"the saved weight has shape {value.shape}."
                    )
                pairs.append((variable, value))
    batch_set_value(pairs)

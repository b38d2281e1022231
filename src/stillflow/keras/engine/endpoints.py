"""Endpoints: what a compiled model has for each output: target, loss, weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stillflow import ops
from stillflow.graph import nest
from stillflow.keras.backend.values import dtype as type_name
from stillflow.keras.backend.values import int_shape, is_placeholder, is_sparse, placeholder
from stillflow.keras.losses import classes, functions
from stillflow.keras.losses import lookup as losses
from stillflow.keras.losses.reductions import Reduction
from stillflow.layers.core.settings import floatx, image_data_format
from stillflow.losses.classification import sparse_softmax_cross_entropy
from stillflow.names import namespace
from stillflow.platform import logging

_LABEL_DTYPES = {sparse_softmax_cross_entropy: "int32", functions.sparse_categorical_crossentropy: "int32"}


class Endpoint:
    """What belongs to an output of a compiled model.

    Attributes:
      output, output_name: the tensor and its name.
      loss_fn: a Loss, a function, or None if the output has no loss.
      loss_weight: what the loss counts in the sum.
      target: the tensor of true values, or None.
      is_fed: whether that is a placeholder, for arrays.
      sample_weight: the tensor of the samples' weights, or None; sample_weight_mode: "samplewise", "temporal", None.
      output_loss_metric: the Mean of the loss, if there are several outputs.
    """

    def __init__(self, output, output_name, loss_fn):
        self.output = output
        self.output_name = output_name
        self.loss_fn = loss_fn
        self.loss_weight = None
        self.target = None
        self.is_fed = False
        self.sample_weight = None
        self.sample_weight_mode = None
        self.output_loss_metric = None
        self._takes_no_weights = True

    @property
    def shape(self):
        return int_shape(self.output)

    @property
    def has_loss(self):
        return self.loss_fn is not None

    @property
    def takes_target(self):
        """Whether true values have to be fed."""
        return self.has_loss and self.is_fed

    @property
    def loss_name(self):
        return f"{self.output_name}_loss" if self.has_loss else None

    @property
    def takes_no_weights(self):
        """Whether weights of samples have no place."""
        return not self.has_loss or self._takes_no_weights

    def take_values(self):
        """Says that true values and weights of samples come with each batch, without tensors of a graph."""
        self.is_fed = self.has_loss
        self._takes_no_weights = not self.has_loss

    def create_target(self, target):
        """Makes the tensor of true values, unless there is one."""
        if not self.has_loss:
            return
        self.is_fed = target is None or is_placeholder(target)
        self._takes_no_weights = not self.is_fed
        if target is None:
            target = placeholder(
                ndim=len(self.shape), name=f"{self.output_name}_target", sparse=is_sparse(self.output),
                dtype=_LABEL_DTYPES.get(self.loss_fn, type_name(self.output)),
            )  # fmt: skip
        self.target = target

    def wanted_target_shape(self):
        """The shape of targets that the loss wants, or None if it may be any."""
        if not self.takes_target:
            return None
        if losses.computes(
            self.loss_fn, functions.sparse_categorical_crossentropy, classes.SparseCategoricalCrossentropy
        ):
            if image_data_format() == "channels_first":
                return (self.shape[0], 1, *self.shape[2:])
            return (*self.shape[:-1], 1)
        if not isinstance(self.loss_fn, classes.Loss):
            return None
        if isinstance(self.loss_fn, classes.LossFunctionWrapper) and not _is_of_keras(self.loss_fn.fn):
            return None
        return self.shape

    def weights_mismatch(self):
        """Whether there is a tensor of weights without a mode, or a mode without."""
        return (self.sample_weight_mode is None) != (self.sample_weight is None)

    def populate_sample_weight(self, weight):
        """Makes the tensor of the samples' weights, if the mode wants one. Raises ValueError for one of a wrong "
        "shape."""
        mode = self.sample_weight_mode
        if weight is None and (self.takes_no_weights or mode is None):
            self.sample_weight = None
            return
        rank = 2 if mode == "temporal" else 1
        default, shape = np.ones([1] * rank), [None] * rank
        if weight is None:
            weight = ops.placeholder_with_default(
                ops.constant(default, dtype=floatx()), shape=shape, name=f"{self.output_name}_sample_weights"
            )
        elif not weight.shape.is_compatible_with(shape):
            raise ValueError(f"Received sample weight with shape {weight.shape}. Expected shape {shape}.")
        self.sample_weight = weight


def _is_of_keras(function):
    try:
        namespace.find(f"keras.losses.{function.__name__}")
    except KeyError:
        return function is functions.huber_loss
    return True


def check_keys(name, values, expected):
    """Raises ValueError for keys of a dictionary that are not expected."""
    unknown = set(values) - set(expected)
    if unknown:
        raise ValueError(
            f"Unknown entries in {name} dictionary: {list(unknown)}. Only expected following keys: {list(expected)}"
        )


def loss_function(loss):
    """The loss that an argument of `compile` means."""
    if loss is None or isinstance(loss, classes.Loss):
        return loss
    if isinstance(loss, Mapping):
        loss = losses.get(loss)
    if callable(loss) and not hasattr(loss, "__name__"):
        return loss
    function = losses.get(loss)
    return classes.LossFunctionWrapper(function, name=function.__name__, reduction=Reduction.SUM_OVER_BATCH_SIZE)


def loss_functions(loss, output_names):
    """The losses of all outputs, of an argument of `compile`. Raises ValueError if these do not fit."""
    if isinstance(loss, Mapping):
        check_keys("loss", loss, output_names)
        for name in output_names:
            if name not in loss:
                logging.warning(
                    f"Output {name} missing from loss dictionary. We assume this was done on purpose. The fit and "
                    f"evaluate APIs will not be expecting any data to be passed to {name}."
                )
        return [loss_function(loss.get(name)) for name in output_names]
    if isinstance(loss, Sequence) and not isinstance(loss, str):
        if len(loss) != len(output_names):
            raise ValueError(
                "When passing a list as loss, it should have one entry per model outputs. The model has "
                f"{len(output_names)} outputs, but you passed loss={loss}"
            )
        return nest.map_structure(loss_function, list(loss))
    return [loss_function(loss) for _ in output_names]


def set_loss_weights(endpoints, loss_weights):
    """Says what the losses count. Raises ValueError or TypeError for weights that do not fit."""
    names = [endpoint.output_name for endpoint in endpoints]
    if loss_weights is None:
        weights = [1.0] * len(names)
    elif isinstance(loss_weights, Mapping):
        check_keys("loss_weights", loss_weights, names)
        weights = [loss_weights.get(name, 1.0) for name in names]
    elif isinstance(loss_weights, list):
        if len(loss_weights) != len(names):
            raise ValueError(
                "When passing a list as loss_weights, it should have one entry per model output. The model has "
                f"{len(names)} outputs, but you passed loss_weights={loss_weights}"
            )
        weights = loss_weights
    else:
        raise TypeError(f"Could not interpret loss_weights argument: {loss_weights} - expected a list of dicts.")
    for endpoint, weight in zip(endpoints, weights, strict=True):
        endpoint.loss_weight = weight


def set_sample_weight_modes(endpoints, mode):
    """Says what weights of samples are like. Raises ValueError for modes that do not fit."""
    names = [endpoint.output_name for endpoint in endpoints]
    if isinstance(mode, Mapping):
        check_keys("sample_weight_mode", mode, names)
        for endpoint in endpoints:
            if not endpoint.takes_no_weights:
                if endpoint.output_name not in mode:
                    raise ValueError(f"Output {endpoint.output_name}missing from `_sample_weight_modes` dictionary")
                endpoint.sample_weight_mode = mode[endpoint.output_name]
        return
    if isinstance(mode, (list, tuple)):
        if len(mode) != len(endpoints):
            raise ValueError(
                "When passing a list as sample_weight_mode, it should have one entry per model output. The model has "
                f"{len(endpoints)} outputs, but you passed {len(mode)}_sample_weight_modes."
            )
    else:
        mode = [mode] * len(endpoints)
    for each, endpoint in zip(mode, endpoints, strict=True):
        if not endpoint.takes_no_weights:
            endpoint.sample_weight_mode = each

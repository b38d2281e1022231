"""Cells: what recurrent layers do at each step. Their base, stacks of them, dropout that stays the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from stillflow import ops
from stillflow.eager.tensor import EagerTensor
from stillflow.graph import nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.keras.backend.choices import in_train_phase
from stillflow.keras.backend.neural import dropout as dropped_out
from stillflow.keras.serialization import deserialize_layer
from stillflow.layers.core import activations, constraints, initializers, regularizers
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.serialization import in_order_of_files, serialize
from stillflow.names import public
from stillflow.platform import logging


def takes(function, argument):
    """Whether a function has an argument of that name."""
    return argument in inspect.getfullargspec(function).args


def is_multiple(state_size):
    """Whether there are several states."""
    return hasattr(state_size, "__len__") and not isinstance(state_size, TensorShape)


def zero_state(batch_size, state_size, dtype):
    """States of zeros. Raises ValueError without a batch size and a type."""
    if batch_size is None or dtype is None:
        raise ValueError(
            "batch_size and dtype cannot be None while constructing initial state: "
            f"batch_size={batch_size}, dtype={dtype}"
        )

    def zeros(size):
        return ops.zeros([batch_size, *as_shape(size).as_list()], dtype=dtype)

    return nest.map_structure(zeros, state_size) if nest.is_nested(state_size) else zeros(state_size)


def zero_state_of(cell, inputs, batch_size, dtype):
    """A cell's states of zeros, for inputs, or else for that batch size and type."""
    if inputs is not None:
        batch_size, dtype = ops.shape(inputs)[0], inputs.dtype
    return zero_state(batch_size, cell.state_size, dtype)


@public("keras.layers.AbstractRNNCell")
class AbstractRNNCell(Layer):
    """The base of cells: subclasses have `state_size`, `output_size`, and `call`, which does one step."""

    def call(self, inputs, states):
        """(the output, the next states) of one step."""
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self):
        """The size of the states: an integer or a shape, or several."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        """The size of outputs: an integer or a shape."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros, for inputs, or else for that batch size and type."""
        return zero_state_of(self, inputs, batch_size, dtype)


def output_size_of(cell):
    """The size of a cell's outputs: by default that of its first state."""
    if getattr(cell, "output_size", None) is not None:
        return cell.output_size
    return cell.state_size[0] if is_multiple(cell.state_size) else cell.state_size


@public("keras.layers.StackedRNNCells")
class StackedRNNCells(Layer):
    """Cells one upon the other, as one cell.

    Args:
      cells: the cells, the lowest first.
      reverse_state_order: whether states come in the opposite order.

    Raises:
      ValueError: for one without `call` or `state_size`.
    """

    def __init__(self, cells, **kwargs):
        for cell in cells:
            if not hasattr(cell, "call"):
                raise ValueError("All cells must have a `call` method. received cells:", cells)
            if not hasattr(cell, "state_size"):
                raise ValueError("All cells must have a `state_size` attribute. received cells:", cells)
        self.cells = cells
        self.reverse_state_order = kwargs.pop("reverse_state_order", False)
        if self.reverse_state_order:
            logging.warning(
                "reverse_state_order=True in StackedRNNCells will soon be deprecated. Please update the code to work "
                "with the natural order of states if you rely on the RNN states, eg RNN(return_state=True)."
            )
        super().__init__(**kwargs)

    @property
    def _cells_as_states(self):
        return self.cells[::-1] if self.reverse_state_order else self.cells

    @property
    def state_size(self):
        """The sizes of all cells' states."""
        return tuple(cell.state_size for cell in self._cells_as_states)

    @property
    def output_size(self):
        """The size of the last cell's outputs."""
        return output_size_of(self.cells[-1])

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """All cells' initial states, for inputs, or else for that batch size and type."""
        states = []
        for cell in self._cells_as_states:
            if getattr(cell, "get_initial_state", None):
                states.append(cell.get_initial_state(inputs=inputs, batch_size=batch_size, dtype=dtype))
            else:
                states.append(zero_state_of(cell, inputs, batch_size, dtype))
        return tuple(states)

    def call(self, inputs, states, constants=None, **kwargs):
        state_size = self.state_size[::-1] if self.reverse_state_order else self.state_size
        new_states = []
        for cell, state in zip(self.cells, nest.pack_sequence_as(state_size, nest.flatten(states)), strict=True):
            state = state if nest.is_nested(state) else [state]
            if len(state) == 1 and hasattr(cell, "_is_tf_rnn_cell"):
                state = state[0]
            more = {"constants": constants} if takes(cell.call, "constants") else {}
            inputs, new_state = cell.call(inputs, state, **more, **kwargs)
            new_states.append(new_state)
        return inputs, nest.pack_sequence_as(state_size, nest.flatten(new_states))

    def build(self, input_shape):
        shape = as_shape(input_shape[0] if isinstance(input_shape, list) else input_shape)
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(shape)
            shape = TensorShape([shape.as_list()[0], *as_shape(output_size_of(cell)).as_list()])
        self.built = True

    def get_config(self):
        cells = [{"class_name": type(cell).__name__, "config": cell.get_config()} for cell in self.cells]
        return {**super().get_config(), "cells": cells}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Cells of what `get_config` returned."""
        cells = [deserialize_layer(cell, custom_objects=custom_objects) for cell in config.pop("cells")]
        return cls(cells, **config)


class DropoutMasks:
    """Masks of dropout that are made once for all steps of a call; a layer says when a call begins."""

    dropout: float
    recurrent_dropout: float
    _masks: dict | None = None

    def _mask(self, kind, rate, like, training, count):
        if rate == 0:
            return None
        masks = self.__dict__.setdefault("_masks", {})
        key = kind, isinstance(like, EagerTensor)
        if key not in masks or not _is_known_here(masks[key]):
            ones = ops.ones_like(like)

            def mask():
                return in_train_phase(lambda: dropped_out(ones, rate), ones, training=training)

            masks[key] = [mask() for _ in range(count)] if count > 1 else mask()
        return masks[key]

    def _forget_masks(self, kind):
        masks = self.__dict__.setdefault("_masks", {})
        for key in [key for key in masks if key[0] == kind]:
            del masks[key]

    def reset_dropout_mask(self):
        """Forgets the masks of inputs."""
        self._forget_masks("inputs")

    def reset_recurrent_dropout_mask(self):
        """Forgets the masks of states."""
        self._forget_masks("states")

    def get_dropout_mask_for_cell(self, inputs, training, count=1):
        """The mask of inputs, or a list of `count`; None without dropout."""
        return self._mask("inputs", self.dropout, inputs, training, count)

    def get_recurrent_dropout_mask_for_cell(self, inputs, training, count=1):
        """The mask of states, or a list of `count`; None without dropout."""
        return self._mask("states", self.recurrent_dropout, inputs, training, count)


def _is_known_here(masks):
    """Whether masks are of the default graph, or one around it: cells in a stack keep those of other graphs."""
    mask = masks[0] if isinstance(masks, list) else masks
    if isinstance(mask, EagerTensor):
        return True
    graph = get_default_graph()
    while graph is not None and graph is not mask.graph:
        graph = getattr(graph, "outer_graph", None)
    return graph is not None


class WeightedCell(DropoutMasks, Layer):
    """What cells with a kernel, a recurrent kernel and a bias have in common."""

    _gates = 1
    kernel_initializer: Callable
    bias_initializer: Callable

    def _set_options(self, units, activation, use_bias, options, dropout, recurrent_dropout):
        """Options are the initializers, regularizers and constraints of the three weights, by names."""
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        for key, value in options.items():
            kind = key.rpartition("_")[2]
            modules = {"initializer": initializers, "regularizer": regularizers, "constraint": constraints}
            setattr(self, key, modules[kind].get(value))
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))

    def _weight(self, name, shape, initializer=None):
        prefix = "recurrent" if name == "recurrent_kernel" else name
        return self.add_weight(
            shape=shape, name=name, initializer=initializer or getattr(self, f"{prefix}_initializer"),
            regularizer=getattr(self, f"{prefix}_regularizer"), constraint=getattr(self, f"{prefix}_constraint"),
        )  # fmt: skip

    def build(self, input_shape):
        width = TensorShape(input_shape).as_list()[-1]
        self.kernel = self._weight("kernel", (width, self.units * self._gates))
        self.recurrent_kernel = self._weight("recurrent_kernel", (self.units, self.units * self._gates))
        self.bias = self._new_bias() if self.use_bias else None
        self.built = True

    def _new_bias(self):
        return self._weight("bias", (self.units * self._gates,))

    def _columns(self, matrix, gate, count=1):
        """The columns of one gate, or of several."""
        begin, end = gate * self.units, (gate + count) * self.units
        columns = slice(begin or None, None if gate + count == self._gates else end)
        return matrix[columns] if matrix.shape.ndims == 1 else matrix[:, columns]

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros, for inputs, or else for that batch size and type."""
        return zero_state_of(self, inputs, batch_size, dtype)

    def get_config(self):
        return in_order_of_files({**super().get_config(), **config_of_weights(self)})


PLAIN = ("units", "use_bias", "dropout", "recurrent_dropout")
MADE = (
    "activation", "kernel_initializer", "recurrent_initializer", "bias_initializer", "kernel_regularizer",
    "recurrent_regularizer", "bias_regularizer", "kernel_constraint", "recurrent_constraint", "bias_constraint",
)  # fmt: skip
MADE_GATED = ("recurrent_activation", *MADE)


def config_of_weights(layer, plain=PLAIN, made=MADE):
    """The arguments that cells and their layers have in common, as plain values."""
    return {
        **{key: getattr(layer, key) for key in plain},
        **{key: serialize(getattr(layer, key)) for key in made},
    }


def of_cell(name):
    """A property that a recurrent layer's cell has."""
    return property(lambda self: getattr(self.cell, name), doc=f"The cell's `{name}`.")

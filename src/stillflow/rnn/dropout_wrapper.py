"""DropoutWrapper: dropout of a cell's inputs, states and outputs."""

from __future__ import annotations

import hashlib
import itertools
import numbers

from stillflow import ops
from stillflow.composites.dropout import dropout_at_rate
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shallow_nest import get_traverse_shallow_structure, map_structure_up_to
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform
from stillflow.rnn import stored_functions
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.rnn.wrappers import RNNCellWrapper


def _all_but_c(substate):
    """Whether to drop elements of a part of a state: all parts, but no TensorArrays, and not an LSTM's `c`."""
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(substate, TensorArray)


def _probability(value, argument):
    """A probability as a float, or as a tensor if it is not known. Raises ValueError unless it is in [0, 1]."""
    tensor = convert_to_tensor(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {argument} must be between 0 and 1: {int(known)}")
    return float(known)


def _may_drop(keep_prob):
    return not isinstance(keep_prob, float) or keep_prob < 1


def _map_numbered(shallow, function, *structures):
    """function(number, part, ...) of what stands in the places of the leaves of `shallow`, which are numbered."""
    count = itertools.count()
    return map_structure_up_to(shallow, lambda *parts: function(next(count), *parts), *structures)


@public(
    "nn.rnn_cell.DropoutWrapper", "contrib.rnn.DropoutWrapper", "contrib.rnn.python.ops.core_rnn_cell.DropoutWrapper"
)
class DropoutWrapper(RNNCellWrapper):
    """Sets random elements of a cell's inputs, states and outputs to 0, and scales the others up.

    Args:
      cell: the cell.
      input_keep_prob, output_keep_prob, state_keep_prob: the share of elements to keep, of inputs, of outputs, and
        of next states; a float or scalar tensor. All are kept at 1.
      variational_recurrent: whether the same elements are dropped in all steps of a run, as in
        https://arxiv.org/abs/1512.05287.
      input_size: the sizes of inputs without the batch, TensorShapes in their structure; for
        `variational_recurrent`, if there is dropout of inputs.
      dtype: the type of inputs, states and outputs, for `variational_recurrent`.
      seed: an integer; what is drawn for inputs, states and outputs follows from it.
      dropout_state_filter_visitor: a function of a part of a state that returns whether there is dropout of it, or a
        structure of such answers. By default there is none of an LSTM's `c`, and of TensorArrays.

    Raises:
      TypeError: if `cell` is none, or `dropout_state_filter_visitor` cannot be called.
      ValueError: for probabilities that are none, and if `variational_recurrent` lacks what it needs.
    """

    def __init__(
        self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0, variational_recurrent=False,
        input_size=None, dtype=None, seed=None, dropout_state_filter_visitor=None, **kwargs,
    ):  # fmt: skip
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._dropout_state_filter = dropout_state_filter_visitor or _all_but_c
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._recurrent_input_noise = self._recurrent_state_noise = self._recurrent_output_noise = None
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability(input_keep_prob, "input_keep_prob")
            self._state_keep_prob = _probability(state_keep_prob, "state_keep_prob")
            self._output_keep_prob = _probability(output_keep_prob, "output_keep_prob")
        if variational_recurrent:
            self._draw_once(dtype)

    def _draw_once(self, dtype):
        """Makes what decides in all steps which elements are dropped."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        if not isinstance(self._input_keep_prob, numbers.Real) or self._input_keep_prob < 1.0:
            if self._input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be "
                    "provided"
                )
            self._recurrent_input_noise = self._noise("input", self._input_size, dtype)
        self._recurrent_state_noise = self._noise("state", self.cell.state_size, dtype)
        self._recurrent_output_noise = self._noise("output", self.cell.output_size, dtype)

    def _noise(self, what, sizes, dtype):
        """Uniform numbers in the structure of `sizes`, one row for all of a batch."""

        def drawn(number, size):
            shape = ops.concat(([1], TensorShape(size).as_list()), 0)
            return random_uniform(shape, seed=self._gen_seed(what, number), dtype=dtype)

        return _map_numbered(sizes, drawn, sizes)

    def _gen_seed(self, salt_prefix, index):
        """The seed for a tensor of the inputs, states or outputs; None without a seed."""
        if self._seed is None:
            return None
        text = f"{self._seed}{salt_prefix}_{index}"
        return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF

    @property
    def wrapped_cell(self):
        """The cell inside."""
        return self.cell

    def _call_wrapped_cell(self, inputs, state, cell_call_fn, **kwargs):
        if _may_drop(self._input_keep_prob):
            inputs = self._dropped("input", inputs, self._recurrent_input_noise, self._input_keep_prob)
        output, new_state = cell_call_fn(inputs, state, **kwargs)
        if _may_drop(self._state_keep_prob):
            chosen = get_traverse_shallow_structure(self._dropout_state_filter, new_state)
            noise = self._recurrent_state_noise
            new_state = self._dropped("state", new_state, noise, self._state_keep_prob, chosen)
        if _may_drop(self._output_keep_prob):
            output = self._dropped("output", output, self._recurrent_output_noise, self._output_keep_prob)
        return output, new_state

    def _dropped(self, what, values, noise, keep_prob, chosen=None):
        """`values` after dropout, but for parts for which `chosen` is False."""
        chosen = values if chosen is None else chosen

        def dropped(number, is_chosen, value, value_noise=None):
            if is_chosen is False:
                return value
            if self._variational_recurrent:
                return _dropped_by(value_noise, value, keep_prob)
            return dropout_at_rate(value, 1.0 - keep_prob, seed=self._gen_seed(what, number))

        structures = [values, noise] if self._variational_recurrent else [values]
        return _map_numbered(chosen, dropped, chosen, *structures)

    def get_config(self):
        """The arguments, as plain values; but probabilities may be tensors."""
        keys = "input_keep_prob output_keep_prob state_keep_prob variational_recurrent input_size seed"
        config = {**super().get_config(), **{key: getattr(self, f"_{key}") for key in keys.split()}}
        if self._dropout_state_filter is not _all_but_c:
            names = "dropout_fn", "dropout_fn_type", "dropout_fn_module"
            config.update(zip(names, stored_functions.to_config(self._dropout_state_filter), strict=True))
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A cell of what `get_config` returned, in which "cell" has been replaced by a cell."""
        if "dropout_fn" in config:
            config = dict(config)
            config["dropout_state_filter_visitor"] = stored_functions.from_config(
                config.pop("dropout_fn"), config.pop("dropout_fn_type"), config.pop("dropout_fn_module", None),
                custom_objects,
            )  # fmt: skip
        return super().from_config(config, custom_objects)


def _dropped_by(noise, value, keep_prob):
    """value / keep_prob where keep_prob + noise is at least 1, 0 elsewhere."""
    is_kept = ops.floor(keep_prob + noise)
    result = ops.div(value, keep_prob) * is_kept
    result.set_shape(value.shape)
    return result

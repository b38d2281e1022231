"""ResidualWrapper and DeviceWrapper, and what all cells around another cell have in common."""

from __future__ import annotations

from stillflow.graph import nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.rnn import stored_functions
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.states import assert_like_rnncell
from stillflow.tracking.base import Trackable


@public("python.ops.rnn_cell_impl._RNNCellWrapperV1")
class RNNCellWrapper(RNNCell):
    """A cell that does something with the inputs, states and outputs of another one, `cell`.

    Subclasses have `_call_wrapped_cell`. Raises TypeError if `cell` is none.
    """

    def __init__(self, cell, *args, **kwargs):
        super().__init__(*args, **kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell
        if isinstance(cell, Trackable):
            self._track_trackable(cell, name="cell")

    @property
    def state_size(self):
        return self.cell.state_size

    @property
    def output_size(self):
        return self.cell.output_size

    def zero_state(self, batch_size, dtype):
        """The zero state of the cell inside."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped_cell(self, inputs, state, cell_call_fn, **kwargs):
        """(output, next state); `cell_call_fn` is what calls the cell inside."""
        raise NotImplementedError

    def __call__(self, inputs, state, scope=None):
        """(output, next state). `scope` is the variable scope that the cell inside gets."""
        return self._call_wrapped_cell(inputs, state, cell_call_fn=self.cell.__call__, scope=scope)

    def get_config(self):
        """The arguments, as plain values; the cell inside as its class' name and its arguments."""
        inside = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {**super().get_config(), "cell": inside}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A cell of what `get_config` returned, in which "cell" has been replaced by a cell.

        Raises ValueError if it has not.
        """
        arguments = dict(config)
        cell = arguments.pop("cell")
        try:
            assert_like_rnncell("cell", cell)
            return cls(cell, **arguments)
        except TypeError:
            raise ValueError(
                "RNNCellWrapper cannot reconstruct the wrapped cell. Please overwrite the cell in the config with a "
                "RNNCell instance."
            ) from None


def _sum(inputs, outputs):
    """Inputs plus outputs, structures of tensors of the same shapes. Raises ValueError if these differ."""
    nest.assert_same_structure(inputs, outputs)
    nest.map_structure(lambda a, b: a.shape.assert_is_compatible_with(b.shape), inputs, outputs)
    return nest.map_structure(lambda a, b: a + b, inputs, outputs)


@public(
    "nn.rnn_cell.ResidualWrapper",
    "contrib.rnn.ResidualWrapper",
    "contrib.rnn.python.ops.core_rnn_cell.ResidualWrapper",
)
class ResidualWrapper(RNNCellWrapper):
    """Adds a cell's inputs to its outputs.

    Args:
      cell: the cell.
      residual_fn: a function of inputs and outputs that returns what is to be the output, instead of their sum. What
        it is given are the structures that the cell takes and returns.

    Raises TypeError if `cell` is none; when called, ValueError for inputs and outputs of different shapes.
    """

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _call_wrapped_cell(self, inputs, state, cell_call_fn, **kwargs):
        outputs, new_state = cell_call_fn(inputs, state, **kwargs)
        return (self._residual_fn or _sum)(inputs, outputs), new_state

    def get_config(self):
        """The arguments, as plain values."""
        config = super().get_config()
        if self._residual_fn is not None:
            keys = "residual_fn", "residual_fn_type", "residule_fn_module"
            config.update(zip(keys, stored_functions.to_config(self._residual_fn), strict=True))
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A cell of what `get_config` returned, in which "cell" has been replaced by a cell."""
        if "residual_fn" in config:
            config = dict(config)
            kind, module = config.pop("residual_fn_type"), config.pop("residule_fn_module", None)
            config["residual_fn"] = stored_functions.from_config(config["residual_fn"], kind, module, custom_objects)
        return super().from_config(config, custom_objects)


@public(
    "nn.rnn_cell.DeviceWrapper", "contrib.rnn.DeviceWrapper", "contrib.rnn.python.ops.core_rnn_cell.DeviceWrapper"
)
class DeviceWrapper(RNNCellWrapper):
    """Runs a cell on a device.

    Args:
      cell: the cell.
      device: a device, or a function of nodes that returns one.

    Raises TypeError if `cell` is none.
    """

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size, dtype):
        """The zero state of the cell inside, on the device."""
        name = f"{type(self).__name__}ZeroState"
        with name_scope(name, values=[batch_size]), get_default_graph().device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped_cell(self, inputs, state, cell_call_fn, **kwargs):
        with get_default_graph().device(self._device):
            return cell_call_fn(inputs, state, **kwargs)

    def get_config(self):
        """The arguments, as plain values."""
        return {**super().get_config(), "device": self._device}

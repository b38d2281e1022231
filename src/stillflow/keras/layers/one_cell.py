"""What SimpleRNN, GRU and LSTM have in common: layers whose options are those of their one cell."""

from __future__ import annotations

from stillflow.keras.layers.cells import MADE, MADE_GATED, PLAIN, config_of_weights, of_cell
from stillflow.keras.layers.recurrent import RNN
from stillflow.layers.core import regularizers
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.serialization import in_order_of_files, serialize
from stillflow.platform import logging


class OptionsOfCell:
    """Options that a layer has from its one cell."""

    activation = of_cell("activation")
    use_bias = of_cell("use_bias")
    kernel_initializer = of_cell("kernel_initializer")
    recurrent_initializer = of_cell("recurrent_initializer")
    bias_initializer = of_cell("bias_initializer")
    kernel_regularizer = of_cell("kernel_regularizer")
    recurrent_regularizer = of_cell("recurrent_regularizer")
    bias_regularizer = of_cell("bias_regularizer")
    kernel_constraint = of_cell("kernel_constraint")
    recurrent_constraint = of_cell("recurrent_constraint")
    bias_constraint = of_cell("bias_constraint")
    dropout = of_cell("dropout")
    recurrent_dropout = of_cell("recurrent_dropout")


class OneCell(OptionsOfCell, RNN):
    """A recurrent layer of one cell, which has its weights and options; see `RNN` for the others."""

    _plain: tuple = PLAIN  # options that stand in configs as they are
    _made: tuple = MADE  # options that are functions or objects

    def __init__(self, cell, activity_regularizer=None, **options):
        super().__init__(cell, **options)
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.input_spec = [InputSpec(ndim=3)]

    def call(self, inputs, mask=None, training=None, initial_state=None):  # type: ignore[override]
        self.cell.reset_dropout_mask()
        self.cell.reset_recurrent_dropout_mask()
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)

    units = of_cell("units")

    def get_config(self):
        weights = config_of_weights(self, self._plain, self._made)
        more = {"activity_regularizer": serialize(self.activity_regularizer)}
        return in_order_of_files({**self._config_of_loop(), **weights, **more})


class OneGatedCell(OneCell):
    """A recurrent layer of one cell with gates."""

    _made = MADE_GATED

    recurrent_activation = of_cell("recurrent_activation")
    implementation = of_cell("implementation")

    @classmethod
    def from_config(cls, config):  # type: ignore[override]
        """A layer of what `get_config` returned."""
        if config.get("implementation") == 0:
            config["implementation"] = 1
        return cls(**config)


def warn_of_implementation(implementation):
    if implementation == 0:
        logging.warning(
            "`implementation=0` has been deprecated, and now defaults to `implementation=1`.Please update your "
            "layer call."
        )

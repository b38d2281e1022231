"""CudnnLSTMSaveable and others: the one variable of a net is saved under the names of cells' variables."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.cudnn_rnn.converters import (
    CudnnParamsFormatConverterGRU,
    CudnnParamsFormatConverterLSTM,
    CudnnParamsFormatConverterRelu,
    CudnnParamsFormatConverterTanh,
)  # fmt: skip
from stillflow.contrib.cudnn_rnn.net import LINEAR_INPUT, UNIDIRECTIONAL
from stillflow.names import public
from stillflow.saver.saveable import SaveableObject, SaveSpec
from stillflow.variables.scope import VariableScope


class _OpaqueParamsSaveable(SaveableObject):
    """Saves and restores the variable of a net as kernels and biases that cells restore, and takes theirs.

    Args:
      opaque_params: the variable.
      num_layers, num_units, input_size: the sizes of the net.
      input_mode: 'linear_input', 'skip_input' or 'auto_select'.
      direction: 'unidirectional' or 'bidirectional'.
      scope: the variable scope of the cells, or its name.
      name: of this object.
    """

    _converter: type
    _cell: str
    _kernel_names: tuple[str, ...] = ("kernel",)
    _bias_names: tuple[str, ...] = ("bias",)

    def __init__(
        self, opaque_params, num_layers, num_units, input_size, input_mode=LINEAR_INPUT, direction=UNIDIRECTIONAL,
        scope=None, name="cudnn_rnn_saveable",
    ):  # fmt: skip
        self._variable = opaque_params
        self.format_converter = self._converter(
            num_layers, num_units, input_size, input_mode=input_mode, direction=direction
        )
        scope = scope.name if isinstance(scope, VariableScope) else scope
        prefixes = [(f"{scope}/" if scope else "") + place for place in self._places(num_layers, direction)]
        keys = [f"{prefix}/{key}" for prefix in prefixes for key in self._kernel_names]
        keys += [f"{prefix}/{key}" for prefix in prefixes for key in self._bias_names]
        kernels, biases = self.format_converter.opaque_to_tf_canonical(opaque_params)
        specs = [SaveSpec(tensor, "", key) for tensor, key in zip(kernels + biases, keys, strict=True)]
        super().__init__(ops.identity(opaque_params), specs, name)

    def _places(self, num_layers, direction):
        """The scopes of the cells in the net that dynamic_rnn or stack_bidirectional_dynamic_rnn makes."""
        if direction == UNIDIRECTIONAL:
            return [f"rnn/multi_rnn_cell/cell_{layer}/{self._cell}" for layer in range(num_layers)]
        return [
            f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{way}/{self._cell}"
            for layer in range(num_layers)
            for way in ("fw", "bw")
        ]

    def restore(self, restored_tensors, restored_shapes):
        """Assigns what cells' variables are in a checkpoint."""
        return ops.assign(
            self._variable, self.format_converter.tf_canonical_to_opaque(restored_tensors), validate_shape=False
        )


@public("contrib.cudnn_rnn.CudnnLSTMSaveable")
class CudnnLSTMSaveable(_OpaqueParamsSaveable):
    """Saves the variable of a CudnnLSTM as those of CudnnCompatibleLSTMCell."""

    _converter = CudnnParamsFormatConverterLSTM
    _cell = "cudnn_compatible_lstm_cell"


@public("contrib.cudnn_rnn.CudnnGRUSaveable")
class CudnnGRUSaveable(_OpaqueParamsSaveable):
    """Saves the variable of a CudnnGRU as those of CudnnCompatibleGRUCell."""

    _converter = CudnnParamsFormatConverterGRU
    _cell = "cudnn_compatible_gru_cell"
    _kernel_names = ("gates/kernel", "candidate/input_projection/kernel", "candidate/hidden_projection/kernel")
    _bias_names = ("gates/bias", "candidate/input_projection/bias", "candidate/hidden_projection/bias")


@public("contrib.cudnn_rnn.CudnnRNNTanhSaveable")
class CudnnRNNTanhSaveable(_OpaqueParamsSaveable):
    """Saves the variable of a CudnnRNNTanh as those of BasicRNNCell."""

    _converter = CudnnParamsFormatConverterTanh
    _cell = "basic_rnn_cell"


@public("contrib.cudnn_rnn.CudnnRNNReluSaveable")
class CudnnRNNReluSaveable(_OpaqueParamsSaveable):
    """Saves the variable of a CudnnRNNRelu as those of BasicRNNCell."""

    _converter = CudnnParamsFormatConverterRelu
    _cell = "basic_rnn_cell"

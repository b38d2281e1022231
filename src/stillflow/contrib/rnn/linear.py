"""A matrix product with a bias, whose variables are those of the current variable scope."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.names import public
from stillflow.rnn.cell import _BIAS_VARIABLE_NAME, _WEIGHTS_VARIABLE_NAME
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant
from stillflow.variables.scope import get_variable_scope, variable_scope


def _as_list(args):
    """Tensors [batch, size] as a list, and the sum of their sizes. Raises ValueError for other tensors."""
    if args is None or (nest.is_nested(args) and not args):
        raise ValueError("`args` must be specified")
    args = list(args) if nest.is_nested(args) else [args]
    shapes = [each.shape for each in args]
    for shape in shapes:
        if shape.ndims != 2:
            raise ValueError(f"linear is expecting 2D arguments: {shapes}")
        if shape.dims[1].value is None:
            raise ValueError(f"linear expects shape[1] to be provided for shape {shape}, but saw {shape[1]}")
    return args, sum(shape.dims[1].value for shape in shapes)


def _weights(args, size, output_size, initializer):
    return get_variable(_WEIGHTS_VARIABLE_NAME, [size, output_size], dtype=args[0].dtype, initializer=initializer)


def _biases(scope, dtype, output_size, initializer):
    with variable_scope(scope) as inner:
        inner.set_partitioner(None)
        if initializer is None:
            initializer = Constant(0.0, dtype=dtype)
        return get_variable(_BIAS_VARIABLE_NAME, [output_size], dtype=dtype, initializer=initializer)


@public(
    "contrib.rnn.python.ops.core_rnn_cell._Linear", "python.ops.rnn_cell_impl._Linear",
    "contrib.legacy_seq2seq.python.ops.seq2seq.Linear",
)  # fmt: skip
class Linear:
    """[args] * kernel + bias, for tensors like those that it is made for. The variables are made at once.

    Args:
      args: a tensor [batch, size], or a list of such tensors.
      output_size: the size of the result.
      build_bias: whether there is a bias.
      bias_initializer: 0 by default.
      kernel_initializer: the scope's by default.

    Raises ValueError without tensors, and for tensors of another rank or of unknown size.
    """

    def __init__(self, args, output_size, build_bias, bias_initializer=None, kernel_initializer=None):
        self._is_sequence = nest.is_nested(args)
        args, size = _as_list(args)
        with variable_scope(get_variable_scope()) as scope:
            self._kernel = _weights(args, size, output_size, kernel_initializer)
            self._bias = _biases(scope, args[0].dtype, output_size, bias_initializer) if build_bias else None

    def __call__(self, args):
        """[args] * kernel + bias."""
        args = args if self._is_sequence else [args]
        if len(args) == 1:
            result = ops.matmul(args[0], self._kernel)
        else:
            axis = ops.constant(1, dtype=dtypes.int32)
            result = ops.matmul(ops.concat(args, axis), self._kernel)
        return result if self._bias is None else ops.bias_add(result, self._bias)


@public("nn.rnn_cell.linear", "nn.rnn_cell._linear")
def early_linear(args, output_size, bias, bias_start=0.0, scope=None):
    """[args] * Matrix + Bias, as before 1.0.

    Args:
      args: a tensor [batch, size], or a list of such tensors.
      output_size: the size of the result.
      bias: whether there is a bias.
      bias_start: where it begins.
      scope: the variable scope of "Matrix" and "Bias", "Linear" by default.

    Raises ValueError without tensors, and for tensors of another rank or of unknown size.
    """
    args, size = _as_list(args)
    with variable_scope(scope or "Linear"):
        matrix = get_variable("Matrix", [size, output_size], dtype=args[0].dtype)
        result = ops.matmul(args[0] if len(args) == 1 else ops.concat(args, 1), matrix)
        if not bias:
            return result
        return result + get_variable(
            "Bias", [output_size], dtype=args[0].dtype, initializer=Constant(bias_start, dtype=args[0].dtype)
        )


@public(
    "contrib.rnn.python.ops.core_rnn_cell._linear", "python.ops.rnn_cell_impl._linear",
    "contrib.legacy_seq2seq.python.ops.seq2seq.linear",
)  # fmt: skip
def linear(args, output_size, bias, bias_initializer=None, kernel_initializer=None):
    """[args] * kernel + bias, with the variables "kernel" and "bias" of the current scope.

    Args:
      args: a tensor [batch, size], or a list of such tensors.
      output_size: the size of the result.
      bias: whether there is a bias.
      bias_initializer: 0 by default.
      kernel_initializer: the scope's by default.

    Raises ValueError without tensors, and for tensors of another rank or of unknown size.
    """
    args, size = _as_list(args)
    with variable_scope(get_variable_scope()) as scope:
        kernel = _weights(args, size, output_size, kernel_initializer)
        result = ops.matmul(args[0] if len(args) == 1 else ops.concat(args, 1), kernel)
        if not bias:
            return result
        return ops.bias_add(result, _biases(scope, args[0].dtype, output_size, bias_initializer))

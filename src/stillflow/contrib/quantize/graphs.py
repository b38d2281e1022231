"""tf.contrib.quantize: graphs rewritten so that they are trained, or run, as with 8 bits."""

from __future__ import annotations

from stillflow.contrib.quantize.fused_folding import fold_fused
from stillflow.contrib.quantize.insertion import quantize
from stillflow.contrib.quantize.plain_folding import fold_plain
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public

_NOT_TRAINING = ("ApplyAdadelta", "SparseApplyAdadelta", "ResourceApplyAdaMax", "ApplyAdaMax")


@public("contrib.quantize.create_training_graph")
def create_training_graph(input_graph=None, quant_delay=0):
    """Rewrites a graph, in place, so that training finds weights for 8 bits.

    Batch normalizations are folded into the weights before them, and weights and activations are rounded, within
    ranges that are found while it is trained. It comes before the optimizer: gradients pass through the rounding.
    See Jacob et al., arXiv 1712.05877.

    Args:
      input_graph: the graph; the default graph if it is None.
      quant_delay: after how many steps rounding begins.

    Raises ValueError if the graph has operations of optimizers.
    """
    _rewrite(input_graph, is_training=True, quant_delay=quant_delay)


@public("contrib.quantize.create_eval_graph")
def create_eval_graph(input_graph=None):
    """Rewrites a graph, in place, so that it runs as with 8 bits, with the ranges that training has found.

    Args and errors: see create_training_graph.
    """
    _rewrite(input_graph, is_training=False)


@public("contrib.quantize.experimental_create_training_graph")
def experimental_create_training_graph(
    input_graph=None, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=0, freeze_bn_delay=None,
    scope=None,
):  # fmt: skip
    """create_training_graph with more choices.

    Args:
      weight_bits, activation_bits: to how many bits.
      symmetric: whether ranges are as wide below 0 as above.
      freeze_bn_delay: after how many steps batch normalizations use their moving averages; never if it is None.
      scope: the scope of the layers that are meant; all by default.
    """
    _rewrite(input_graph, True, weight_bits, activation_bits, symmetric, quant_delay, freeze_bn_delay, scope)


@public("contrib.quantize.experimental_create_eval_graph")
def experimental_create_eval_graph(
    input_graph=None, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=None, scope=None
):  # fmt: skip
    """create_eval_graph with the choices of experimental_create_training_graph."""
    _rewrite(input_graph, False, weight_bits, activation_bits, symmetric, quant_delay, None, scope)


def _rewrite(
    graph, is_training, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=None, freeze_delay=None,
    scope=None,
):  # fmt: skip
    graph = get_default_graph() if graph is None else graph
    found = {op.type for op in graph.get_operations() if _is_of_training(op.type)}
    if found:
        raise ValueError(f"Training op found in graph, exiting {found}")
    with graph.as_default():
        fold_batch_norms(graph, is_training, freeze_delay)
        quantize(
            graph,
            is_training,
            quant_delay=quant_delay,
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            symmetric=symmetric,
            scope=scope,
        )


@public("contrib.quantize.python.fold_batch_norms.FoldBatchNorms")
def fold_batch_norms(graph, is_training, freeze_batch_norm_delay=None):
    """Folds all batch normalizations of a graph into the weights before them; see create_training_graph."""
    fold_fused(graph, freeze_batch_norm_delay)
    fold_plain(graph, is_training, freeze_batch_norm_delay)


def _is_of_training(op_type):
    return "Apply" in op_type and op_type not in _NOT_TRAINING and op_type.startswith(("Apply", "Sparse", "Resource"))

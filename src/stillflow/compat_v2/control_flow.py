"""Control flow and gradients, as TensorFlow 2 spells them."""

from __future__ import annotations

import stillflow as tf
from stillflow.names import public


@public("compat.v2.cond")
def cond(pred, true_fn=None, false_fn=None, name=None):
    """tf.cond."""
    return tf.cond(pred=pred, true_fn=true_fn, false_fn=false_fn, name=name, strict=True)


@public("compat.v2.gradients")
def gradients(
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients=tf.UnconnectedGradients.NONE,
):
    """tf.gradients."""
    return tf.gradients(
        ys=ys,
        xs=xs,
        grad_ys=grad_ys,
        name=name,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        stop_gradients=stop_gradients,
        unconnected_gradients=unconnected_gradients,
        colocate_gradients_with_ops=True,
    )


@public("compat.v2.hessians")
def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """tf.hessians."""
    return tf.hessians(
        ys=ys,
        xs=xs,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        name=name,
    )


@public("compat.v2.tuple")
def tuple(tensors, control_inputs=None, name=None):
    """tf.tuple."""
    return tf.tuple(tensors=tensors, control_inputs=control_inputs, name=name)


@public("compat.v2.while_loop")
def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    maximum_iterations=None,
    name=None,
):
    """tf.while_loop."""
    return tf.while_loop(
        cond=cond,
        body=body,
        loop_vars=loop_vars,
        shape_invariants=shape_invariants,
        parallel_iterations=parallel_iterations,
        back_prop=back_prop,
        swap_memory=swap_memory,
        maximum_iterations=maximum_iterations,
        name=name,
        return_same_structure=True,
    )


@public("compat.v2.case")
def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """tf.case."""
    return tf.case(pred_fn_pairs, default, exclusive, strict, name)

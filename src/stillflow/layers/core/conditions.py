"""Choices that may be known when the graph is built (a bool, 0 or 1, a constant) or not (a tensor, a variable)."""

from __future__ import annotations

from stillflow.names import public
from stillflow.ops.control_flow import cond
from stillflow.variables.variable import Variable


@public("python.layers.utils.smart_cond", "python.keras.utils.tf_utils.smart_cond")
def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """What `true_fn` or `false_fn` returns; a tf.cond of both where `pred` is not known, as a variable is."""
    if isinstance(pred, Variable):
        return cond.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return cond.smart_cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


@public("python.layers.utils.constant_value", "python.keras.utils.tf_utils.constant_value")
def known_value(pred):
    """True, False, or None if it is not known. Raises TypeError for what is no choice."""
    if isinstance(pred, int) and pred in (0, 1):
        return bool(pred)
    return None if isinstance(pred, Variable) else cond.smart_constant_value(pred)

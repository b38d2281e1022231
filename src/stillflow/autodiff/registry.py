"""Gradients of ops: how they are registered and found."""

from __future__ import annotations

from stillflow.names import public

_REGISTERED: dict = {}


@public("RegisterGradient")
class RegisterGradient:
    """Decorator that registers a gradient function under a name, for gradient_override_map or a new op type.

        @tf.RegisterGradient("CappedSquare")
        def _(op, grad): ...

    Raises KeyError if the name has a gradient already.
    """

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, function):
        _register(self._op_type, function)
        return function


@public("NoGradient", "NotDifferentiable", "no_gradient")
def no_gradient(op_type):
    """Says that ops of that type have no gradient: it is None. Raises TypeError if `op_type` is no string."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None)


def _register(op_type, function):
    from stillflow.graph import op_def as op_defs

    found = op_defs.find(op_type)
    if op_type in _REGISTERED or (found is not None and (found.gradient or found.is_differentiable is False)):
        raise KeyError(f"Registering two gradient with name '{op_type}'!")
    _REGISTERED[op_type] = function


@public("python.framework.ops.get_gradient_function")
def get_gradient_function(op):
    """The function that computes `op`'s gradient; None if it has none. Raises LookupError if nothing is known."""
    if not op._inputs:
        return None
    override = op._attrs.get("_gradient_op_type")
    name = op.type if override is None else override.decode()
    if name in _REGISTERED:
        return _REGISTERED[name]
    from stillflow.graph import op_def as op_defs

    op_def = op._op_def if override is None else op_defs.find(name)
    if op_def is not None and (op_def.gradient is not None or op_def.is_differentiable is False):
        return op_def.gradient
    raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type})")

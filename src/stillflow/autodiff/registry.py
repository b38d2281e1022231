"""Gradients of ops: how they are registered and found."""

from __future__ import annotations

import collections.abc

from stillflow import ops
from stillflow.graph import op_def as op_defs
from stillflow.graph.registry import Registry
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
    if op_type in _REGISTERED or _is_declared(op_type):
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
    op_def = op._op_def if override is None else op_defs.find(name)
    if op_def is not None and (op_def.gradient is not None or op_def.is_differentiable is False):
        return op_def.gradient
    raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type})")


class _Gradients(collections.abc.MutableMapping):
    """{op type: {"type": gradient function or None, "location": where it was registered}}, as programs change it.

    SHAP's DeepExplainer puts functions of its own in place of others for a while.
    """

    def __getitem__(self, op_type):
        if op_type not in self:
            raise KeyError(op_type)
        return _Entry(op_type)

    def __setitem__(self, op_type, entry):
        _REGISTERED[op_type] = entry["type"]

    def __delitem__(self, op_type):
        del _REGISTERED[op_type]

    def __contains__(self, op_type):
        return op_type in _REGISTERED or _is_declared(op_type)

    def __iter__(self):
        declared = (op_type for op_type in ops.all_op_types() if op_type not in _REGISTERED)
        return iter([*_REGISTERED, *filter(_is_declared, declared)])

    def __len__(self):
        return sum(1 for _ in self)


class _Entry(dict):
    """The gradient of one op type; another one that is set as its "type" is used from then on."""

    def __init__(self, op_type):
        super().__init__(type=_function_of(op_type), location=("UNKNOWN",) * 5)
        self._op_type = op_type

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        if key == "type":
            _REGISTERED[self._op_type] = value


def _is_declared(op_type):
    found = op_defs.find(op_type)
    return found is not None and (found.gradient is not None or found.is_differentiable is False)


def _function_of(op_type):
    if op_type in _REGISTERED:
        return _REGISTERED[op_type]
    found = op_defs.find(op_type)
    return None if found is None else found.gradient


class _GradientRegistry(Registry):
    """The gradients of all op types. Raises as a Registry does."""

    def __init__(self):
        super().__init__("gradient")
        self._registry = _Gradients()  # type: ignore[assignment]

    def register(self, candidate, name=None):
        _register(name or candidate.__name__, candidate)

    def lookup(self, name):
        if name not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._registry[name]["type"]


gradient_registry = public("python.framework.ops._gradient_registry")(_GradientRegistry())

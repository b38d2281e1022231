"""The updates of optimizers: ops that take a variable, its slots and its gradient, and change the former.

Sparse updates take rows of the gradient, and the indices of the rows that they belong to.
"""

from __future__ import annotations

from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import ShapeError
from stillflow.graph.shape_inference import incompatible_text as incompatible
from stillflow.ops.registry import define_op
from stillflow.ops.state.variable import NUMBERS


def _snake_case(name):
    """ApplyRMSProp -> apply_rms_prop"""
    words = name.replace("RMSProp", "RmsProp").replace("AdagradDA", "AdagradDa")
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in words)[1:]


class _Update:
    """An update of variables, reference variables or resource variables: an op for each kind."""

    def __init__(self, reference, resource, variable_count):
        self.op_def = reference.op_def
        self._reference = reference
        self._resource = resource
        self._variable_count = variable_count

    def __call__(self, *args, **kwargs):
        if args and hasattr(args[0], "handle"):
            count = self._variable_count
            return self._resource(*(variable.handle for variable in args[:count]), *args[count:], **kwargs)
        return self._reference(*args, **kwargs)


def _update(name, variables, arguments, gradient="grad", attrs="", attr_names="", has_reference=True):
    """Declares an update. `arguments` are the inputs after the variables, in TensorFlow's order."""
    variables, arguments = variables.split(), arguments.split()
    is_sparse = "indices" in arguments
    types = {"global_step": "int64", "indices": "Tindices"}
    rest = [f"{each}: {types.get(each, 'T')}" for each in arguments]
    all_attrs = f"T: {NUMBERS}; {'Tindices: {int32, int64}; ' if is_sparse else ''}use_locking: bool = false{attrs}"
    kernel = f"{_snake_case(name)}({', '.join([*variables, *arguments])}{attr_names})"

    def signature(prefix, variable_type, outputs):
        inputs = [f"{each}: {variable_type}" for each in variables] + rest
        return f"{prefix}{name}({', '.join(inputs)}) -> ({outputs})"

    resource = define_op(
        signature("Resource", "resource", ""), all_attrs, kernel=kernel, stateful=True, differentiable=False
    )
    shape_of = _shape_rule(len(variables), arguments, gradient)

    @resource.shape_rule
    def _(context):
        shape_of([context.variable_dims(i) for i in range(len(variables))], context.shapes)
        return []

    if not has_reference:
        return _Update(resource, resource, len(variables))
    reference = define_op(signature("", "Ref(T)", "out: Ref(T)"), all_attrs, kernel=kernel, differentiable=False)

    @reference.shape_rule
    def _(context):
        return shape_of(context.shapes[: len(variables)], context.shapes)

    return _Update(reference, resource, len(variables))


def _shape_rule(variable_count, arguments, gradient):
    """A function of the variables' shapes and all inputs' that returns the first variable's."""
    gradient_index = variable_count + arguments.index(gradient)
    indices_index = variable_count + arguments.index("indices") if "indices" in arguments else None
    scalar_indices = [variable_count + i for i, each in enumerate(arguments) if each not in (gradient, "indices")]

    def shape_of(variables, shapes):
        dims = variables[0]
        for other in variables[1:]:
            dims = _merged(dims, other)
        for index in scalar_indices:
            _merged(shapes[index], ())
        if indices_index is None:
            return _merged(dims, shapes[gradient_index])
        return _row_update(dims, shapes[gradient_index], shapes[indices_index])

    return shape_of


def _merged(a, b):
    merged = merge(a, b)
    if merged is False:
        raise ShapeError(incompatible(a, b))
    return merged


def _row_update(dims, gradient, indices):
    """The variable's shape, given that of the rows and of their indices."""
    indices = _merged(indices, (None,))
    if dims is not None:
        gradient = _merged(gradient, (None, *dims[1:]))
    if gradient is not None:
        _merged((gradient[0],), indices)
    return dims


_USES_NESTEROV = {"attrs": "; use_nesterov: bool = false", "attr_names": " | use_nesterov"}
_UPDATES_SLOTS = {"attrs": "; update_slots: bool = true", "attr_names": " | update_slots"}
_DA_SLOTS = "var gradient_accumulator gradient_squared_accumulator"

apply_gradient_descent = _update("ApplyGradientDescent", "var", "alpha delta", "delta")
apply_proximal_gradient_descent = _update("ApplyProximalGradientDescent", "var", "alpha l1 l2 delta", "delta")
sparse_apply_proximal_gradient_descent = _update(
    "SparseApplyProximalGradientDescent", "var", "alpha l1 l2 grad indices"
)
apply_momentum = _update("ApplyMomentum", "var accum", "lr grad momentum", **_USES_NESTEROV)
sparse_apply_momentum = _update("SparseApplyMomentum", "var accum", "lr grad indices momentum", **_USES_NESTEROV)
apply_keras_momentum = _update(
    "ApplyKerasMomentum", "var accum", "lr grad momentum", **_USES_NESTEROV, has_reference=False
)
sparse_apply_keras_momentum = _update(
    "SparseApplyKerasMomentum", "var accum", "lr grad indices momentum", **_USES_NESTEROV, has_reference=False
)
apply_adagrad = _update("ApplyAdagrad", "var accum", "lr grad", **_UPDATES_SLOTS)
sparse_apply_adagrad = _update("SparseApplyAdagrad", "var accum", "lr grad indices", **_UPDATES_SLOTS)
apply_adagrad_v2 = _update("ApplyAdagradV2", "var accum", "lr epsilon grad", **_UPDATES_SLOTS)
sparse_apply_adagrad_v2 = _update("SparseApplyAdagradV2", "var accum", "lr epsilon grad indices", **_UPDATES_SLOTS)
apply_proximal_adagrad = _update("ApplyProximalAdagrad", "var accum", "lr l1 l2 grad")
sparse_apply_proximal_adagrad = _update("SparseApplyProximalAdagrad", "var accum", "lr l1 l2 grad indices")
apply_adagrad_da = _update("ApplyAdagradDA", _DA_SLOTS, "grad lr l1 l2 global_step")
sparse_apply_adagrad_da = _update("SparseApplyAdagradDA", _DA_SLOTS, "grad indices lr l1 l2 global_step")
apply_adam = _update("ApplyAdam", "var m v", "beta1_power beta2_power lr beta1 beta2 epsilon grad", **_USES_NESTEROV)
apply_adam_with_amsgrad = _update(
    "ApplyAdamWithAmsgrad", "var m v vhat", "beta1_power beta2_power lr beta1 beta2 epsilon grad", has_reference=False
)
apply_ada_max = _update("ApplyAdaMax", "var m v", "beta1_power lr beta1 beta2 epsilon grad")
apply_power_sign = _update("ApplyPowerSign", "var m", "lr logbase sign_decay beta grad")
apply_add_sign = _update("ApplyAddSign", "var m", "lr alpha sign_decay beta grad")
apply_rms_prop = _update("ApplyRMSProp", "var ms mom", "lr rho momentum epsilon grad")
sparse_apply_rms_prop = _update("SparseApplyRMSProp", "var ms mom", "lr rho momentum epsilon grad indices")
apply_centered_rms_prop = _update("ApplyCenteredRMSProp", "var mg ms mom", "lr rho momentum epsilon grad")
sparse_apply_centered_rms_prop = _update(
    "SparseApplyCenteredRMSProp", "var mg ms mom", "lr rho momentum epsilon grad indices"
)
apply_adadelta = _update("ApplyAdadelta", "var accum accum_update", "lr rho epsilon grad")
sparse_apply_adadelta = _update("SparseApplyAdadelta", "var accum accum_update", "lr rho epsilon grad indices")
apply_ftrl = _update("ApplyFtrl", "var accum linear", "grad lr l1 l2 lr_power")
sparse_apply_ftrl = _update("SparseApplyFtrl", "var accum linear", "grad indices lr l1 l2 lr_power")
apply_ftrl_v2 = _update("ApplyFtrlV2", "var accum linear", "grad lr l1 l2 l2_shrinkage lr_power")
sparse_apply_ftrl_v2 = _update("SparseApplyFtrlV2", "var accum linear", "grad indices lr l1 l2 l2_shrinkage lr_power")

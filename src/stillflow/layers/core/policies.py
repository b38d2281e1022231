"""Policies: of which type a layer's variables are, and of which type it computes."""

from __future__ import annotations

import contextlib
import logging
from types import SimpleNamespace

from stillflow.graph import dtypes
from stillflow.layers.core.settings import floatx
from stillflow.names import Setting, public
from stillflow.platform import tf2
from stillflow.training import mixed_precision
from stillflow.training.loss_scale import as_loss_scale

_WITH_FLOAT32_VARIABLES = "_with_float32_vars"
_DEFAULT = "USE_DEFAULT"
# The policy of layers that are not given one, and whether layers have `floatx` and cast their inputs, as those of
# TensorFlow 2 do.
# `casts_inputs` is None where nothing was chosen: as platform.tf2 says.
_state = SimpleNamespace(policy=None, casts_inputs=None)


@public("keras.mixed_precision.experimental.Policy")
class Policy:
    """What types a layer has.

    Args:
      name: a type's name; one with "_with_float32_vars" behind, to compute with that type and keep variables in
        float32; "mixed_float16" and "mixed_bfloat16", which are such; "infer" or "infer_with_float32_vars" for the
        type of the layer's first input.
      loss_scale: a tf.train.experimental.LossScale, a number, or "dynamic", by which models scale losses in training;
        None for none. By default "dynamic" for "mixed_float16", none for others.

    Raises:
      TypeError: unless the name is a string.
      ValueError: for another name.
    """

    def __init__(self, name, loss_scale=_DEFAULT):
        if isinstance(name, dtypes.DType):
            raise TypeError(f"'name' must be a string, not a DType. Instead, pass DType.name. Got: {name.name}")
        if not isinstance(name, str):
            raise TypeError(f"'name' must be a string, but got: {name}")
        # The first is an old spelling, the second says nothing.
        name = {"infer_float32_vars": "infer_with_float32_vars", "float32_with_float32_vars": "float32"}.get(
            name, name
        )
        self._name = name
        self._compute_dtype, self._variable_dtype = _types_of(name)
        if isinstance(loss_scale, str) and loss_scale == _DEFAULT:
            loss_scale = "dynamic" if name == "mixed_float16" else None
        if loss_scale and self._compute_dtype not in (None, "float16"):
            logging.getLogger("tensorflow").warning(
                "Creating a Policy with a loss scale is only useful for float16 policies. You passed "
                f"loss_scale={loss_scale!r} for policy {name}. Consider not passing any loss_scale instead."
            )
        self._loss_scale = as_loss_scale(loss_scale)

    @property
    def variable_dtype(self):
        """The name of the variables' type; None for that of the first input."""
        return self._variable_dtype

    @property
    def compute_dtype(self):
        """The name of the type that is computed with; None for that of the first input."""
        return self._compute_dtype

    @property
    def should_cast_variables(self):
        """Whether variables are of another type than what is computed."""
        return self._variable_dtype != self._compute_dtype

    @property
    def loss_scale(self):
        """A tf.train.experimental.LossScale, or None."""
        return self._loss_scale

    @property
    def name(self):
        return self._name

    def __repr__(self):
        return f'<Policy "{self._name}", loss_scale={self._loss_scale}>'


def _types_of(name):
    """(the type that is computed with, the variables' type) of a policy's name."""
    if name in ("mixed_float16", "mixed_bfloat16"):
        return name.removeprefix("mixed_"), "float32"
    base = name.removesuffix(_WITH_FLOAT32_VARIABLES)
    if base == "infer":
        dtype = None
    else:
        try:
            dtype = dtypes.as_dtype(base).name
        except TypeError:
            error = (
                f"Cannot convert value {name} to a mixed precision Policy. Valid policies include include those in "
                f'the form "<dtype>" and "<dtype>{_WITH_FLOAT32_VARIABLES}", where <dtype> is the name of a dtype.'
            )
            if base != name:
                error += (
                    f" The value {name} ends with {_WITH_FLOAT32_VARIABLES}, but {base} cannot be converted to a "
                )
                error += "DType"
            raise ValueError(error) from None
    return dtype, dtype if base == name else "float32"


@public("python.keras.mixed_precision.experimental.policy.with_input_dtype")
def with_input_dtype(policy, dtype):
    """What a policy that waits for the first input becomes when that is of a type."""
    name = dtypes.as_dtype(dtype).name
    return Policy(name if policy.variable_dtype is None else name + _WITH_FLOAT32_VARIABLES)


def policy_of(dtype):
    """The policy of a layer that is given a policy, a type, or None."""
    if isinstance(dtype, Policy):
        return dtype
    return Policy(dtypes.as_dtype(dtype).name) if dtype else global_policy()


@public("keras.mixed_precision.experimental.global_policy")
def global_policy():
    """The policy of layers that are not given one: by default "infer"."""
    if _state.policy is None:
        return Policy(floatx() if v2_dtype_behavior_enabled() else "infer")
    return _state.policy


def defaults_to_floatx():
    """Whether layers that are not given a policy have `floatx`."""
    return _state.policy is None and v2_dtype_behavior_enabled()


@public("keras.mixed_precision.experimental.set_policy")
def set_policy(policy):
    """Sets the policy of layers that are not given one.

    Args:
      policy: a Policy, or its name; None for the one at start.

    Raises:
      ValueError: for a policy that does not wait for the first input, unless layers behave as those of TensorFlow 2;
        where tf.train.experimental.enable_mixed_precision_graph_rewrite has been called.
    """
    mixed_precision.refuse_rewrite_beside_policy()
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy(policy)
    if policy is not None and not v2_dtype_behavior_enabled() and policy.compute_dtype:
        raise ValueError("The global policy can only be set to a non-infer policy in TensorFlow 2")
    _state.policy = policy
    mixed_precision.note_policy(is_default=policy is None)


@public("python.keras.mixed_precision.experimental.policy.policy_scope")
@contextlib.contextmanager
def policy_scope(policy):
    """A context in which layers that are not given a policy have this one."""
    before = _state.policy
    try:
        set_policy(policy)
        yield
    finally:
        set_policy(before)


@public("python.keras.engine.base_layer_utils.enable_v2_dtype_behavior")
def enable_v2_dtype_behavior():
    """Gives layers the type `floatx`, and has them cast their inputs, as those of TensorFlow 2 do."""
    _state.casts_inputs = True


@public("python.keras.engine.base_layer_utils.disable_v2_dtype_behavior")
def disable_v2_dtype_behavior():
    """Takes back `enable_v2_dtype_behavior`."""
    _state.casts_inputs = False


@public("python.keras.engine.base_layer_utils.v2_dtype_behavior_enabled")
def v2_dtype_behavior_enabled():
    """Whether layers have the type `floatx`, and cast their inputs."""
    return tf2.enabled() if _state.casts_inputs is None else _state.casts_inputs


def _choose(casts_inputs):
    _state.casts_inputs = casts_inputs


V2_DTYPE_BEHAVIOR = public("python.keras.engine.base_layer_utils.V2_DTYPE_BEHAVIOR")(
    Setting(lambda: _state.casts_inputs, _choose)
)

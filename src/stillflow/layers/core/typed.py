"""The types of a layer: of its variables, and of what it computes."""

from __future__ import annotations

import contextlib
import logging

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.operation import Tensor
from stillflow.layers.core.policies import Policy, defaults_to_floatx, policy_of, with_input_dtype


def _is_cast(value):
    """Whether it is a tensor, sparse and ragged ones included."""
    if isinstance(value, CompositeTensor):
        return hasattr(value, "dtype") and not isinstance(value, IndexedSlices)
    return isinstance(value, Tensor)


class Typed:
    """What has a policy."""

    _dtype_policy: Policy
    _autocast = False
    _dtype_is_floatx = False  # because nothing else was said
    _has_warned_of_casts = False

    def _set_dtype_policy(self, dtype):
        """Sets the policy: a Policy, that of a type, or for None the global one."""
        self._dtype_policy = policy_of(dtype)
        self._dtype_is_floatx = not dtype and defaults_to_floatx()

    @property
    def dtype(self):
        """The name of its variables' type; None if that is not known yet."""
        return self._dtype_policy.variable_dtype

    @property
    def _dtype(self):
        return self._dtype_policy.variable_dtype

    @_dtype.setter
    def _dtype(self, value):
        self._dtype_policy = Policy(dtypes.as_dtype(value).name)

    @property
    def _compute_dtype(self):
        """The name of the type that it computes with; None if that is not known yet."""
        return self._dtype_policy.compute_dtype

    def _note_type_of_inputs(self, values):
        """Takes the type of the first input, if the policy waits for it."""
        if values and self._dtype_policy.compute_dtype is None and hasattr(values[0], "dtype"):
            self._dtype_policy = with_input_dtype(self._dtype_policy, values[0].dtype.base_dtype)

    def _variables_are_cast(self):
        """The context of a call: variables are read as of the type that is computed with."""
        dtype = self._compute_dtype
        if dtype is not None and not dtypes.as_dtype(dtype).is_floating:
            dtype = None
        graph = get_default_graph()
        if graph._auto_cast_variable_read_dtype == dtype:
            return contextlib.nullcontext()
        return graph._enable_auto_casting_variables(dtype)

    def _cast_inputs(self, inputs):
        """The inputs, with floating ones of the type that is computed with, if the layer casts its inputs."""
        dtype = self._compute_dtype
        if not self._autocast or not dtype or not dtypes.as_dtype(dtype).is_floating:
            return inputs

        def cast(value):
            if not _is_cast(value) or not value.dtype.is_floating:
                return value
            if value.dtype.base_dtype.name == dtype:
                return value
            self._warn_of_cast(value.dtype.base_dtype.name)
            return ops.cast(value, dtype)

        return nest.map_structure(cast, inputs)

    def _warn_of_cast(self, given):
        if not self._dtype_is_floatx or self._has_warned_of_casts:
            return
        wanted, name = self._compute_dtype, getattr(self, "name", None)
        logging.getLogger("tensorflow").warning(
            f"Layer {name} is casting an input tensor from dtype {given} to the layer's dtype of {wanted}, which is "
            f"new behavior in TensorFlow 2.  The layer has dtype {wanted} because it's dtype defaults to floatx.\n\n"
            f"If you intended to run this layer in {wanted}, you can safely ignore this warning. If in doubt, this "
            "warning is likely only an issue if you are porting a TensorFlow 1.X model to TensorFlow 2.\n\n"
            f"To change all layers to have dtype {given} by default, call `tf.keras.backend.set_floatx('{given}')`. "
            f"To change just this layer, pass dtype='{given}' to the layer constructor. If you are the author of "
            "this layer, you can disable autocasting by passing autocast=False to the base Layer constructor.\n"
        )
        self.__dict__["_has_warned_of_casts"] = True

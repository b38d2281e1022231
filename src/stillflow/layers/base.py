"""tf.layers.Layer: a layer whose variables are those of a variable scope, shared and reused as get_variable does."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

from stillflow.graph import dtypes, nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, outermost_graph, require_graph
from stillflow.graph.mode import by_mode, by_outermost_mode, eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.layers.core import layer
from stillflow.layers.core.layer_names import to_snake_case, unique_object_name
from stillflow.layers.core.policies import Policy
from stillflow.names import public
from stillflow.variables.copies import VariableAggregation, VariableSynchronization
from stillflow.variables.get_variable import get_variable
from stillflow.variables.partitioned_variables import PartitionedVariable
from stillflow.variables.scope import VariableScope, variable_scope

_keras_style = False


@public("layers.experimental.keras_style_scope")
@contextlib.contextmanager
def keras_style_scope():
    """A context in which layers are made in the style of Keras: their variables are their own.

    Such a layer takes neither a scope nor `reuse`. Whatever the variable scope, it makes new variables, whose names
    are made unique.
    """
    global _keras_style
    outer, _keras_style = _keras_style, True
    try:
        yield
    finally:
        _keras_style = outer


@public("layers.experimental.set_keras_style")
def set_keras_style():
    """From now on all layers are made in the style of Keras; see `keras_style_scope`."""
    global _keras_style
    _keras_style = True


@public("layers.Layer")
class Layer(layer.Layer):
    """A function with variables, which it makes in a variable scope when it is first called.

    The scope is named after the layer, and made unique. A layer of the name of another one, with `_reuse`, has its
    variables. Subclasses have `build`, which makes variables with `add_weight`, and `call`.

    Args:
      trainable: whether its variables go into GraphKeys.TRAINABLE_VARIABLES.
      name: the layer's name; by default its class in snake case.
      dtype: the type of its variables, or a tf.keras.mixed_precision.experimental.Policy; by default that of its
        first input.
      _scope: the variable scope, or its name.
      _reuse: whether the variables exist.
    """

    _use_resource_variables = False
    _scope: Any
    _current_scope: Any

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self._trainable_weights = []
        self.built = False
        kwargs.setdefault("autocast", False)
        super().__init__(trainable=trainable, name=name, dtype=dtype or Policy("infer"), **kwargs)
        self._keras_style = _keras_style
        if _keras_style:
            _refuse_with_keras_style("scope", scope)
            _refuse_with_keras_style("reuse", self._reuse)
        self._current_scope = None
        self._scope = None
        if scope:
            with variable_scope(scope) as self._scope:
                pass

    def _init_set_name(self, name, zero_based=True):
        snake = to_snake_case(type(self).__name__)
        is_scope = isinstance(name, VariableScope)
        self._base_name = (name.name if is_scope else name) or snake
        self._name = name if name and not is_scope else unique_object_name(snake)

    @property
    def graph(self):
        """None: layers do not belong to graphs any more."""
        require_graph("Layer.graph not supported when executing eagerly.")

    @property
    def scope_name(self):
        """The name of its variable scope. Raises ValueError before there is one."""
        if not self._scope:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been used yet. The '
                "scope name  is determined the first time the layer instance is called. You must therefore call the "
                "layer before querying `scope_name`."
            )
        return self._scope.name

    def add_loss(self, losses, inputs=None):
        """Adds losses, and puts them into GraphKeys.REGULARIZATION_LOSSES, too."""
        counts = len(self._losses), len(self._callable_losses)
        super().add_loss(losses, inputs=inputs)
        _collect_losses(self._losses[counts[0] :], self._callable_losses[counts[1] :])

    # ---- Scopes ---------------------------------------------------------------------------------------------

    def _name_scope(self):
        return super()._name_scope() if self._keras_style else self._current_scope.original_name_scope

    def _set_scope(self, scope=None):
        """Chooses the variable scope, if that has not been done."""
        if self._scope is not None:
            return
        if self._reuse:
            context = variable_scope(self._base_name if scope is None else scope)
        else:
            context = variable_scope(scope, default_name=self._base_name)
        with context as self._scope:
            pass

    def _entered_scope(self):
        """The context of a call. Once the variables are there, it stays the same."""
        if not self.built:
            return variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        found = self.__dict__.get("_always_reuse_variable_scope")
        if found is None:
            found = variable_scope(self._scope, reuse=True, auxiliary_name_scope=False)
            self._always_reuse_variable_scope = found
        return found

    def add_weight(  # type: ignore[override]
        self, name, shape, dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None,
        use_resource=None, synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
        partitioner=None, **kwargs,
    ):  # fmt: skip
        """Makes a variable in the layer's scope, or finds it, and returns it.

        Args:
          name, shape: the variable's.
          dtype: its type; the layer's by default.
          initializer: a callable; by default the scope's, else glorot_uniform, or zeros for types that are not
            floating.
          regularizer: a function from the variable to a loss, which goes into GraphKeys.REGULARIZATION_LOSSES.
          trainable: whether it is to be trained.
          constraint: a function from the value after an update to the value to keep.
          use_resource: whether it is a resource variable; by default what the scope says.
          synchronization, aggregation: how the copies of a distributed variable are brought together.
          partitioner: a function from shape and type to the number of parts along each axis.

        Raises:
          TypeError: for another argument.
          ValueError: for a trainable variable that is read from copies, and as get_variable does.
        """
        for key in kwargs:
            if key != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", key)
        if self._keras_style:
            return super().add_weight(
                name=name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                trainable=trainable and self.trainable, constraint=constraint, use_resource=use_resource,
                partitioner=partitioner, **kwargs,
            )  # fmt: skip
        trainable = layer.is_trainable(trainable, synchronization)
        known = _global_variables() if regularizer else ()
        self._set_scope(None)
        count = len(self._trainable_weights)
        with variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                variable = super().add_weight(
                    name, shape, dtype=dtypes.as_dtype(dtype or self.dtype or dtypes.float32),
                    initializer=scope.initializer if initializer is None else initializer,
                    trainable=trainable and self.trainable, constraint=constraint, partitioner=partitioner,
                    use_resource=use_resource or self._use_resource_variables or scope.use_resource,
                    synchronization=synchronization, aggregation=aggregation, getter=get_variable, **kwargs,
                )  # fmt: skip
                if regularizer and _is_new(variable, known):
                    self._handle_weight_regularization(name, variable, regularizer)
        if trainable and self.trainable and not _is_among_trainable(variable):
            # A custom getter has made it a variable that is not trained.
            self._non_trainable_weights += self._trainable_weights[count:]
            del self._trainable_weights[count:]
        return variable

    def __call__(self, inputs, *args, **kwargs):
        """Computes the outputs, after making the variables if this is the first call.

        Args:
          inputs: a tensor, or a structure of tensors.
          args, kwargs: further arguments of `call`.
          scope: the variable scope to use, or its name, if the layer has none yet. It is passed on to a `call` that
            has an argument of that name.

        Raises:
          ValueError: if inputs are not what the layer expects, or `call` returns None.
        """
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            _refuse_with_keras_style("scope", scope)
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(scope)
        with self._entered_scope() as self._current_scope:
            if "scope" in self._call_fn_args:
                kwargs["scope"] = self._current_scope
            outputs = super().__call__(inputs, *args, **kwargs)
        _collect(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    # ---- Copies ---------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo):
        """Another layer, with the same tensors and a scope of its own."""
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        for key, value in self.__dict__.items():
            if key in ("_graph", "_thread_local") or _is_of_tensors(value):
                copied.__dict__[key] = value
            elif key in ("_scope", "_always_reuse_variable_scope"):
                copied.__dict__[key] = copy.copy(value)
            else:
                copied.__dict__[key] = copy.deepcopy(value, memo)
        return copied

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)  # what attributes hold is not looked into

    def __delattr__(self, name):
        object.__delattr__(self, name)

    @property
    def _is_legacy_layer(self):
        return True


def _refuse_with_keras_style(what, value):
    if value is not None:
        raise ValueError(f"{what} argument not allowed when keras style layers are enabled, but saw: {value}")


def _is_of_tensors(value):
    flat = nest.flatten(value)
    return bool(flat) and isinstance(flat[0], Tensor)


def _global_variables():
    return {id(variable) for variable in outermost_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)}


def _is_new(variable, known):
    parts = variable if isinstance(variable, PartitionedVariable) else [variable]
    return not any(id(part) in known for part in parts)


@by_outermost_mode
def _is_among_trainable(variable):
    return any(variable is each for each in outermost_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES))


@eager_version_of(_is_among_trainable)
def _is_taken_as_trainable(variable):
    return True  # there are no collections


@by_mode
def _collect(elements, key):
    """Puts what is not in a collection yet into it."""
    collection = get_default_graph().get_collection_ref(key)
    known = {id(each) for each in collection}
    collection.extend(each for each in elements if id(each) not in known)


@eager_version_of(_collect)
def _collect_nothing(elements, key):
    """There are no collections where operations have run."""


@by_mode
def _collect_losses(losses, functions):
    computed = [function() for function in functions]
    _collect([*losses, *(loss for loss in computed if loss is not None)], GraphKeys.REGULARIZATION_LOSSES)


@eager_version_of(_collect_losses)
def _collect_no_losses(losses, functions):
    """There are no collections where operations have run."""

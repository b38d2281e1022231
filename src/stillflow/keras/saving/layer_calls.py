"""The call of a layer as tf.functions, as SavedModels have it: functions that are traced with the same inputs."""

from __future__ import annotations

import contextlib
import inspect

from stillflow.graph import nest
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.keras.backend.phases import learning_phase_scope
from stillflow.keras.engine.model import Model
from stillflow.keras.saving.tracing import model_input_signature
from stillflow.keras.saving.training_argument import TrainingArgument, with_training
from stillflow.layers.core.call_context import call_context
from stillflow.layers.core.input_spec import to_tensor_spec
from stillflow.layers.core.settings import floatx
from stillflow.names import public
from stillflow.platform.argument_specs import getfullargspec
from stillflow.platform.decorators import make_decorator
from stillflow.traced_functions.function import Function


def inner_layers(layer):
    """The layers that a layer calls; a model's as it lists them."""
    return list(layer.layers) if isinstance(layer, Model) else layer._inner_layers()


@contextlib.contextmanager
def without_losses(layer):
    """A context in which a layer, and those that it calls, begin without losses, and after which it has its own."""
    lists = [losses for each in [*inner_layers(layer), layer] for losses in (each._losses, each._eager_losses)]
    kept = [list(losses) for losses in lists]
    for losses in lists:
        losses.clear()
    try:
        yield
    finally:
        for losses, values in zip(lists, kept, strict=True):
            losses[:] = values


def _uses_training(layer):
    return layer._expects("training") or any(_uses_training(each) for each in inner_layers(layer))


def _input_signature(layer):
    """[the tf.TensorSpecs of a layer's inputs], None where they may be of several ranks; None if nothing is known."""
    if isinstance(layer.call, Function) and layer.call.input_signature is not None:
        return layer.call.input_signature
    if isinstance(layer, Model):
        return model_input_signature(layer)
    if layer.input_spec is None:
        return None

    def spec_or_none(spec):
        found = to_tensor_spec(spec, layer.dtype)
        return None if found.shape.rank is None else found

    return [nest.map_structure(spec_or_none, layer.input_spec)]


@public("python.keras.saving.saved_model.save.LayerCallCollection")
class LayerCallCollection:
    """Functions for the call of a layer. When one is traced, all are, with the same inputs.

    Those of a layer that takes `training`, or calls one that does, are traced for True and for False.

    Args:
      layer: the layer.
    """

    def __init__(self, layer):
        self.layer = layer
        self.is_tracing = False
        self._adds_training = not layer._expects("training") and _uses_training(layer)
        self._expects_training = layer._expects("training") or self._adds_training
        self._training = TrainingArgument.of(layer.call)
        spec = getfullargspec(layer.call)
        self._has_keywords = bool(self._expects_training or spec.defaults or spec.kwonlyargs or spec.varkw)
        self._signature = _input_signature(layer)
        self._is_signature_complete = None not in nest.flatten(self._signature)
        self._functions: list = []

    def add_function(self, call_fn, name):
        """The LayerCall of a Python function. If all inputs are known, it is traced."""
        # With a signature there is no argument for `training`.
        signature = None if self._has_keywords or not self._is_signature_complete else self._signature
        function = LayerCall(self, self._with_training(call_fn), name, input_signature=signature)
        self._functions.append(function)
        if self._is_signature_complete and self._has_keywords:
            self.add_trace(*self._signature)
        return function

    def add_trace(self, *args, **kwargs):
        """Traces all functions for such arguments."""
        self.is_tracing = True
        try:
            for function in self._functions:
                if not self._expects_training:
                    function.get_concrete_function(*args, **kwargs)
                    continue
                for value in (True, False):
                    new_args, new_kwargs = self._training.replaced(value, args, kwargs)
                    with learning_phase_scope(int(value)):
                        function.get_concrete_function(*new_args, **new_kwargs)
        finally:
            self.is_tracing = False

    def context(self, args, kwargs):
        """The context of a call of the layer with such arguments; layers that it calls are told about `training`."""
        inputs = training = None
        if args or kwargs:
            if self._adds_training:
                training = self._training.get(args, kwargs)
                was_given = training is not None
            else:
                was_given, training = self.layer._given("training", args[1:], kwargs)
            inputs = args[0] if was_given else None
        return call_context.enter(self.layer, inputs, training)

    def _with_training(self, call_fn):
        """The function with an argument `training`, if only the layers that it calls take it."""
        if not self._adds_training:
            return call_fn
        spec = getfullargspec(call_fn)
        spec = inspect.FullArgSpec(
            [*spec.args, "training"], spec.varargs, spec.varkw, (*(spec.defaults or ()), False), spec.kwonlyargs,
            spec.kwonlydefaults, spec.annotations,
        )  # fmt: skip
        names = spec.args[1:] if inspect.ismethod(self.layer.call) else spec.args
        self._training = argument = TrainingArgument(names)

        def wrap_with_training_arg(*args, **kwargs):
            args, kwargs = argument.removed(args, kwargs)
            return call_fn(*args, **kwargs)

        return make_decorator(call_fn, wrap_with_training_arg, decorator_argspec=spec)


@public("python.keras.saving.saved_model.save.LayerCall")
class LayerCall(Function):
    """A tf.function of a LayerCallCollection.

    Args:
      call_collection: the collection.
      python_function: the function.
      args, kwargs: as for Function.
    """

    def __init__(self, call_collection, python_function, *args, **kwargs):
        self.call_collection = call_collection
        self.original_call = call_collection.layer.call

        def wrapper(*values, **named):
            layer = call_collection.layer
            with without_losses(layer), call_collection.context(values, named):
                return python_function(*values, **named)

        super().__init__(make_decorator(python_function, wrapper), *args, **kwargs)

    def __call__(self, *args, **kwargs):
        self._trace_all(args, kwargs)
        return super().__call__(*args, **kwargs)

    def get_concrete_function(self, *args, **kwargs):
        self._trace_all(args, kwargs)
        return super().get_concrete_function(*args, **kwargs)

    def _trace_all(self, args, kwargs):
        if not self.call_collection.is_tracing:
            self.call_collection.add_trace(*args, **kwargs)


# ---- What the functions compute ----------------------------------------------------------------------------------


def outputs_and_losses(layer):
    """A Python function of a layer's inputs: its outputs, and a list of the losses that depend on the inputs."""
    call = layer.call

    def call_and_return_conditional_losses(inputs, *args, **kwargs):
        return call(inputs, *args, **kwargs), layer.get_losses_for(inputs)

    return _like_call(layer, call_and_return_conditional_losses)


def outputs_of(layer, with_losses):
    """A Python function of a layer's inputs that returns its outputs alone; `with_losses` returns losses, too."""

    def call(inputs, *args, **kwargs):
        return with_losses(inputs, *args, **kwargs)[0]

    return _like_call(layer, call)


def outputs_and_all_losses(layer, with_losses, activity_regularizer):
    """A Python function that returns what `with_losses` returns, with the loss of an activity regularizer."""

    def fn(inputs, *args, **kwargs):
        outputs, losses = with_losses(inputs, *args, **kwargs)
        return outputs, [*losses, activity_regularizer(outputs)]

    return _like_call(layer, fn)


def _like_call(layer, function):
    function, spec = with_training(layer.call, function, layer._expects("training"), default=False)
    return make_decorator(layer.call, function, decorator_argspec=spec)


def unconditional_loss(loss, index):
    """The tf.function of a loss that a layer was given as a function of nothing."""
    function = getattr(loss, "func", None) and loss.args[0]
    if isinstance(function, Function):
        return function
    return Function(function or loss, f"loss_fn_{index}", input_signature=[])


def activity_regularizer_function(layer):
    """The tf.function of a layer's activity regularizer."""
    regularizer = layer.activity_regularizer
    if isinstance(regularizer, Function):
        return regularizer
    signature = [TensorSpec(None, layer.dtype or floatx())]
    return Function(regularizer, f"{layer.name}_activity_regularizer", input_signature=signature)

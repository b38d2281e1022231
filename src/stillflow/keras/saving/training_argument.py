"""The argument `training` of functions that stand for the call of a layer."""

from __future__ import annotations

import inspect

from stillflow.keras.backend.phases import learning_phase
from stillflow.layers.core.conditions import smart_cond
from stillflow.platform.argument_specs import getfullargspec, ismethod
from stillflow.platform.decorators import make_decorator


class TrainingArgument:
    """Where a function takes `training`: at a position, or only by name.

    Args:
      names: the names of its positional arguments, without a bound one.
    """

    def __init__(self, names):
        self._index = names.index("training") if "training" in names else -1

    @classmethod
    def of(cls, function):
        """That of a function."""
        names = getfullargspec(function).args
        return cls(names[1:] if ismethod(function) else names)

    def _is_positional(self, args):
        return 0 <= self._index < len(args)

    def get(self, args, kwargs):
        """The argument of a call, None where it is not passed."""
        return args[self._index] if self._is_positional(args) else kwargs.get("training")

    def replaced(self, value, args, kwargs):
        """(args, kwargs) of a call with another value of the argument."""
        if self._is_positional(args):
            return [*args[: self._index], value, *args[self._index + 1 :]], kwargs
        return list(args), {**kwargs, "training": value}

    def removed(self, args, kwargs):
        """(args, kwargs) of a call without the argument."""
        if self._is_positional(args):
            return [*args[: self._index], *args[self._index + 1 :]], kwargs
        return list(args), {key: value for key, value in kwargs.items() if key != "training"}


def with_training(original_call, wrapped_call, expects_training, default):
    """(a function that calls `wrapped_call` with a plain `training`, the inspect.FullArgSpec that it has).

    Where `training` is a tensor, both calls are parts of a tf.cond. The specification is None where it is that of
    `original_call`.

    Args:
      original_call: the function whose arguments it takes.
      wrapped_call: what it calls.
      expects_training: whether there is the argument; else `wrapped_call` is returned as it is.
      default: the value where none is passed; None for Keras' learning phase.
    """
    if not expects_training:
        return wrapped_call, None
    argument = TrainingArgument.of(original_call)

    def wrap_with_training_arg(*args, **kwargs):
        training = argument.get(args, kwargs)
        if training is None:
            training = default or learning_phase()

        def call(value):
            new_args, new_kwargs = argument.replaced(value, args, kwargs)
            return wrapped_call(*new_args, **new_kwargs)

        return smart_cond(training, lambda: call(True), lambda: call(False))

    return wrap_with_training_arg, _spec_with_default(getfullargspec(original_call), default)


def _spec_with_default(spec, default):
    defaults = list(spec.defaults or ())
    keywords, keyword_defaults = list(spec.kwonlyargs), dict(spec.kwonlydefaults or {})
    if "training" not in spec.args:
        if "training" not in keywords:
            keywords.append("training")
        keyword_defaults["training"] = default
    else:
        from_end = len(spec.args) - spec.args.index("training")
        if len(defaults) >= from_end and defaults[-from_end] is None:
            defaults[-from_end] = default
    return inspect.FullArgSpec(
        spec.args, spec.varargs, spec.varkw, tuple(defaults), keywords, keyword_defaults, spec.annotations
    )


def call_and_add_losses(layer, call_fn, default=None, is_method=False):
    """A function that returns the outputs of `call_fn`, and adds the losses that it returns to the layer.

    Args:
      layer: the layer.
      call_fn: a tf.function of inputs, and maybe `training`, that returns (outputs, a list of losses).
      default: see `with_training`.
      is_method: whether the function takes the layer as its first argument.
    """
    original = getattr(call_fn, "original_call", call_fn)
    function, spec = with_training(original, call_fn, layer._expects("training"), default)

    def return_outputs_and_add_losses(*args, **kwargs):
        inputs, *others = args[1:] if is_method else args
        outputs, losses = function(inputs, *others, **kwargs)
        layer.add_loss(losses, inputs)
        return outputs

    return make_decorator(call_fn, return_outputs_and_add_losses, decorator_argspec=spec)

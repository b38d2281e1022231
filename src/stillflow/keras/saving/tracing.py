"""A model's call as a function of tensors, for SavedModels and converters."""

from __future__ import annotations

from pathlib import Path

from stillflow.graph import nest
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.keras.engine.weight_files import ask_to_overwrite
from stillflow.names import public
from stillflow.traced_functions.function import Function, function


@public("python.keras.saving.saving_utils.extract_model_metrics")
def extract_model_metrics(model):
    """{name: metric} of the metrics that a model was compiled with; None if there are none."""
    if not getattr(model, "_compile_metrics", None):
        return None
    return {metric.name: metric for metric in model._compile_metric_functions}


@public("python.keras.saving.saving_utils.model_input_signature")
def model_input_signature(model):
    """A list with the tf.TensorSpecs of a model's only argument, a structure of them, for batches of any size.

    None for a model that does not know its inputs yet.
    """
    if not hasattr(model, "input_names"):
        return None
    specs: list = [
        TensorSpec((None, *tensor.shape.as_list()[1:]), tensor.dtype, name)
        for tensor, name in zip(nest.flatten(model.inputs), model.input_names, strict=False)
    ]
    if model.__dict__.get("_takes_dictionary"):
        return [dict(zip(model.input_names, specs, strict=True))]
    return specs if len(specs) == 1 else [specs]


@public("python.keras.saving.saving_utils.raise_model_input_error")
def raise_model_input_error(model):
    """Raises the ValueError for a model that does not know its inputs."""
    raise ValueError(
        f"Model {model} cannot be saved because the input shapes have not been set. Usually, input shapes are "
        "automatically determined from calling .fit() or .predict(). To manually set the shapes, call "
        "model._set_inputs(inputs)."
    )


@public("python.keras.saving.saving_utils.trace_model_call")
def trace_model_call(model, input_signature=None):
    """A tf.function of a model's inputs that returns {name: output}, with the model not being trained.

    Args:
      model: the model.
      input_signature: a list of tf.TensorSpecs; by default those of `call` if it is a tf.function, else those of the
        model's inputs.

    Raises ValueError if the model does not know its inputs.
    """
    if input_signature is None and isinstance(model.call, Function):
        input_signature = model.call.input_signature
    if input_signature is None:
        input_signature = model_input_signature(model)
    if input_signature is None:
        raise_model_input_error(model)

    @function(input_signature=input_signature, autograph=False)
    def _wrapped_model(*args):
        inputs = args[0] if len(input_signature) == 1 else list(args)
        outputs = nest.flatten(model(inputs, training=False))
        names = getattr(model, "output_names", None) or [f"output_{i}" for i in range(1, len(outputs) + 1)]
        return dict(zip(names, outputs, strict=False))

    return _wrapped_model


@public("python.keras.saving.saving_utils.should_overwrite")
def should_overwrite(filepath, overwrite):
    """Whether a file is to be written: not if it is there, and the user who is then asked says no."""
    return overwrite or not Path(filepath).is_file() or ask_to_overwrite(filepath)

"""Single steps of models in eager execution: a batch is computed, differentiated and measured at once."""

from __future__ import annotations

import weakref

import numpy as np

from stillflow import ops
from stillflow.eager.gradient_tape import GradientTape
from stillflow.eager.tensor import EagerTensor
from stillflow.graph import dtypes, nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.keras.backend.phases import phase_of_step
from stillflow.keras.engine import runs
from stillflow.keras.engine.compiled import output_loss
from stillflow.keras.engine.compiled_metrics import call_metric
from stillflow.keras.engine.library_code import is_library_code, is_repeatable
from stillflow.keras.optimizers.scaled import LossScaleOptimizer
from stillflow.layers.core.settings import floatx
from stillflow.platform import logging
from stillflow.ragged.composites import as_tensor
from stillflow.traced_functions.polymorphic import Function

# Of the functions in which TensorFlow runs steps: the batch comes from an iterator, its samples are counted unless
# the model predicts.
_NODES_BEFORE_STEP = 9
_NODES_BEFORE_PREDICTION = 4


def _tensor(value, dtype=None):
    """A tensor of an array; floating numbers are of the type given, `floatx` by default."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        value = value.astype(dtypes.as_dtype(dtype or floatx()).as_numpy_dtype, copy=False)
    tensor = as_tensor(value)
    wanted = dtypes.as_dtype(dtype or floatx())
    return ops.cast(tensor, wanted) if tensor.dtype.is_floating and tensor.dtype != wanted else tensor


def _inputs(model, x):
    """What a model is called with, for a list of its inputs."""
    types = [tensor.dtype for tensor in model.inputs] if model.inputs else [None] * len(x)
    values = []
    for value, dtype in zip(x, types, strict=True):
        tensor = _tensor(value)
        values.append(ops.cast(tensor, dtype) if dtype is not None and tensor.dtype != dtype else tensor)
    if isinstance(getattr(model, "_nested_inputs", None), dict) or getattr(model, "_takes_dictionary", False):
        return dict(zip(model._feed_input_names, values, strict=True))
    return values[0] if len(values) == 1 else values


def _true_values(model, y, weights):
    """(targets, weights or None) of a batch as tensors."""
    with_loss = [endpoint for endpoint in model._training_endpoints if endpoint.has_loss]
    types = [None if endpoint.output is None else endpoint.output.dtype for endpoint in with_loss]
    targets = [_tensor(value, dtype) for dtype, value in zip(types, y, strict=False)]
    return targets, [None if each is None else _tensor(each) for each in weights or ()]


def _compute_loss(model, inputs, y, weights, training):
    """(outputs, targets of the endpoints, weights, masks, the loss, losses of outputs)."""
    arguments = {"training": training} if model._expects("training") else {}
    outputs = nest.flatten(model(inputs, **arguments))
    masks = [getattr(output, "_keras_mask", None) for output in outputs]
    given, given_weights = iter(y), iter(weights)
    targets, sample_weights, losses = [], [], []
    total = None
    with name_scope("loss"):
        of_outputs = zip(model._training_endpoints, model._loss_weights_list, outputs, masks, strict=True)
        for endpoint, loss_weight, output, mask in of_outputs:
            target = _tensor(next(given), output.dtype) if endpoint.has_loss else None
            weight = next(given_weights, None) if endpoint.has_loss else None
            targets.append(target)
            sample_weights.append(weight)
            if not endpoint.has_loss:
                continue
            with name_scope(endpoint.loss_name):
                loss = output_loss(endpoint, target, output, weight, mask)
            if len(model.outputs) > 1:
                losses.append(endpoint.output_loss_metric(loss))
            loss = loss_weight * loss
            total = loss if total is None else total + loss
        added = model.losses
        if added:
            total = ops.add_n(added) if total is None else total + ops.add_n(added)
    if total is None:
        raise ValueError("The model cannot be run because it has no loss to optimize.")
    return outputs, targets, sample_weights, masks, total, losses


def _measure(model, outputs, targets, weights, masks):
    """The results of all metrics after one more batch."""
    results = []
    of_outputs = zip(
        model._training_endpoints, model._per_output_metrics, model._per_output_weighted_metrics, outputs, targets,
        weights, masks, strict=True,
    )  # fmt: skip
    for endpoint, plain, weighted, output, target, weight, mask in of_outputs:
        if not endpoint.has_loss:
            continue
        for metric in plain.values():
            results.append(call_metric(metric, target, output, mask=mask))
        for metric in weighted.values():
            results.append(call_metric(metric, target, output, weights=weight, mask=mask))
    known = {id(metric) for metric in model._compile_metric_functions}
    return results + [metric.result() for metric in model.metrics if id(metric) not in known]


def _numbers(values):
    return [value.numpy() if isinstance(value, EagerTensor) else value for value in values]


def _train(model, inputs, y, weights):
    """Trains with a batch of tensors; returns the loss, the losses of outputs, and the metrics."""
    with GradientTape() as tape:
        outputs, targets, weights, masks, total, losses = _compute_loss(model, inputs, y, weights, True)
        is_scaled = isinstance(model.optimizer, LossScaleOptimizer)
        scaled = model.optimizer.get_scaled_loss(total) if is_scaled else total
    variables = model._unique_trainable_weights
    if variables:
        found = tape.gradient(scaled, variables)
        if is_scaled:
            found = model.optimizer.get_unscaled_gradients(found)
        gradients = dict(zip(map(id, variables), found, strict=True))
        for optimizer, share in model._optimizers_and_weights(variables):
            optimizer.apply_gradients([(gradients[id(variable)], variable) for variable in share])
    else:
        logging.warning(
            "The list of trainable weights is empty. Make sure that you are not setting model.trainable to False "
            "before compiling the model."
        )
    return [total, *losses, *_measure(model, outputs, targets, weights, masks)]


def _test(model, inputs, y, weights):
    """The loss of a batch of tensors, the losses of outputs, and the metrics."""
    outputs, targets, weights, masks, total, losses = _compute_loss(model, inputs, y, weights, False)
    return [total, *losses, *_measure(model, outputs, targets, weights, masks)]


def _predict(model, inputs):
    return nest.flatten(model(inputs))


def _function_of(model, body, batch, shapes):
    """The function that makes a step of such a batch in a run, whose random numbers go on from step to step."""
    leaves = nest.flatten(batch)
    is_there = tuple(leaf is not None for leaf in leaves)
    functions = model.__dict__.setdefault("_step_functions", {})
    key = body, is_there, shapes and tuple(shapes)
    if key not in functions:
        functions[key] = _traced(model, body, batch, is_there, shapes)
    return functions[key]


def _traced(model, body, batch, is_there, shapes):
    def step(*tensors):
        graph = get_default_graph()
        nodes = _NODES_BEFORE_PREDICTION if body is _predict else _NODES_BEFORE_STEP
        graph._further_nodes = nodes - len(graph.get_operations())
        given = iter(tensors)
        packed = nest.pack_sequence_as(structure, [next(given) if there else None for there in is_there])
        return body(reference(), *packed)

    def make():
        made = Function(step, name, signature, autograph=False, experimental_relax_shapes=signature is None)
        if signature:
            made.get_concrete_function()
        return made

    structure = nest.map_structure(lambda _: None, batch)
    reference = weakref.ref(model)
    name = body.__name__.strip("_")
    signature = shapes and [TensorSpec(shape, dtype) for shape, dtype in shapes]
    is_first = body is _train and not getattr(model.optimizer, "_weights", None)
    place = _place_in_random_numbers()
    function = make()
    # TensorFlow traces again where the first trace made variables: layers that numpy seeds get other seeds.
    return make() if is_first and place != _place_in_random_numbers() else function


def _place_in_random_numbers():
    _, words, position, *_ = np.random.get_state()
    return position, words[0]


def _step(model, body, batch, shapes_of):
    """What a step makes of a batch.

    A batch of a run goes through a function of tensors, unless the model is to run eagerly. The function holds for
    all batches of the shapes that `shapes_of` makes of a batch's tensors.
    """
    if model.run_eagerly:
        return body(model, *batch)
    if shapes_of is None:
        return _single_step(model, body, batch)
    tensors = [leaf for leaf in nest.flatten(batch) if leaf is not None]
    shapes = shapes_of(tensors) if all(isinstance(each, EagerTensor) for each in tensors) else None
    return _function_of(model, body, batch, shapes)(*tensors)


def _single_step(model, body, batch):
    """A step of a batch that is given by itself: TensorFlow computes it operation by operation.

    A function does it in less time. It is only made where it is the same: see `library_code`.
    """
    functions = model.__dict__.setdefault("_step_functions", {})
    if body not in functions:
        function = None
        if is_library_code(model):

            def step(*batch):
                return body(reference(), *batch)

            reference = weakref.ref(model)
            name = body.__name__.strip("_")
            function = Function(step, name, autograph=False, experimental_relax_shapes=True)
            state = np.random.get_state()
            if not is_repeatable(function.get_concrete_function(*batch).graph):
                np.random.set_state(state)  # layers that numpy seeds have taken some numbers
                function = None
        functions[body] = function
    function = functions[body]
    return body(model, *batch) if function is None else function(*batch)


def train(model, x, y, weights, shapes_of=None):
    """Trains with a batch of arrays or tensors; returns the loss, the losses of outputs, and the metrics.

    `shapes_of`: makes of a list of tensors the list of (shape, dtype) that all batches of a run have; None for a
    single batch.
    """
    with phase_of_step(1):
        state = model._get_trainable_state()
        model._set_trainable_state(model._compiled_trainable_state)
        batch = _inputs(model, x), *_true_values(model, y, weights)
        results = _step(model, _train, batch, shapes_of)
        model._set_trainable_state(state)
    return _numbers(results)


def test(model, x, y, weights, shapes_of=None):
    """The loss of a batch, the losses of outputs, and the metrics. `shapes_of`: see `train`."""
    with phase_of_step(0):
        return _numbers(_step(model, _test, (_inputs(model, x), *_true_values(model, y, weights)), shapes_of))


def predict(model, x, shapes_of=None):
    """The outputs for a batch, as tensors. `shapes_of`: see `train`."""
    with phase_of_step(0):
        return _step(model, _predict, (_inputs(model, x),), shapes_of)


# ---- The methods of models for one batch ----------------------------------------------------------------------


@eager_version_of(runs.training_of_call)
def _left_to_the_caller():
    return None


def _only(outputs):
    return outputs[0] if len(outputs) == 1 else outputs


@eager_version_of(runs.train_on_batch)
def _train_on_batch(model, x, y, sample_weight, class_weight, reset_metrics):
    x, y, weights = model._standardize_user_data(x, y, sample_weight=sample_weight, class_weight=class_weight)
    outputs = train(model, x, y, weights)
    if reset_metrics:
        model.reset_metrics()
    return _only(outputs)


@eager_version_of(runs.test_on_batch)
def _test_on_batch(model, x, y, sample_weight, reset_metrics):
    x, y, weights = model._standardize_user_data(x, y, sample_weight=sample_weight)
    outputs = test(model, x, y, weights)
    if reset_metrics:
        model.reset_metrics()
    return _only(outputs)


@eager_version_of(runs.predict_on_batch)
def _predict_on_batch(model, x):
    x, _, _ = model._standardize_user_data(x)
    return _only(predict(model, x))

"""Runs of models in graphs: over arrays, tensors and datasets, by a session."""

from __future__ import annotations

from stillflow.graph.mode import by_mode
from stillflow.keras.backend.phases import learning_phase, symbolic_learning_phase
from stillflow.keras.engine import array_loop, batch_loop, data, dataset_feeds, modes, sequences


@by_mode
def training_of_call():
    """What the argument `training` is when a model of the default graph is called to know its outputs."""
    return learning_phase()


@by_mode
def fit(
    model, x, y, batch_size, epochs, verbose, callbacks, validation_split, validation_data, shuffle, class_weight,
    sample_weight, initial_epoch, steps_per_epoch, validation_steps, validation_freq, queue,
):  # fmt: skip
    if sequences.makes_batches(x):
        model._validate_or_infer_batch_size(batch_size, steps_per_epoch, x)
        batch_loop.check_arguments(y, sample_weight, validation_split)
        return batch_loop.run(
            model, x, modes.TRAIN, steps_per_epoch, epochs, verbose, callbacks, validation_data, validation_steps,
            validation_freq, class_weight, shuffle=shuffle, initial_epoch=initial_epoch,
            steps_name="steps_per_epoch", **queue,
        )  # fmt: skip
    batch_size = model._validate_or_infer_batch_size(batch_size, steps_per_epoch, x)
    if dataset_feeds.is_dataset(x):
        dataset_feeds.check_arguments(x, y, sample_weight, validation_split)
        if shuffle:
            dataset_feeds.warn_unless_shuffled(x)
        feed = array_loop.dataset_feed(model, x, modes.TRAIN, steps_per_epoch, "steps_per_epoch")
    else:
        x, y, weights = model._standardize_user_data(
            x, y, sample_weight=sample_weight, class_weight=class_weight, batch_size=batch_size, check_steps=True,
            steps_name="steps_per_epoch", steps=steps_per_epoch,
        )  # fmt: skip
    if validation_data is not None and not data.is_empty(validation_data):
        validation = _validation_feed(model, validation_data, batch_size, validation_steps)
    elif validation_split and 0.0 < validation_split < 1.0:
        x, y, weights, val_x, val_y, val_weights = data.split(x, y, weights, validation_split)
        validation = array_loop.feed_of(model, val_x, val_y, val_weights, modes.TEST, validation_steps)
    else:
        if validation_steps:
            raise ValueError("`validation_steps` should not be specified if `validation_data` is None.")
        validation = None
    if not dataset_feeds.is_dataset(x):
        feed = array_loop.feed_of(model, x, y, weights, modes.TRAIN, steps_per_epoch)
    return array_loop.fit(
        model, feed, batch_size, epochs, verbose, callbacks, validation, shuffle, initial_epoch, validation_freq
    )


def _validation_feed(model, validation_data, batch_size, steps):
    x, y, weights = data.unpack_validation(validation_data)
    if dataset_feeds.is_dataset(x):
        return array_loop.dataset_feed(model, x, modes.TEST, steps, "validation_steps")
    x, y, weights = model._standardize_user_data(
        x, y, sample_weight=weights, batch_size=batch_size, steps=steps, steps_name="validation_steps"
    )
    return array_loop.feed_of(model, x, y, weights, modes.TEST, steps)


@by_mode
def evaluate(model, x, y, batch_size, verbose, sample_weight, steps, callbacks, queue):
    batch_size = model._validate_or_infer_batch_size(batch_size, steps, x)
    if sequences.makes_batches(x):
        batch_loop.check_arguments(y, sample_weight)
        return batch_loop.run(model, x, modes.TEST, steps, verbose=verbose, callbacks=callbacks, **queue)
    if dataset_feeds.is_dataset(x):
        dataset_feeds.check_arguments(x, y, sample_weight)
        feed = array_loop.dataset_feed(model, x, modes.TEST, steps, "steps")
        return array_loop.run_once(model, modes.TEST, feed, batch_size, callbacks, verbose)
    x, y, weights = model._standardize_user_data(
        x, y, sample_weight=sample_weight, batch_size=batch_size, check_steps=True, steps=steps
    )
    feed = array_loop.feed_of(model, x, y, weights, modes.TEST, steps)
    return array_loop.run_once(model, modes.TEST, feed, batch_size, callbacks, verbose)


@by_mode
def predict(model, x, batch_size, verbose, steps, callbacks, queue):
    batch_size = model._validate_or_infer_batch_size(batch_size, steps, x)
    if sequences.makes_batches(x):
        return batch_loop.run(model, x, modes.PREDICT, steps, verbose=verbose, callbacks=callbacks, **queue)
    if dataset_feeds.is_dataset(x):
        feed = array_loop.dataset_feed(model, x, modes.PREDICT, steps, "steps")
        return array_loop.run_once(model, modes.PREDICT, feed, batch_size, callbacks, verbose)
    x, _, _ = model._standardize_user_data(x, check_steps=True, steps=steps)
    feed = array_loop.feed_of(model, x, [], None, modes.PREDICT, steps)
    return array_loop.run_once(model, modes.PREDICT, feed, batch_size, callbacks, verbose)


def _only(outputs):
    return outputs[0] if len(outputs) == 1 else outputs


@by_mode
def train_on_batch(model, x, y, sample_weight, class_weight, reset_metrics):
    x, y, weights = model._standardize_user_data(x, y, sample_weight=sample_weight, class_weight=class_weight)
    phase = [] if isinstance(symbolic_learning_phase(), int) else [True]
    model._update_sample_weight_modes(sample_weights=weights)
    model._make_train_function()
    outputs = model.train_function([*x, *y, *(weights or []), *phase])
    if reset_metrics:
        model.reset_metrics()
    return _only(outputs)


@by_mode
def test_on_batch(model, x, y, sample_weight, reset_metrics):
    x, y, weights = model._standardize_user_data(x, y, sample_weight=sample_weight)
    model._update_sample_weight_modes(sample_weights=weights)
    model._make_test_function()
    outputs = model.test_function([*x, *y, *(weights or [])])
    if reset_metrics:
        model.reset_metrics()
    return _only(outputs)


@by_mode
def predict_on_batch(model, x):
    x, _, _ = model._standardize_user_data(x)
    model._make_predict_function()
    return _only(model.predict_function(x))

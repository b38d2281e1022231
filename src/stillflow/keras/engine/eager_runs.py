"""Runs of models in eager execution, over data of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import errors
from stillflow.graph.mode import eager_version_of
from stillflow.keras.callbacks.running import configure, make_logs, name_results, progress_bar
from stillflow.keras.engine import data, dataset_feeds, distribution, eager_steps, modes, runs, sequences
from stillflow.keras.engine.adapters import ListsOfScalarsDataAdapter, has_adapter, refuse_others, select_data_adapter
from stillflow.keras.engine.aggregators import Means, Outputs
from stillflow.keras.engine.batches import Arrays, Batches
from stillflow.platform import logging


class _Run:
    """Passes of a model over data.

    Args:
      model: the model.
      mode: one of `modes`.
      source: Arrays or Batches.
      steps: the number of batches of an epoch; None for all there are.
      epochs: how many epochs there will be, for messages.
    """

    callbacks: Any
    progress: Any

    def __init__(self, model, mode, source, steps, epochs=1):
        self.model = model
        self.mode = mode
        self.source = source
        self.recreates = isinstance(source, Batches) and (source.size is not None or steps is None)
        self.steps = steps or source.size
        self.epochs = epochs
        self._iterator: Any = None

    def prepare(self, callbacks, verbose, batch_size, samples, do_validation=False):
        """Makes the callbacks ready, and calls their first hooks."""
        self.callbacks = configure(
            callbacks, self.model, do_validation=do_validation, batch_size=batch_size, epochs=self.epochs,
            steps_per_epoch=self.steps, samples=samples, mode=self.mode,
        )  # fmt: skip
        self.progress = progress_bar(self.model, "steps" if self.source.samples is None else "samples")
        self.progress.params = dict(self.callbacks.params, verbose=verbose)
        self.callbacks.model.stop_training = False
        self.callbacks.call_begin_hook(self.mode)
        self.progress.on_train_begin()

    def _outcome(self, batch):
        if self.mode == modes.TRAIN:
            x, y, weights = batch
            return eager_steps.train(self.model, x, y, weights, self.source.shapes_of)
        if self.mode == modes.TEST:
            x, y, weights = batch
            return eager_steps.test(self.model, x, y, weights, self.source.shapes_of)
        return data.as_numpy(eager_steps.predict(self.model, batch[0], self.source.shapes_of))

    def _next(self, step, aggregator):
        """The next batch, or None at the end of the data."""
        try:
            return next(self._iterator)
        except (StopIteration, errors.OutOfRangeError):
            pass
        if self.source.size is None and self.steps is None and step > 0:
            aggregator.count = step
            self.progress.params["steps"] = self.progress.progbar.target = step
        else:
            self.callbacks.model.stop_training = True
            logging.warning(
                "Your input ran out of data; interrupting training. Make sure that your dataset or generator can "
                "generate at least `steps_per_epoch * epochs` batches (in this case, "
                f"{self.epochs * (self.steps or 0)} batches). You may need to use the repeat() function when "
                "building your dataset."
            )
        return None

    def epoch(self):
        """Runs over the batches of an epoch, and returns what `aggregators` make of the outputs."""
        if self._iterator is None or self.recreates:
            self._iterator = self.source.begin()
        samples, callbacks, progress = self.source.samples, self.callbacks, self.progress
        aggregator: Any
        if self.mode == modes.PREDICT:  # of a Sequence, the number of samples is only guessed
            aggregator = Outputs(isinstance(self.source, Batches), samples)
        else:
            aggregator = Means(samples is None, samples or self.steps)
        step = seen = 0
        while self.steps is None or step < self.steps:
            expected = 1 if samples is None else min(self.source.batch_size, samples - seen)
            logs = {"batch": step, "size": expected}
            callbacks.call_batch_hook(self.mode, "begin", step, logs)
            progress.on_batch_begin(step, logs)
            was_compiled = self.model._is_compiled
            batch = self._next(step, aggregator)
            if batch is None:
                break
            count = data.sample_count(batch[0])
            if self.mode != modes.PREDICT:
                logs["size"] = count
            outcome = self._outcome(batch)
            if step == 0:
                aggregator.create(outcome)
                if not was_compiled and self.mode != modes.PREDICT:
                    name_results(self.callbacks, self.progress, self.model)
            aggregator.aggregate(outcome, seen, seen + count)
            seen += count
            make_logs(self.model, logs, outcome, self.mode)
            callbacks.call_batch_hook(self.mode, "end", step, logs)
            progress.on_batch_end(step, logs)
            step += 1
            if callbacks.model.stop_training:
                break
        aggregator.finalize()
        return aggregator.results

    def once(self, callbacks, verbose, batch_size, epoch=0):
        """Runs over the data once, and returns the results."""
        # Of samples TensorFlow 1.15 tells callbacks only whether they are counted; 20/1 is what it prints.
        self.prepare(callbacks, verbose, batch_size, int(self.source.samples is not None))
        self.model.reset_metrics()
        logs: dict = {}
        self.progress.on_epoch_begin(epoch, logs)
        results = self.epoch()
        make_logs(self.model, logs, results, self.mode)
        self.progress.on_epoch_end(epoch, logs)
        self.callbacks.call_end_hook(self.mode)
        return results


def _source_of(
    model, x, y, sample_weight, class_weight, batch_size, steps, steps_name, queue, epochs=1, shuffle=False
):  # fmt: skip
    """(Arrays or Batches of an argument of `fit`, the steps of a dataset where it says how many there are)."""
    if dataset_feeds.is_dataset(x) or sequences.makes_batches(x):
        if dataset_feeds.is_dataset(x):
            dataset_feeds.check_arguments(x, y, sample_weight)
            dataset_feeds.steps_of(x, steps, steps_name)
        else:
            refuse_others(x, y, sample_weight)
        return Batches(model, x, queue, shuffle, class_weight)
    if has_adapter(x) and select_data_adapter(x, y) is ListsOfScalarsDataAdapter:
        x, y = np.asarray(x), None if y is None else np.asarray(y)
    x, y, weights = model._standardize_user_data(
        x, y, sample_weight=sample_weight, class_weight=class_weight, batch_size=batch_size, steps=steps
    )
    return Arrays(_dense(model, x, y, weights), batch_size, steps, epochs, shuffle)


def _dense(model, x, y, weights):
    """The arrays, of which matrices of scipy are as the model takes them."""
    x = [data.as_dense(each, tensor) for each, tensor in zip(x, model.inputs, strict=True)]
    return x, y and [data.as_dense(each, None) for each in y], weights


def _sources_of_fit(
    model, x, y, batch_size, epochs, validation_split, validation_data, shuffle, class_weight, sample_weight, steps,
    validation_steps, queue,
):  # fmt: skip
    """The sources of the training and of the validation, the latter None if there is none."""
    is_split = validation_split and 0.0 < validation_split < 1.0
    has_validation = validation_data is not None and not data.is_empty(validation_data)
    if is_split:
        if has_validation:
            raise ValueError("validation_data and validation_split cannot be used at same time.")
        if dataset_feeds.is_dataset(x) or sequences.makes_batches(x):
            raise ValueError(
                "`validation_split` argument is not supported when data adapter is that of batches. Received: "
                f"x={x}, validation_split={validation_split}"
            )
        x, y, weights = model._standardize_user_data(
            x, y, sample_weight=sample_weight, class_weight=class_weight, batch_size=batch_size, steps=steps
        )
        x, y, weights, *of_validation = data.split(x, y, weights, validation_split)
        weights = None if weights is None or not any(each is not None for each in weights) else weights
        if of_validation[2] is not None and not any(each is not None for each in of_validation[2]):
            of_validation[2] = None
        return (
            Arrays(_dense(model, x, y, weights), batch_size, steps, epochs, shuffle),
            Arrays(_dense(model, *of_validation), batch_size, validation_steps),
        )
    training = _source_of(
        model, x, y, sample_weight, class_weight, batch_size, steps, "steps_per_epoch", queue, epochs, shuffle
    )
    if not has_validation:
        if validation_steps:
            raise ValueError("`validation_steps` should not be specified if `validation_data` is None.")
        return training, None
    if sequences.makes_batches(validation_data):
        validation_data = (validation_data, None, None)
    x, y, weights = data.unpack_validation(validation_data)
    validation = _source_of(
        model,
        x,
        y,
        weights,
        class_weight,
        batch_size or training.batch_size,
        validation_steps,
        "validation_steps",
        queue,
    )
    return training, validation


def _announce(training, validation):
    samples, steps = training.source.samples, training.steps
    if not samples and not steps:
        return
    text = f"Train on {samples} samples" if samples else f"Train for {steps} steps"
    if validation is not None and validation.source.samples:
        text += f", validate on {validation.source.samples} samples"
    elif validation is not None and validation.steps:
        text += f", validate for {validation.steps} steps"
    print(text)


@eager_version_of(runs.fit)
def _fit(
    model, x, y, batch_size, epochs, verbose, callbacks, validation_split, validation_data, shuffle, class_weight,
    sample_weight, initial_epoch, steps_per_epoch, validation_steps, validation_freq, queue,
):  # fmt: skip
    batch_size = model._validate_or_infer_batch_size(batch_size, steps_per_epoch, x)
    batch_size, steps_per_epoch = distribution.batches_of(
        x, batch_size, steps_per_epoch, modes.TRAIN, validation_split
    )
    source, validated = _sources_of_fit(
        model, x, y, batch_size, epochs, validation_split, validation_data, shuffle, class_weight, sample_weight,
        steps_per_epoch, validation_steps, queue,
    )  # fmt: skip
    training = _Run(model, modes.TRAIN, source, steps_per_epoch, epochs)
    validation = None
    if validated is not None:
        if dataset_feeds.is_dataset(validation_data):
            validation_steps = dataset_feeds.steps_of(validation_data, validation_steps, "validation_steps")
        validation = _Run(model, modes.TEST, validated, validation_steps)
    if verbose:
        _announce(training, validation)
    training.prepare(callbacks, verbose, batch_size, source.samples or training.steps, validation is not None)
    try:
        for epoch in range(initial_epoch, epochs):
            if training.callbacks.model.stop_training:
                break
            _run_epoch(model, training, validation, epoch, validation_freq, batch_size)
        training.callbacks.call_end_hook(modes.TRAIN)
    finally:
        source.end()
        if validated is not None:
            validated.end()
    return model.history


def _run_epoch(model, training, validation, epoch, validation_freq, batch_size):
    callbacks, progress = training.callbacks, training.progress
    logs: dict = {}
    callbacks.on_epoch_begin(epoch, logs)
    progress.on_epoch_begin(epoch, logs)
    model.reset_metrics()
    make_logs(model, logs, training.epoch(), modes.TRAIN)
    if validation is not None and data.is_validated(validation_freq, epoch) and not model.stop_training:
        validation._iterator = None
        validation.source.begin_again()
        make_logs(model, logs, validation.once(callbacks, 0, batch_size, epoch), modes.TEST, prefix="val_")
    callbacks.on_epoch_end(epoch, logs)
    progress.on_epoch_end(epoch, logs)


def _asked(model, mode, x, y, batch_size, verbose, sample_weight, steps, callbacks, queue):
    batch_size = model._validate_or_infer_batch_size(batch_size, steps, x)
    batch_size, steps = distribution.batches_of(x, batch_size, steps, mode)
    source = _source_of(model, x, y, sample_weight, None, batch_size, steps, "steps", queue)
    if dataset_feeds.is_dataset(x):
        steps = dataset_feeds.steps_of(x, steps, "steps")
    try:
        results = _Run(model, mode, source, steps).once(callbacks, verbose, batch_size)
    finally:
        source.end()
    return results[0] if len(results) == 1 else results


@eager_version_of(runs.evaluate)
def _evaluate(model, x, y, batch_size, verbose, sample_weight, steps, callbacks, queue):
    return _asked(model, modes.TEST, x, y, batch_size, verbose, sample_weight, steps, callbacks, queue)


@eager_version_of(runs.predict)
def _predict(model, x, batch_size, verbose, steps, callbacks, queue):
    return _asked(model, modes.PREDICT, x, None, batch_size, verbose, None, steps, callbacks, queue)

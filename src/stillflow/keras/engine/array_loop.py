"""The loop over batches of arrays, or over steps of tensors."""

from __future__ import annotations

import numpy as np

from stillflow import errors
from stillflow.graph import nest
from stillflow.keras.backend.phases import symbolic_learning_phase
from stillflow.keras.callbacks.running import configure, make_logs, progress_bar
from stillflow.keras.engine import data, dataset_feeds, modes
from stillflow.keras.engine.aggregators import Means, Outputs
from stillflow.platform import logging


class Feed:
    """What is fed at each step: arrays, of which batches are taken, or tensors, which make their own.

    Args:
      values: a list.
      iterator: the iterator of a dataset that the tensors are of, or None.
      count: the number of samples, or of steps; None for steps until the data end.
      uses_steps: whether it is that of steps.

    Attributes:
      is_whole: whether each epoch is a pass over a whole dataset.
    """

    is_whole = False

    def __init__(self, values, count, uses_steps, iterator=None):
        self.values = values
        self.count = count
        self.uses_steps = uses_steps
        self.iterator = iterator

    def begin_again(self):
        """Begins a dataset anew."""
        dataset_feeds.begin_again(self.iterator)


def feed_of(model, inputs, targets, sample_weights, mode, steps):
    """A Feed of what `Model._standardize_user_data` returned."""
    if isinstance(inputs, dict):
        inputs = [inputs[name] for name in model._feed_input_names]
    values = [
        *(data.as_numpy(nest.flatten(inputs)) or []), *(data.as_numpy(targets) or []),
        *(data.as_numpy(sample_weights) or []),
    ]  # fmt: skip
    count = steps or data.sample_count(values)
    if mode == modes.TRAIN and not isinstance(symbolic_learning_phase(), int):
        values.append(True)
    return Feed(values, count, bool(steps) or count is None)


def dataset_feed(model, dataset, mode, steps, steps_name):
    """A Feed of a dataset."""
    if not model.inputs:  # its variables come before the steps and the iterator, whose nodes would shift op seeds
        x, y, weights = dataset_feeds.parts(dataset_feeds.iterator_of(dataset))
        model._standardize_user_data(x, None if mode == modes.PREDICT else y, weights, makes_placeholders=True)
    count = dataset_feeds.steps_of(dataset, steps, steps_name)
    iterator = dataset_feeds.iterator_of(dataset)
    x, y, weights = dataset_feeds.parts(iterator)
    if mode == modes.PREDICT:
        y = weights = None
    inputs, targets, weights = model._standardize_user_data(x, y, sample_weight=weights, makes_placeholders=True)
    feed = feed_of(model, inputs, targets, weights, mode, count)
    feed.uses_steps, feed.count, feed.iterator, feed.is_whole = True, count, iterator, steps is None
    return feed


class Loop:
    """A run of a model over its data, once or for several epochs.

    Args:
      model: the model.
      mode: one of `modes`.
      feed: a Feed.
      batch_size: the size of batches.
      steps_name: what the number of steps is called, for messages.
    """

    def __init__(self, model, mode, feed, batch_size, steps_name="steps"):
        self.model = model
        self.mode = mode
        self.feed = feed
        self.batch_size = batch_size
        self.steps_name = steps_name
        if mode != modes.PREDICT:
            count = len(model._feed_inputs) + len(model._feed_targets)
            weights = feed.values[count:]
            if mode == modes.TRAIN and not isinstance(symbolic_learning_phase(), int):
                weights = weights[:-1]
            model._update_sample_weight_modes(sample_weights=weights)
        self.function = model._make_execution_function(mode)
        tensors = model._feed_inputs + ([] if mode == modes.PREDICT else model._feed_targets)
        self._expected = tensors
        self._sparse = [i for i, each in enumerate(feed.values) if hasattr(each, "tocoo")]

    def prepare(self, callbacks, epochs=1, verbose=0, do_validation=False):
        """Makes the callbacks ready."""
        self.epochs = epochs
        feed = self.feed
        self.callbacks = configure(
            callbacks, self.model, do_validation=do_validation, batch_size=self.batch_size, epochs=epochs,
            steps_per_epoch=feed.count if feed.uses_steps else None, samples=feed.count, mode=self.mode,
        )  # fmt: skip
        self.progress = progress_bar(self.model, "steps" if feed.uses_steps else "samples")
        self.progress.params = dict(self.callbacks.params, verbose=verbose)

    def begin(self):
        self.callbacks.model.stop_training = False
        self.callbacks.call_begin_hook(self.mode)
        self.progress.on_train_begin()

    def run_epoch(self, shuffle=False):
        """Runs over all data once, and returns what `aggregators` make of the outputs."""
        kind = Outputs if self.mode == modes.PREDICT else Means
        self.aggregator = kind(self.feed.uses_steps, self.feed.count)
        (self._run_steps if self.feed.uses_steps else self._run_batches)(shuffle)
        self.aggregator.finalize()
        return self.aggregator.results

    def _run_batches(self, shuffle):
        indices = np.arange(self.feed.count)
        if shuffle == "batch":
            indices = data.shuffled_in_batches(indices, self.batch_size)
        elif shuffle:
            np.random.shuffle(indices)
        spans = data.batches(self.feed.count, self.batch_size)
        values, phase = self.feed.values, []
        if values and isinstance(values[-1], int):
            values, phase = values[:-1], values[-1:]
        for number, (start, stop) in enumerate(spans):
            if len(spans) == 1:
                batch = values
            elif not shuffle:
                batch = data.slices(values, start, stop)
            else:
                try:
                    batch = data.slices(values, indices[start:stop])
                except TypeError:
                    raise TypeError(
                        'TypeError while preparing batch. If using HDF5 input data, pass shuffle="batch".'
                    ) from None
            if self._run_one(number, stop - start, self._without_scipy(batch) + phase, start, stop):
                break

    def _run_one(self, number, size, values, start=None, stop=None):
        """Runs one batch. True if the training is to stop."""
        callbacks, progress = self.callbacks, self.progress
        logs = {"batch": number, "size": size}
        callbacks.call_batch_hook(self.mode, "begin", number, logs)
        progress.on_batch_begin(number, logs)
        outputs = self.function(values)
        if not isinstance(outputs, list):
            outputs = [outputs]
        if number == 0:
            self.aggregator.create(outputs)
        self.aggregator.aggregate(outputs, start, stop)
        logs = make_logs(self.model, logs, outputs, self.mode)
        callbacks.call_batch_hook(self.mode, "end", number, logs)
        progress.on_batch_end(number, logs)
        return callbacks.model.stop_training

    def _without_scipy(self, values):
        if not self._sparse:
            return values
        return [
            data.as_dense(each, self._expected[i]) if i in self._sparse else each for i, each in enumerate(values)
        ]

    def _run_steps(self, shuffle):
        values = self._without_scipy(self.feed.values)
        step = 0
        while self.feed.count is None or step < self.feed.count:
            try:
                if self._run_one(step, 1, values):
                    break
            except errors.OutOfRangeError:
                self._end_of_data(step)
                break
            step += 1

    def _end_of_data(self, step):
        if self.feed.count is None:
            if step > 0:
                self.feed.count = self.aggregator.count = step
                if self.mode == modes.TRAIN:
                    self.progress.params["steps"] = self.progress.progbar.target = step
            return
        self.callbacks.model.stop_training = True
        logging.warning(
            "Your dataset ran out of data; interrupting training. Make sure that your dataset can generate at least "
            f"`{self.steps_name} * epochs` batches (in this case, {self.feed.count * self.epochs} batches). You may "
            "need to use the repeat() function when building your dataset."
        )

    def end(self):
        self.callbacks.call_end_hook(self.mode)


def fit(
    model, feed, batch_size, epochs, verbose, callbacks, validation, shuffle, initial_epoch, validation_freq=1,
    steps_name="steps_per_epoch",
):  # fmt: skip
    """Trains a model, and returns its History. `validation` is a Feed, or None."""
    loop = Loop(model, modes.TRAIN, feed, batch_size, steps_name)
    if verbose:
        increment = "steps" if feed.iterator is not None else "samples"
        text = f"Train on {feed.count} {increment}"
        print(text + (f", validate on {validation.count} {increment}" if validation and validation.count else ""))
    loop.prepare(callbacks, epochs, verbose, validation is not None)
    loop.begin()
    for epoch in range(initial_epoch, epochs):
        if loop.callbacks.model.stop_training:
            break
        logs: dict = {}
        model.reset_metrics()
        loop.callbacks.on_epoch_begin(epoch, logs)
        loop.progress.on_epoch_begin(epoch, logs)
        if feed.is_whole and epoch > initial_epoch:
            feed.begin_again()
        make_logs(model, logs, loop.run_epoch(shuffle), modes.TRAIN)
        if validation and data.is_validated(validation_freq, epoch) and not loop.callbacks.model.stop_training:
            # Shuffled, which changes nothing but what numpy draws next: so does Keras.
            results = _run_once(
                model, modes.TEST, validation, batch_size, loop.callbacks, 0, True, "validation_steps"
            )
            make_logs(model, logs, results, modes.TEST, prefix="val_")
            if validation.iterator is not None and epoch < epochs - 1:
                validation.begin_again()
        loop.callbacks.on_epoch_end(epoch, logs)
        loop.progress.on_epoch_end(epoch, logs)
    loop.end()
    return model.history


def _run_once(model, mode, feed, batch_size, callbacks, verbose, shuffle=False, steps_name="steps"):
    loop = Loop(model, mode, feed, batch_size, steps_name)
    loop.prepare(callbacks, 1, verbose)
    loop.begin()
    model.reset_metrics()
    logs: dict = {}
    loop.progress.on_epoch_begin(0, logs)
    results = loop.run_epoch(shuffle)
    make_logs(model, logs, results, mode)
    loop.progress.on_epoch_end(0, logs)
    loop.end()
    return results


def run_once(model, mode, feed, batch_size, callbacks, verbose):
    """Tests a model, or asks it for predictions: a list of results, or the only one."""
    results = _run_once(model, mode, feed, batch_size, callbacks, verbose)
    return results[0] if len(results) == 1 else results

"""The loop over batches that come one by one: of generators, of Sequences, and of datasets in eager execution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stillflow import errors
from stillflow.graph import nest
from stillflow.keras.callbacks.running import configure, make_logs, name_results, progress_bar
from stillflow.keras.engine import data, dataset_feeds, modes, sequences
from stillflow.keras.engine.aggregators import Means, Outputs
from stillflow.names import public
from stillflow.platform import logging


def check_arguments(y=None, sample_weight=None, validation_split=None):
    """Raises ValueError for arguments of `fit` that do not go with batches that bring everything."""
    if y is not None:
        raise ValueError(
            "`y` argument is not supported when data isa generator or Sequence instance. Instead pass targets as the "
            "second element of the generator."
        )
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight` argument is not supported when data isa generator or Sequence instance. Instead pass "
            "sample weights as the third element of the generator."
        )
    if validation_split:
        raise ValueError("If your data is in the form of a Python generator, you cannot use `validation_split`.")


def _without_nones(arrays):
    return tuple(each for each in arrays if not all(part is None for part in nest.flatten(each)))


def _batches_of_arrays(arrays, batch_size, epochs, shuffle):
    """An iterator of the batches of so many epochs of (inputs, targets, weights)."""
    flat = nest.flatten(arrays)
    count = int(flat[0].shape[0])
    indices = np.arange(count)
    for _ in range(epochs):
        if shuffle:
            np.random.shuffle(indices)
        for first, last in data.batches(count, batch_size):
            rows = indices[first:last] if shuffle else np.arange(first, last)
            yield nest.pack_sequence_as(arrays, data.slices(data.as_numpy(flat), rows))


@public("python.keras.engine.training_generator.convert_to_generator_like")
def batches_of(source, batch_size=None, steps_per_epoch=None, epochs=1, shuffle=False):
    """(what yields batches, the number of batches of an epoch or None).

    Args:
      source: a generator, a Sequence, a dataset or an iterator, or a tuple of arrays: inputs, targets and weights, of
        which the last may be None.
      batch_size: the size of batches of arrays.
      steps_per_epoch: the number of batches where it is known.
      epochs, shuffle: of arrays, how many epochs there are, and whether rows come in another order in each.

    Raises:
      ValueError: if arrays come without a size of batches.
    """
    if isinstance(source, (tuple, list)):
        source = _without_nones(source)
    if dataset_feeds.is_dataset(source):
        return iter(source), steps_per_epoch
    if sequences.makes_batches(source) or dataset_feeds.is_iterator(source):
        if isinstance(source, sequences.Sequence) and steps_per_epoch is None:
            steps_per_epoch = len(source)
        return source, steps_per_epoch
    if batch_size is None:
        raise ValueError(
            "When passing input data as arrays, do not specify `steps_per_epoch`/`steps` argument. Please use "
            "`batch_size` instead."
        )
    count = int(nest.flatten(source)[0].shape[0])
    return _batches_of_arrays(source, batch_size, epochs, shuffle), math.ceil(count / batch_size)


class _Source:
    """Where batches come from.

    Args:
      source: a generator, a Sequence, a dataset, or a tuple of inputs, targets and weights.
      steps: the number of batches in an epoch, or None.
      batch_size: the size of batches of arrays.
      epochs: how many epochs there will be.
      queue: the arguments of `sequences.queued`.
      steps_name: what the number of steps is called, for messages.
    """

    def __init__(self, source, steps, batch_size, epochs, queue, steps_name):
        self._dataset: Any = source if dataset_feeds.is_dataset(source) else None
        self._begins_again = self._dataset is not None and steps is None
        self.steps = steps
        self.steps_name = steps_name
        self.enqueuer = None
        self.samples = None
        if self._dataset is not None:
            self.steps = dataset_feeds.steps_of(self._dataset, steps, steps_name)
            self._iterator = iter(source)
            return
        if isinstance(source, (tuple, list)):
            first = nest.flatten(source)[0]
            self.samples = int(first.shape[0]) if hasattr(first, "shape") else None
        source, self.steps = batches_of(source, batch_size, steps, epochs, queue["shuffle"])
        if self.steps is None:
            name = "steps_per_epoch" if steps_name == "steps_per_epoch" else "steps"
            raise ValueError(f"Please specify the number of steps via the `{name}` argument.")
        self._iterator, self.enqueuer = sequences.queued(source, **queue)

    def next(self):
        """The next batch, a tuple of one to three; None at the end."""
        try:
            batch = next(self._iterator)
        except (StopIteration, errors.OutOfRangeError):
            return None
        if not isinstance(batch, tuple):
            batch = (batch,)
        if not 1 <= len(batch) <= 3:
            raise ValueError(
                "Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or (input, target) or "
                f"(input, target, sample_weights). Received {batch}"
            )
        return batch

    def end_of_data(self, step, epochs, loop):
        """What it means that there are no more batches."""
        if self.steps is None:
            if step > 0:
                self.steps = loop.aggregator.count = step
                if loop.mode == modes.TRAIN:
                    loop.progress.params["steps"] = loop.progress.progbar.target = step
            return
        loop.callbacks.model.stop_training = True
        kind = ("dataset", " ") if self._dataset is not None else ("dataset iterator", "")
        what = "dataset" if self._dataset is not None else "iterator"
        logging.warning(
            f"Your {kind[0]} ran out of data; interrupting training. Make sure that your {what} can generate at "
            f"least `{self.steps_name} * epochs` batches (in this case, {self.steps * epochs} batches). You may need "
            f"to{kind[1]}use the repeat() function when building your dataset."
        )

    def begin_again(self):
        if self._begins_again:
            self._iterator = iter(self._dataset)

    def end(self):
        if self.enqueuer is not None:
            self.enqueuer.stop()


class _Loop:
    """A run of a model over batches. See `run`."""

    callbacks: Any
    progress: Any
    aggregator: Any
    batch_size: int | None = None

    def __init__(self, model, mode, source, class_weight):
        self.model = model
        self.mode = mode
        self.source = source
        self._class_weight = class_weight

    def _outcome(self, batch):
        if self.mode == modes.PREDICT:
            outcome = self.model.predict_on_batch(batch[0])
        elif self.mode == modes.TRAIN:
            outcome = self.model.train_on_batch(*batch, class_weight=self._class_weight, reset_metrics=False)
        else:
            outcome = self.model.test_on_batch(*batch, reset_metrics=False)
        return outcome if isinstance(outcome, list) else [outcome]

    def prepare(self, callbacks, epochs, batch_size, do_validation, verbose):
        """Makes the callbacks ready."""
        self.callbacks = configure(
            callbacks, self.model, do_validation=do_validation, epochs=epochs, steps_per_epoch=self.source.steps,
            batch_size=batch_size, samples=self.source.samples or self.source.steps, mode=self.mode,
        )  # fmt: skip
        self.progress = progress_bar(self.model, "steps" if self.source.samples is None else "samples")
        self.progress.params = dict(self.callbacks.params, verbose=verbose)

    def run_epoch(self, epochs):
        """Runs over the batches of an epoch, and returns what `aggregators` make of the outputs."""
        source, callbacks, progress = self.source, self.callbacks, self.progress
        kind = Outputs if self.mode == modes.PREDICT else Means
        self.aggregator = kind(True, source.steps)
        step = 0
        while source.steps is None or step < source.steps:
            batch = source.next()
            if batch is None:
                source.end_of_data(step, epochs, self)
                break
            self.batch_size = int(nest.flatten(batch)[0].shape[0])
            logs = {"batch": step, "size": self.batch_size}
            callbacks.call_batch_hook(self.mode, "begin", step, logs)
            progress.on_batch_begin(step, logs)
            was_compiled = self.model._is_compiled
            outcome = self._outcome(batch)
            if step == 0:
                self.aggregator.create(outcome)
                if not was_compiled and self.mode != modes.PREDICT:
                    name_results(callbacks, progress, self.model)
            self.aggregator.aggregate(outcome)
            logs = make_logs(self.model, logs, outcome, self.mode)
            callbacks.call_batch_hook(self.mode, "end", step, logs)
            progress.on_batch_end(step, logs)
            step += 1
            if callbacks.model.stop_training:
                break
        self.aggregator.finalize()
        return self.aggregator.results


def run(
    model, batches, mode=modes.TRAIN, steps=None, epochs=1, verbose=1, callbacks=None, validation_data=None,
    validation_steps=None, validation_freq=1, class_weight=None, max_queue_size=10, workers=1,
    use_multiprocessing=False, shuffle=False, initial_epoch=0, batch_size=None, steps_name="steps",
):  # fmt: skip
    """Trains or tests a model, or asks it for predictions, batch by batch.

    Args:
      batches: a generator, a Sequence, a dataset, or a tuple of inputs, targets and weights.
      mode: one of `modes`.
      others: as for `Model.fit`.

    Returns:
      A History, or the results.

    Raises:
      ValueError: where the number of steps is needed and not known, and for batches that are none.
    """
    if not isinstance(batches, sequences.Sequence) and use_multiprocessing and workers > 1:
        logging.warning(
            "Using a generator with `use_multiprocessing=True` and multiple workers may duplicate your data. Please "
            "consider using the `keras.utils.Sequence` class."
        )
    is_generator = sequences.makes_batches(validation_data) and not isinstance(validation_data, sequences.Sequence)
    if is_generator and not validation_steps:
        raise ValueError("Please specify the `validation_steps` argument.")
    queue = {
        "workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size,
        "shuffle": shuffle,
    }  # fmt: skip
    source = _Source(batches, steps, batch_size, epochs - initial_epoch, queue, steps_name)
    loop = _Loop(model, mode, source, class_weight)
    loop.prepare(callbacks, epochs, batch_size, validation_data is not None, verbose)

    def validate():
        results = run(
            model, validation_data, modes.TEST, validation_steps, verbose=verbose, callbacks=loop.callbacks,
            workers=workers, use_multiprocessing=use_multiprocessing, max_queue_size=max_queue_size,
            batch_size=loop.batch_size, steps_name="validation_steps",
        )  # fmt: skip
        return results if isinstance(results, list) else [results]

    try:
        results = _epochs(
            loop, initial_epoch, epochs, validate if validation_data is not None else None, validation_freq
        )
    finally:
        source.end()
    return model.history if mode == modes.TRAIN else results


def _epochs(loop, initial_epoch, epochs, validate, validation_freq):
    """Runs the epochs, and returns the results of the last one."""
    model, mode, callbacks, progress = loop.model, loop.mode, loop.callbacks, loop.progress
    callbacks.model.stop_training = False
    callbacks.call_begin_hook(mode)
    progress.on_train_begin()
    results: list = []
    for epoch in range(initial_epoch, epochs):
        if callbacks.model.stop_training:
            break
        model.reset_metrics()
        logs: dict = {}
        if mode == modes.TRAIN:
            callbacks.on_epoch_begin(epoch, logs)
        progress.on_epoch_begin(epoch, logs)
        results = loop.run_epoch(epochs)
        logs = make_logs(model, logs, results, mode)
        if validate and data.is_validated(validation_freq, epoch) and not callbacks.model.stop_training:
            logs = make_logs(model, logs, validate(), mode, prefix="val_")
        if mode == modes.TRAIN:
            callbacks.on_epoch_end(epoch, logs)
        progress.on_epoch_end(epoch, logs)
        if epoch < epochs - 1:
            loop.source.begin_again()
    callbacks.call_end_hook(mode)
    return results[0] if len(results) == 1 else results

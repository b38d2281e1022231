"""The methods of models that are for generators alone; `fit`, `evaluate` and `predict` take generators too."""

from __future__ import annotations

from typing import Any

from stillflow.keras.engine import batch_loop, modes


class GeneratorMethods:
    """A model that takes its batches from generators."""

    _check_call_args: Any

    def fit_generator(
        self, generator, steps_per_epoch=None, epochs=1, verbose=1, callbacks=None, validation_data=None,
        validation_steps=None, validation_freq=1, class_weight=None, max_queue_size=10, workers=1,
        use_multiprocessing=False, shuffle=True, initial_epoch=0,
    ):  # fmt: skip
        """Trains the model with the batches of a generator, or a Sequence.

        Args:
          generator: yields (inputs, targets) or (inputs, targets, weights), without an end.
          steps_per_epoch: the number of batches in an epoch; that of a Sequence is its length.
          validation_data: a generator, a Sequence, or arrays as for `fit`.
          validation_steps: the number of batches in a validation by a generator.
          max_queue_size: how many batches are made ahead of their use.
          workers: how many threads, or processes, make batches; with 0 the caller's thread does.
          use_multiprocessing: whether they are processes.
          shuffle: whether the batches of a Sequence come in another order in each epoch.
          epochs, verbose, callbacks, validation_freq, class_weight, initial_epoch: as for `fit`.

        Returns:
          A History.

        Raises:
          ValueError: for batches that are none, and if the number of steps is needed.
        """
        self._check_call_args("fit_generator")
        return batch_loop.run(
            self, generator, modes.TRAIN, steps_per_epoch, epochs, verbose, callbacks, validation_data,
            validation_steps, validation_freq, class_weight, max_queue_size, workers, use_multiprocessing, shuffle,
            initial_epoch, steps_name="steps_per_epoch",
        )  # fmt: skip

    def evaluate_generator(
        self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1, use_multiprocessing=False,
        verbose=0,
    ):  # fmt: skip
        """The loss and the metrics of the batches of a generator; see `fit_generator` and `evaluate`."""
        self._check_call_args("evaluate_generator")
        return batch_loop.run(
            self, generator, modes.TEST, steps, verbose=verbose, callbacks=callbacks, max_queue_size=max_queue_size,
            workers=workers, use_multiprocessing=use_multiprocessing,
        )  # fmt: skip

    def predict_generator(
        self, generator, steps=None, callbacks=None, max_queue_size=10, workers=1, use_multiprocessing=False,
        verbose=0,
    ):  # fmt: skip
        """The outputs for the batches of a generator; see `fit_generator` and `predict`."""
        return batch_loop.run(
            self, generator, modes.PREDICT, steps, verbose=verbose, callbacks=callbacks,
            max_queue_size=max_queue_size, workers=workers, use_multiprocessing=use_multiprocessing,
        )  # fmt: skip

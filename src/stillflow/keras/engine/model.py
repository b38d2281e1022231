"""Model: a network that can be trained, tested and asked for predictions."""

from __future__ import annotations

import json
from typing import Any

from stillflow.graph import nest
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.values import int_shape, is_placeholder
from stillflow.keras.engine import data, dataset_feeds, eager_runs, runs, sequences  # noqa: F401
from stillflow.keras.engine.compiled import Compiled
from stillflow.keras.engine.endpoints import set_sample_weight_modes
from stillflow.keras.engine.generator_methods import GeneratorMethods
from stillflow.keras.engine.shapes import static_batch_size
from stillflow.keras.engine.summary import print_summary
from stillflow.keras.engine.symbolic_inputs import ModelInputs, check_inputs, like
from stillflow.keras.engine.training_config import model_metadata
from stillflow.layers.core.attributes import untracked
from stillflow.layers.core.saved import plain_json
from stillflow.names import namespace, public
from stillflow.platform import logging
from stillflow.platform.argument_specs import getfullargspec


@public("keras.Model", "keras.models.Model")
class Model(GeneratorMethods, Compiled):
    """Layers that are connected, and trained together.

    Made of tensors, `Model(inputs, outputs)`, or a subclass that has `call`, and layers among its attributes.

    Args:
      inputs, outputs: tensors that layers have made, beginning with tf.keras.Input; or structures of them.
      name: the name.
    """

    optimizer: Any

    # ---- Training -------------------------------------------------------------------------------------------

    def fit(
        self, x=None, y=None, batch_size=None, epochs=1, verbose=1, callbacks=None, validation_split=0.0,
        validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0,
        steps_per_epoch=None, validation_steps=None, validation_freq=1, max_queue_size=10, workers=1,
        use_multiprocessing=False, **kwargs,
    ):  # fmt: skip
        """Trains the model.

        Args:
          x: inputs: an array, a list of arrays, or a dictionary by name.
          y: true values of the outputs, likewise.
          batch_size: the size of batches; 32 by default.
          epochs: the number of epochs, with those before `initial_epoch`.
          verbose: 0 for no output, 1 for a bar, 2 for a line per epoch.
          callbacks: a list of tf.keras.callbacks.Callback.
          validation_split: the share of the data, at their end, that is for validation.
          validation_data: (x, y) or (x, y, weights) for validation after each epoch.
          shuffle: whether samples come in another order in each epoch; "batch" for batches as wholes.
          class_weight: {class: weight} of samples.
          sample_weight: weights of samples: an array, or for several outputs a list or a dictionary.
          initial_epoch: the number of the first epoch.
          steps_per_epoch, validation_steps: how many batches there are, where the data do not say it.
          validation_freq: after how many epochs there is a validation, or a list of the epochs.
          max_queue_size, workers, use_multiprocessing: of generators.

        Returns:
          A History: `history.history` is {name: [result of each epoch]}.

        Raises:
          RuntimeError: if the model is not compiled.
          ValueError, TypeError: for data that do not fit.
        """
        if "nb_epoch" in kwargs:
            logging.warning("The `nb_epoch` argument in `fit` has been renamed `epochs`.")
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError("Unrecognized keyword arguments: " + str(kwargs))
        self._assert_compile_was_called()
        self._check_call_args("fit")
        dataset_feeds.refuse_iterators(x)
        queue = {"max_queue_size": max_queue_size, "workers": workers, "use_multiprocessing": use_multiprocessing}
        return runs.fit(
            self, x, y, batch_size=batch_size, epochs=epochs, verbose=verbose, callbacks=callbacks,
            validation_split=validation_split, validation_data=validation_data, shuffle=shuffle,
            class_weight=class_weight, sample_weight=sample_weight, initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch, validation_steps=validation_steps, validation_freq=validation_freq,
            queue=queue,
        )  # fmt: skip

    def evaluate(
        self, x=None, y=None, batch_size=None, verbose=1, sample_weight=None, steps=None, callbacks=None,
        max_queue_size=10, workers=1, use_multiprocessing=False,
    ):  # fmt: skip
        """The loss and the metrics of data: a number, or a list as `metrics_names` say; see `fit`."""
        self._assert_compile_was_called()
        self._check_call_args("evaluate")
        dataset_feeds.refuse_iterators(x)
        queue = {"max_queue_size": max_queue_size, "workers": workers, "use_multiprocessing": use_multiprocessing}
        return runs.evaluate(
            self, x, y, batch_size=batch_size, verbose=verbose, sample_weight=sample_weight, steps=steps,
            callbacks=callbacks, queue=queue,
        )  # fmt: skip

    def predict(
        self, x, batch_size=None, verbose=0, steps=None, callbacks=None, max_queue_size=10, workers=1,
        use_multiprocessing=False,
    ):  # fmt: skip
        """The outputs for inputs: an array, or a list; see `fit`."""
        self._check_call_args("predict")
        dataset_feeds.refuse_iterators(x)
        queue = {"max_queue_size": max_queue_size, "workers": workers, "use_multiprocessing": use_multiprocessing}
        return runs.predict(
            self, x, batch_size=batch_size, verbose=verbose, steps=steps, callbacks=callbacks, queue=queue
        )

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, reset_metrics=True):
        """Trains with one batch; returns the loss, or a list of it and the metrics.

        Args:
          x, y, sample_weight, class_weight: as for `fit`.
          reset_metrics: whether the metrics are of this batch alone.
        """
        self._assert_compile_was_called()
        self._check_call_args("train_on_batch")
        return runs.train_on_batch(self, x, y, sample_weight, class_weight, reset_metrics)

    def test_on_batch(self, x, y=None, sample_weight=None, reset_metrics=True):
        """The loss of one batch, or a list of it and the metrics; see `train_on_batch`."""
        self._assert_compile_was_called()
        self._check_call_args("test_on_batch")
        return runs.test_on_batch(self, x, y, sample_weight, reset_metrics)

    def predict_on_batch(self, x):
        """The outputs for one batch."""
        self._check_call_args("predict_on_batch")
        return runs.predict_on_batch(self, x)

    def _assert_compile_was_called(self):
        if not self.optimizer:
            raise RuntimeError(
                "You must compile your model before training/testing. Use `model.compile(optimizer, loss)`."
            )

    def _check_call_args(self, method_name):
        """Raises ValueError if `call` needs more than inputs."""
        spec = getfullargspec(self.call)
        needed = spec.args[: len(spec.args) - len(spec.defaults or ())]
        extra = [name for name in needed if name != "training"][2:]
        if extra:
            raise ValueError(
                f"Models passed to `{method_name}` can only have `training` and the first argument in `call` as "
                f"positional arguments, found: {extra}."
            )

    # ---- Data -----------------------------------------------------------------------------------------------

    def _validate_or_infer_batch_size(self, batch_size, steps, x):
        """The size of batches, None for data that come in batches. Raises ValueError for one that cannot be."""
        if dataset_feeds.is_dataset(x) or sequences.makes_batches(x):
            if batch_size is not None:
                raise ValueError(
                    "The `batch_size` argument must not be specified for the given input type. Received input: "
                    f"{x}, batch_size: {batch_size}"
                )
            return None
        layers = self._inner_layers()
        static = static_batch_size(layers[0]) if layers else None
        if static is not None:
            if batch_size is not None and batch_size != static:
                raise ValueError(
                    f"The `batch_size` argument value {batch_size} is incompatible with the specified batch size of "
                    f"your Input Layer: {static}"
                )
            if steps is None:
                batch_size = static
        return 32 if batch_size is None and steps is None else batch_size

    def _standardize_user_data(
        self, x, y=None, sample_weight=None, class_weight=None, batch_size=None, check_steps=False,
        steps_name="steps", steps=None, validation_split=0, makes_placeholders=False,
    ):  # fmt: skip
        """(inputs, targets, weights) as lists of arrays, or of tensors of a dataset; weights may be None.

        A model that has not been called yet is called with placeholders like the data, and compiled.
        """
        given = x
        if dataset_feeds.is_dataset(x) or dataset_feeds.is_iterator(x):
            dataset_feeds.check_arguments(x, y, sample_weight, validation_split)
            iterator = x if dataset_feeds.is_iterator(x) else dataset_feeds.iterator_of(x)
            x, y, sample_weight = dataset_feeds.parts(iterator)
            makes_placeholders = True
        if check_steps:
            data.counts_steps(x, steps, steps_name)
        if not self.inputs:
            check_inputs(x, given)
            self._set_inputs(nest.map_structure(like, x) if makes_placeholders else x)
        if not self._is_compiled and self.optimizer:
            self._compile_from_targets(None if makes_placeholders else y)
        shapes = self._feed_input_shapes if self._is_graph_network else None
        x = data.standardize(x, self._feed_input_names, shapes, checks_batch=False, prefix="input")
        data.check_kinds(x, self.inputs)
        targets: list = []
        weights = None
        if y is not None:
            set_sample_weight_modes(self._training_endpoints, self.sample_weight_mode)
            names = self._feed_output_names
            targets = data.standardize(y, names, checks_batch=False, prefix="target")
            weights = [
                data.weights_of_samples(*each)
                for each in zip(
                    targets, data.weights_of_outputs(sample_weight, names, "sample_weight"),
                    data.weights_of_outputs(class_weight, names, "class_weight"), self._sample_weight_modes,
                    strict=False,
                )
            ]  # fmt: skip
            data.check_lengths(x, targets, weights)
            if self._is_graph_network and not self.run_eagerly:
                data.check_targets(targets, self._feed_loss_fns, self._feed_output_shapes)
                targets = data.with_axis_of_classes(targets, self._feed_loss_fns, self._feed_output_shapes)
            has_mode = any(mode is not None for mode in self._sample_weight_modes)
            if not has_mode and all(weight is None for weight in weights):
                weights = None
        if self.stateful and batch_size and x[0].shape[0] % batch_size != 0:
            raise ValueError(
                "In a stateful network, you should only pass inputs with a number of samples that can be divided by "
                f"the batch size. Found: {x[0].shape[0]} samples"
            )
        return x, targets, weights

    def _compile_from_targets(self, target):
        targets = None
        if target is not None:
            listed = target if isinstance(target, (list, tuple)) else [target]
            targets = [each for each in listed if data.is_symbolic(each)] or None
        self.compile(
            optimizer=self.optimizer, loss=self.loss, metrics=self._compile_metrics,
            weighted_metrics=self._compile_weighted_metrics, loss_weights=self.loss_weights, target_tensors=targets,
            sample_weight_mode=self.sample_weight_mode, run_eagerly=self._run_eagerly,
        )  # fmt: skip

    def _called_with(self, inputs, outputs):
        if not self.inputs:
            self._set_inputs(inputs, outputs)

    def _set_inputs(self, inputs, outputs=None, training=None):
        """Says what the model's inputs and outputs are, for one that is not made of tensors."""
        inputs = self._set_input_attrs(inputs)
        if outputs is None:
            arguments = {}
            if self._expects("training"):
                training = runs.training_of_call() if training is None else training
                if training is not None:
                    arguments["training"] = training
            try:
                outputs = self(inputs, **arguments)
            except NotImplementedError:
                if not self.dynamic:
                    raise
        self._set_output_attrs(outputs)

    @untracked
    def _set_input_attrs(self, inputs):
        if self.inputs:
            raise ValueError("Model inputs are already set.")
        is_yet_to_be_built = type(self).__name__ == "Sequential" and not self.built
        if is_yet_to_be_built and isinstance(inputs, dict):
            if not getattr(self.layers[0], "_is_feature_layer", False):
                raise ValueError(
                    "Passing a dictionary input to a Sequential Model which doesn't have FeatureLayer as the first "
                    "layer is an error."
                )
        elif is_yet_to_be_built:
            first = nest.flatten(inputs)[0]
            sizes = first.shape.as_list() if isinstance(first.shape, TensorShape) else first.shape
            self._build_input_shape = (None, *sizes[1:])
        model_inputs = ModelInputs(inputs)
        inputs = model_inputs.get_symbolic_inputs()
        self.inputs = model_inputs.as_list()
        self.input_names = model_inputs.get_input_names()
        fed = [(name, value) for name, value in model_inputs.as_dict() if is_placeholder(value)]
        self._feed_input_names = [name for name, _ in fed]
        self._feed_inputs = [value for _, value in fed]
        self._feed_input_shapes = [int_shape(value) for _, value in fed]
        self._takes_dictionary = isinstance(inputs, dict)
        return inputs

    @untracked
    def _set_output_attrs(self, outputs):
        self.outputs = nest.flatten(outputs)
        self.output_names = [f"output_{index}" for index in range(1, len(self.outputs) + 1)]
        self.built = True

    # ---- Plain values ---------------------------------------------------------------------------------------

    def _updated_config(self):
        metadata = model_metadata(self, include_optimizer=False)
        return {**metadata.pop("model_config"), **metadata}

    def to_json(self, **kwargs):
        """What `tf.keras.models.model_from_json` makes a model like this of; `kwargs` are those of json.dumps."""
        return json.dumps(self._updated_config(), default=plain_json, **kwargs)

    def to_yaml(self, **kwargs):
        """What `tf.keras.models.model_from_yaml` makes a model like this of. Raises ImportError without PyYAML."""
        try:
            import yaml  # type: ignore[import-untyped]
        except ImportError:
            raise ImportError("Requires yaml module installed (`pip install pyyaml`).") from None
        return yaml.dump(self._updated_config(), **kwargs)

    def summary(self, line_length=None, positions=None, print_fn=None):
        """Prints a table of the layers.

        Args:
          line_length: the length of lines.
          positions: where columns end, as shares of a line.
          print_fn: a function that gets each line, instead of `print`.

        Raises:
          ValueError: if the variables have not been made yet.
        """
        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or calling `fit()` "
                "with "
                "some data, or specify an `input_shape` argument in the first layer(s) for automatic build."
            )
        print_summary(self, line_length=line_length, positions=positions, print_fn=print_fn)

    def save(self, filepath, overwrite=True, include_optimizer=True, save_format=None, signatures=None):
        """Writes the model to a file, or folder; see `tf.keras.models.save_model`."""
        save = namespace.find("keras.models.save_model")
        save(self, filepath, overwrite, include_optimizer, save_format, signatures)

    @property
    def _object_identifier(self):
        return "_tf_keras_model"

    def _metadata(self):
        return {**super()._metadata(), **model_metadata(self, require_config=False)}

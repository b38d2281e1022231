"""What `compile` makes of a model: targets, losses and metrics, and functions that run the graph."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.graph.default_graph import require_eager_execution
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.keras.backend.phases import get_graph, symbolic_learning_phase
from stillflow.keras.backend.running import function
from stillflow.keras.engine import distribution, modes
from stillflow.keras.engine.compiled_metrics import call_metric, metrics_of_outputs, weights_with_mask
from stillflow.keras.engine.endpoints import (
    Endpoint,
    loss_functions,
    set_loss_weights,
    set_sample_weight_modes,
)
from stillflow.keras.engine.network import Network
from stillflow.keras.losses.reductions import Reduction, compute_weighted_loss, reduce_weighted_loss
from stillflow.keras.metrics.means import Mean
from stillflow.keras.optimizers import lookup as optimizers
from stillflow.keras.optimizers.scaled import scaled_by_policy
from stillflow.layers.core.attributes import untracked
from stillflow.platform import logging
from stillflow.traced_functions.function import runs_eagerly
from stillflow.tracking.base import Trackable
from stillflow.variables.variable import Variable


class Compiled(Network):
    """A network that can be compiled."""

    _training_endpoints: list
    loss_functions: list
    optimizer: Any
    _run_eagerly: Any = None
    _distribution_strategy: Any = None

    @untracked
    def compile(
        self, optimizer="rmsprop", loss=None, metrics=None, loss_weights=None, sample_weight_mode=None,
        weighted_metrics=None, target_tensors=None, distribute=None, **kwargs,
    ):  # fmt: skip
        """Says how the model is trained.

        Args:
          optimizer: a name, or an optimizer of tf.keras or tf.train.
          loss: a name, a function or a tf.keras.losses.Loss; for several outputs a list or a dictionary.
          metrics: a list of names, functions and tf.keras.metrics.Metric; for several outputs also a list of lists,
            or a dictionary.
          loss_weights: what the losses of outputs count, a list or a dictionary.
          sample_weight_mode: "temporal" where weights are of steps in time; for several outputs also a list or a
            dictionary.
          weighted_metrics: metrics that the weights of samples count in.
          target_tensors: tensors of true values, in place of placeholders.
          distribute: not supported.
          kwargs: arguments of Session.run; `run_eagerly`, whether operations run one by one in eager execution.

        Raises:
          ValueError, TypeError: for arguments that do not fit the model.
        """
        self._run_eagerly = kwargs.pop("run_eagerly", None)
        runs_function = kwargs.pop("experimental_run_tf_function", True) and target_tensors is None
        self._set_optimizer(optimizer)
        if distribute is not None:
            raise ValueError(
                "Distribute argument in compile is not available in TF 2.0 please create the model under the "
                "distribution strategy scope."
            )
        self._distribution_strategy = distribution.strategy_of_compiling(self)
        if not (runs_function and sample_weight_mode is None and distribution.runs_functions()):
            distribution.check_arguments(self, sample_weight_mode, weighted_metrics, target_tensors)
        if isinstance(self.optimizer, Trackable):
            self._track_trackable(self.optimizer, name="optimizer", overwrite=True)
        self.loss = loss or {}
        self.loss_weights = loss_weights
        self.sample_weight_mode = sample_weight_mode
        self._compile_metrics = metrics or []
        self._compile_weighted_metrics = weighted_metrics
        if self.run_eagerly and target_tensors is not None:
            raise ValueError("target_tensors argument is not supported when running a model eagerly.")
        self._training_endpoints = []
        self._compiled_trainable_state = self._get_trainable_state()
        self._clear_losses()
        self._compile_metric_functions = []
        if not self.built or not self.inputs or not self.outputs:
            return  # it is compiled when it is first called with data
        self._is_compiled = True
        self.loss_functions = loss_functions(self.loss, self.output_names)
        self._training_endpoints += [
            Endpoint(*each) for each in zip(self.outputs, self.output_names, self.loss_functions, strict=True)
        ]
        self._function_kwargs = kwargs
        prepare_training(self, metrics, weighted_metrics, target_tensors)
        self._collected_trainable_weights = self._unique_trainable_weights
        distribution.check_variables(self)

    def _set_optimizer(self, optimizer):
        if isinstance(optimizer, (list, tuple)):
            self.optimizer = [optimizers.get(each) for each in optimizer]
        else:
            self.optimizer = optimizers.get(optimizer)
        self.optimizer = scaled_by_policy(self.optimizer, self._dtype_policy)

    @property
    def run_eagerly(self):
        """Whether operations run one by one, instead of in a graph. Raises ValueError if that cannot be."""
        if self._run_eagerly is True:
            require_eager_execution("You can only set `run_eagerly=True` if eager execution is enabled.", ValueError)
        if not self.dynamic:
            return runs_eagerly() if self._run_eagerly is None else bool(self._run_eagerly)
        explanation = (
            "Your model contains layers that can only be successfully run in eager execution (layers constructed "
            "with "
            "`dynamic=True`). "
        )
        require_eager_execution(
            f"{explanation}You must enable eager execution with `tf.enable_eager_execution()`.", ValueError
        )
        if self._run_eagerly is False:
            raise ValueError(f"{explanation}You cannot set `run_eagerly=False`.")
        return True

    @run_eagerly.setter
    def run_eagerly(self, value):
        self._run_eagerly = value

    def _listed_targets(self, target_tensors):
        """The tensors of true values of all outputs, None where there is none."""
        if self.run_eagerly or target_tensors is None or (isinstance(target_tensors, list) and not target_tensors):
            return [None] * len(self.output_names)
        if isinstance(target_tensors, list):
            if len(target_tensors) != len(self.outputs):
                raise ValueError(
                    "When passing a list as `target_tensors`, it should have one entry per model output. The model "
                    "has "
                    f"{len(self.outputs)} outputs, but you passed target_tensors={target_tensors}"
                )
            return target_tensors
        if isinstance(target_tensors, dict):
            unknown = set(target_tensors) - set(self.output_names)
            if unknown:
                raise ValueError(
                    f'Unknown entry in `target_tensors` dictionary: "{unknown}". Only expected the following keys: '
                    f"{self.output_names}"
                )
            return [target_tensors.get(name) for name in self.output_names]
        if isinstance(target_tensors, (Tensor, Variable)):
            return [target_tensors]
        raise TypeError(
            "Expected `target_tensors` to be a list or tuple or dict or a single tensor, but got:", target_tensors
        )

    # ---- Metrics --------------------------------------------------------------------------------------------

    @property
    def metrics(self):
        """A list of the metrics: those of `compile`, and those that were added."""
        of_compile = self._compile_metric_functions if self._is_compiled else []
        return [*of_compile, *self._metrics, *_metrics_of_layers(self._inner_layers())]

    @property
    def metrics_names(self):
        """A list of the names of what `train_on_batch` and `evaluate` return."""
        names = ["loss"]
        if self._is_compiled:
            if len(self._training_endpoints) > 1:
                names += [each.loss_name for each in self._training_endpoints if each.has_loss]
            names += [metric.name for metric in self._compile_metric_functions]
        for layer in self.layers:
            names += [metric.name for metric in layer._metrics]
        return names + [metric.name for metric in self._metrics]

    def _make_metrics(self, metrics, weighted_metrics):
        shapes = [
            None if each is None or each.shape.rank is None else each.shape.as_list() for each in self.outputs
        ]  # there is no tensor where a layer that is `dynamic` does not say its outputs' shape
        plain, weighted = (
            metrics_of_outputs(each, self.output_names, shapes, self.loss_functions, is_weighted)
            for each, is_weighted in ((metrics, False), (weighted_metrics, True))
        )
        for index, endpoint in enumerate(self._training_endpoints):
            if endpoint.has_loss:
                plain[index] = self._named_metrics(plain[index], index)
                weighted[index] = self._named_metrics(weighted[index], index)
        if len(self._training_endpoints) > 1:
            for endpoint in self._training_endpoints:
                if endpoint.has_loss:
                    endpoint.output_loss_metric = Mean(name=endpoint.loss_name)
        self._per_output_metrics, self._per_output_weighted_metrics = plain, weighted

    def _named_metrics(self, metrics, output_index):
        """The metrics of an output, under names that none has yet."""
        named = {}
        for name, metric in metrics.items():
            if len(self.output_names) > 1:
                name = f"{self.output_names[output_index]}_{name}"
            base, number = name, 1
            while name in self.metrics_names:
                name = f"{base}_{number}"
                number += 1
            metric._name = name
            named[name] = metric
            self._compile_metric_functions.append(metric)
        return named

    def _call_metrics(self, metrics, masks, weights=None):
        """Adds metrics of the outputs to the graph."""
        with name_scope("metrics"):
            for index, (endpoint, named) in enumerate(zip(self._training_endpoints, metrics, strict=True)):
                if not endpoint.has_loss:
                    continue
                for name, metric in named.items():
                    with name_scope(name):
                        weight = weights[index] if weights else None
                        call_metric(metric, endpoint.target, endpoint.output, weights=weight, mask=masks[index])

    def _get_training_eval_metrics(self):
        """All metrics, those of outputs' losses first."""
        of_losses = [
            endpoint.output_loss_metric
            for endpoint in getattr(self, "_training_endpoints", ())
            if endpoint.output_loss_metric is not None
        ]
        return [*of_losses, *self.metrics]

    def reset_metrics(self):
        """Begins to measure anew."""
        for metric in self._get_training_eval_metrics():
            metric.reset_states()

    # ---- Losses ---------------------------------------------------------------------------------------------

    def _output_masks(self):
        return [getattr(output, "_keras_mask", None) for output in self.outputs]

    def _update_sample_weight_modes(self, sample_weights=None):
        """Says that there are weights of samples, or none, from what is fed."""
        if not self._is_compiled:
            return
        are_given = any(weight is not None for weight in sample_weights or ())
        for endpoint in self._training_endpoints:
            endpoint.sample_weight_mode = (endpoint.sample_weight_mode or "samplewise") if are_given else None

    def _recompile_weights_loss_and_weighted_metrics(self):
        """Compiles anew what depends on weights of samples, if there are some now, or none any more."""
        if not self._is_compiled or not any(each.weights_mismatch() for each in self._training_endpoints):
            return False
        self._compile_weights_loss_and_weighted_metrics()
        return True

    @untracked
    def _compile_weights_loss_and_weighted_metrics(self, sample_weights=None):
        with get_graph().as_default():
            if sample_weights is not None:
                self._update_sample_weight_modes(sample_weights)
                if len(sample_weights) != len(self._training_endpoints):
                    raise ValueError(
                        "Provided sample weights must have same length as the number of outputs. Expected: "
                        f"{len(self._training_endpoints)}, got: {len(sample_weights)}."
                    )
            weights = sample_weights or [None] * len(self._training_endpoints)
            for endpoint, weight in zip(self._training_endpoints, weights, strict=True):
                endpoint.populate_sample_weight(weight)
            masks = self._output_masks()
            self._call_metrics(self._per_output_weighted_metrics, masks, self.sample_weights)
            self.total_loss = self._prepare_total_loss(masks)

    def _prepare_total_loss(self, masks):
        """The tensor of the loss that is minimized. Raises ValueError if there is none."""
        total = None
        with name_scope("loss"):
            for endpoint, mask in zip(self._training_endpoints, masks, strict=True):
                if not endpoint.has_loss:
                    continue
                with name_scope(endpoint.loss_name):
                    loss = output_loss(endpoint, endpoint.target, endpoint.output, endpoint.sample_weight, mask)
                if len(self.outputs) > 1:
                    endpoint.output_loss_metric(loss)
                loss = endpoint.loss_weight * loss
                total = loss if total is None else total + loss
            if total is None:
                if not self.losses:
                    raise ValueError("The model cannot be compiled because it has no loss to optimize.")
                total = 0.0
            added = self.get_losses_for(None) + self.get_losses_for(self.inputs)
            if added:
                total += ops.add_n(added)
        return total

    @property
    def sample_weights(self):
        return [endpoint.sample_weight for endpoint in self._training_endpoints]

    # ---- What is fed ----------------------------------------------------------------------------------------

    @property
    def _targets(self):
        return [each.target for each in self._training_endpoints if each.has_loss]

    @property
    def _feed_targets(self):
        return [each.target for each in self._training_endpoints if each.takes_target]

    @property
    def _feed_output_names(self):
        return [each.output_name for each in self._training_endpoints if each.takes_target]

    @property
    def _feed_output_shapes(self):
        return [each.wanted_target_shape() for each in self._training_endpoints if each.takes_target]

    @property
    def _feed_loss_fns(self):
        return [each.loss_fn for each in self._training_endpoints if each.takes_target]

    @property
    def _loss_weights_list(self):
        return [each.loss_weight for each in self._training_endpoints]

    @property
    def _sample_weight_modes(self):
        return [each.sample_weight_mode for each in self._training_endpoints]

    @property
    def _feed_sample_weights(self):
        return [each.sample_weight for each in self._training_endpoints if each.sample_weight is not None]

    # ---- Functions ------------------------------------------------------------------------------------------

    def _make_execution_function(self, mode):
        """The function that runs the graph for training, test or prediction."""
        if mode == modes.TRAIN:
            self._make_train_function()
            return self.train_function
        if mode == modes.TEST:
            self._make_test_function()
            return self.test_function
        self._make_predict_function()
        return self.predict_function

    def _metrics_tensors(self):
        metrics = self._get_training_eval_metrics()
        return [metric._call_result for metric in metrics if hasattr(metric, "_call_result")]

    def _optimizers_and_weights(self, weights):
        """[(optimizer, the weights that it changes)] of all weights that are trained."""
        if isinstance(self.optimizer, list):
            raise ValueError("The `optimizer` in `compile` should be a single optimizer.")
        return [(self.optimizer, weights)]

    @untracked
    def _make_train_function(self):
        has_recompiled = self._recompile_weights_loss_and_weighted_metrics()
        self._check_trainable_weights_consistency()
        shares = self._optimizers_and_weights(self._collected_trainable_weights)
        if getattr(self, "train_function", None) is not None and not has_recompiled:
            return
        state = self._get_trainable_state()
        self._set_trainable_state(self._compiled_trainable_state)
        inputs = [*self._feed_inputs, *self._feed_targets, *self._feed_sample_weights]
        if not isinstance(symbolic_learning_phase(), int):
            inputs.append(symbolic_learning_phase())
        with get_graph().as_default():
            with name_scope("training"):
                updates = []
                for optimizer, weights in shares:
                    updates += optimizer.get_updates(params=weights, loss=self.total_loss)
                updates += self.get_updates_for(None)
                updates += self.get_updates_for(self.inputs)
            outputs = [self.total_loss, *self._metrics_tensors()]
        with name_scope("training"):
            self.train_function = function(
                inputs, outputs, updates=updates, name="train_function", **self._function_kwargs
            )
        self._set_trainable_state(state)

    @untracked
    def _make_test_function(self):
        has_recompiled = self._recompile_weights_loss_and_weighted_metrics()
        if getattr(self, "test_function", None) is not None and not has_recompiled:
            return
        inputs = [*self._feed_inputs, *self._feed_targets, *self._feed_sample_weights]
        outputs = [self.total_loss, *self._metrics_tensors()]
        with name_scope("evaluation"):
            self.test_function = function(
                inputs, outputs, updates=self.state_updates, name="test_function", **self._function_kwargs
            )

    @untracked
    def _make_predict_function(self):
        if getattr(self, "predict_function", None) is None:
            with name_scope(modes.PREDICT):
                self.predict_function = function(
                    self._feed_inputs, self.outputs, updates=self.state_updates, name="predict_function",
                    **getattr(self, "_function_kwargs", {}),
                )  # fmt: skip

    def _check_trainable_weights_consistency(self):
        weights = self._unique_trainable_weights
        if len(weights) != len(getattr(self, "_collected_trainable_weights", weights)):
            logging.warning(
                "Discrepancy between trainable weights and collected trainable weights, did you set "
                "`model.trainable` "
                "without calling `model.compile` after ?"
            )


@by_mode
def prepare_training(model, metrics, weighted_metrics, target_tensors):
    """Adds losses and metrics of the outputs to the graph."""
    endpoints = model._training_endpoints
    for endpoint, target in zip(endpoints, model._listed_targets(target_tensors), strict=True):
        endpoint.create_target(target)
    set_loss_weights(endpoints, model.loss_weights)
    with get_graph().as_default():
        model._make_metrics(metrics, weighted_metrics)
        model._call_metrics(model._per_output_metrics, model._output_masks())
        set_sample_weight_modes(endpoints, model.sample_weight_mode)
        model._compile_weights_loss_and_weighted_metrics()
    model.train_function = model.test_function = model.predict_function = None


@by_mode
def make_training_state(model):
    """Makes the optimizer's variables: by what makes the training's nodes, unless these wait for data."""
    if model._is_compiled:
        model._make_train_function()
    else:
        _make_optimizer_state(model)


@eager_version_of(make_training_state)
def _make_optimizer_state(model):
    for optimizer, weights in model._optimizers_and_weights(model._unique_trainable_weights):
        optimizer.make_state(weights)


@eager_version_of(prepare_training)
def _prepare_steps(model, metrics, weighted_metrics, target_tensors):
    """Makes the metrics; losses are computed batch by batch."""
    model._listed_targets(target_tensors)
    model.__dict__.pop("_step_functions", None)
    for endpoint in model._training_endpoints:
        endpoint.take_values()
    set_loss_weights(model._training_endpoints, model.loss_weights)
    set_sample_weight_modes(model._training_endpoints, model.sample_weight_mode)
    model._make_metrics(metrics, weighted_metrics)
    model.total_loss = None


def output_loss(endpoint, target, output, sample_weight, mask):
    """The loss of one output, a scalar."""
    loss_fn = endpoint.loss_fn
    sample_weight = weights_with_mask(sample_weight, mask, output)
    if not hasattr(loss_fn, "reduction"):
        return loss_fn(target, output, sample_weight=sample_weight)
    losses = loss_fn.call(target, output)
    weighted = compute_weighted_loss(losses, sample_weight=sample_weight, reduction=Reduction.NONE)
    is_auto = loss_fn.reduction == Reduction.AUTO
    return reduce_weighted_loss(weighted, Reduction.SUM_OVER_BATCH_SIZE if is_auto else loss_fn.reduction)


def _metrics_of_layers(layers):
    found: list = []
    for layer in layers:
        if isinstance(layer, Network):
            found += layer._metrics
            found += _metrics_of_layers(layer.layers)
        else:
            found += layer.metrics
    return found

"""replicate_model_fn: a model function that splits each batch among several devices, which share the variables."""

from __future__ import annotations

import copy

from stillflow import ops
from stillflow.contrib.estimator.towers import TowerOptimizer, scaled_loss, sum_on_device
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies, device, get_collection
from stillflow.graph.device_spec import DeviceSpec
from stillflow.graph.name_scope import name_scope
from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.platform import logging
from stillflow.saver.saved_model.export_outputs import ClassificationOutput, PredictOutput, RegressionOutput
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.replica_devices import RoundRobinStrategy
from stillflow.variables.assignments import assign, assign_add
from stillflow.variables.scope import variable_scope

_DEVICES = ("/device:CPU:0",)  # of this machine
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


@public("contrib.estimator.python.estimator.replicate_model_fn._VariableDistributionMode")
class VariableDistributionMode:
    """Where variables are: on one device, or on all in turn."""

    SHARED_LOCAL_PARAMETER_SERVER = 1
    SHARED_ROUND_ROBIN = 2


@public("contrib.estimator.replicate_model_fn")
def replicate_model_fn(model_fn, loss_reduction=Reduction.SUM_BY_NONZERO_WEIGHTS, devices=None):
    """A model function that makes a tower of `model_fn` on each device, for its share of the batch.

    Losses and gradients are added up, predictions put one after the other; metrics are those of all towers.

    Args:
      model_fn: as of a tf.estimator.Estimator; with several devices its optimizers are TowerOptimizers.
      loss_reduction: the tf.losses.Reduction of its loss: sums are added up, means averaged.
      devices: names; by default the processor.

    Raises:
      ValueError: for Reduction.NONE; when it is called, for batches that cannot be split, and for optimizers that
        are no TowerOptimizers or that towers call differently.
    """
    return replicate_model_fn_with_mode(model_fn, loss_reduction, devices)


@public("contrib.estimator.python.estimator.replicate_model_fn._replicate_model_fn_with_mode")
def replicate_model_fn_with_mode(
    model_fn, loss_reduction, devices=None, mode=VariableDistributionMode.SHARED_LOCAL_PARAMETER_SERVER
):
    """See replicate_model_fn; `mode` says where variables are."""
    if loss_reduction == Reduction.NONE:
        raise ValueError(f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is specified.")
    devices = devices or list(_DEVICES)
    is_one_gpu = len(devices) == 1 and "GPU" in devices[0].upper()
    main = devices[0] if is_one_gpu else "/CPU:0"
    ps_devices = devices if mode == VariableDistributionMode.SHARED_ROUND_ROBIN else [main]
    logging.info(
        f"Replicating the `model_fn` across {devices}.  Variables are going to be placed on {ps_devices}.  "
        f"Consolidation device is going to be {main}."
    )

    def towers(mode, features, labels, params, config):
        return make_towers(model_fn, mode, features, labels, params, config, devices, ps_devices, loss_reduction)

    def single_device_model_fn(features, labels, mode, params=None, config=None):
        return towers(mode, [features], [labels], params, config)[0]

    def replicated_model_fn(features, labels, mode, params=None, config=None):
        features, labels = split_batch(features, labels, len(devices), device=main)
        specs = towers(mode, features, labels, params, config)
        if mode == ModeKeys.TRAIN:
            return train_spec(specs, specs[-1].train_op, aggregation_device=main)
        if mode == ModeKeys.EVAL:
            return eval_spec(specs, aggregation_device=main)
        return predict_spec(specs, aggregation_device=main) if mode == ModeKeys.PREDICT else None

    return single_device_model_fn if len(devices) == 1 else replicated_model_fn


# ---- Towers ---------------------------------------------------------------------------------------------------


@public("contrib.estimator.python.estimator.replicate_model_fn._split_batch")
def split_batch(features, labels, number_of_shards, device):
    """(features, labels) of each share of a batch. Raises ValueError for sizes that cannot be divided."""
    with name_scope("split_inputs"), _device(device):
        return _shares(features, number_of_shards), None if labels is None else _shares(labels, number_of_shards)


_device = device


def _shares(values, count):
    if not isinstance(values, dict):
        return _split(values, count)
    by_name = {name: _split(value, count) for name, value in values.items()}
    return [{name: shares[i] for name, shares in by_name.items()} for i in range(count)]


def _split(value, count):
    if isinstance(value, SparseTensor):
        return ops.sparse_split(sp_input=value, num_split=count, axis=0)
    size = convert_to_tensor(value).shape[0]
    if size % count != 0:
        raise ValueError(f"Batch size {size} needs to be divisible by the number of GPUs, which is {count}.")
    return ops.split(value, count)


@public("contrib.estimator.python.estimator.replicate_model_fn._get_loss_towers")
def make_towers(
    model_fn, mode, features, labels, params, config, devices, local_ps_devices, loss_reduction,
    name_scope_pattern="tower_{}",
):  # fmt: skip
    """The EstimatorSpec of each tower. The names of the first tower's nodes are those of the model itself."""
    optional = {
        name: copy.deepcopy(value)
        for name, value in (("params", params), ("config", config))
        if name in fn_args(model_fn)
    }
    strategy = RoundRobinStrategy(num_tasks=len(local_ps_devices))
    state = TowerOptimizer._graph_state()
    state.number_of_towers, state.loss_reduction = len(devices), loss_reduction

    def tower(i):
        spec = model_fn(mode=mode, features=features[i], labels=labels[i] if labels else None, **optional)
        if spec.train_op is not None and len(devices) > 1 and not TowerOptimizer.has_been_used():
            raise ValueError(
                "Please wrap optimizers with TowerOptimizer in order to use replicate_model_fn with multiple "
                "`devices`."
            )
        loss = scaled_loss(spec.loss, loss_reduction, len(devices))
        return spec if loss is None else spec._replace(loss=loss)

    specs = []
    for i, name in enumerate(devices):
        place = device_setter(name, local_ps_devices, strategy)
        scope_name = name_scope_pattern.format(i) if i else ""
        with (
            variable_scope("", reuse=i > 0) as var_scope,
            name_scope(scope_name) as scope,
            state.tower(i, var_scope, scope),
            device(place),
        ):
            specs.append(tower(i))
    if not TowerOptimizer._did_towers_have_same_optimizer_calls():
        raise ValueError("Each invocation of model_fn was supposed to make the same optimizer calls.")
    TowerOptimizer._clear_graph_state()
    return specs


@public("contrib.estimator.python.estimator.replicate_model_fn._local_device_setter")
def device_setter(worker_device, ps_devices, ps_strategy):
    """A function that places nodes: variables on one of `ps_devices`, others on `worker_device`."""

    def choose(op):
        node_def = getattr(op, "node_def", op)
        name = ps_devices[ps_strategy(op)] if node_def.op in _VARIABLES else worker_device
        spec = DeviceSpec.from_string(str(name or ""))
        spec.merge_from(DeviceSpec.from_string(op.device or ""))
        return spec.to_string()

    return choose


# ---- What towers give together --------------------------------------------------------------------------------


@public("contrib.estimator.python.estimator.replicate_model_fn._train_spec")
def train_spec(tower_specs, train_op, aggregation_device, aggregated_loss_name="loss"):
    """The spec of the training: that of the last tower, with the sum of the losses."""
    loss = sum_on_device([spec.loss for spec in tower_specs], aggregation_device, aggregated_loss_name)
    return tower_specs[-1]._replace(mode=ModeKeys.TRAIN, train_op=train_op, loss=loss)


@public("contrib.estimator.python.estimator.replicate_model_fn._eval_spec")
def eval_spec(tower_specs, aggregation_device, aggregated_loss_name="loss"):
    """The spec of the evaluation: metrics are those of the first tower, which gets what the others have counted."""
    loss = sum_on_device([spec.loss for spec in tower_specs], aggregation_device, aggregated_loss_name)
    updates = [update for spec in tower_specs for _, update in spec.eval_metric_ops.values()]
    with control_dependencies(updates):
        reduced = reduce_metric_variables(len(tower_specs))
    metrics = {name: (value, reduced) for name, (value, _) in tower_specs[0].eval_metric_ops.items()}
    return tower_specs[0]._replace(mode=ModeKeys.EVAL, loss=loss, eval_metric_ops=metrics)


@public("contrib.estimator.python.estimator.replicate_model_fn._reduce_metric_variables")
def reduce_metric_variables(number_of_towers):
    """Adds the metric variables of all towers to those of the first, and sets the others to zero.

    Raises ValueError if towers have different metrics.
    """
    if number_of_towers == 1:
        return ops.no_op(name="no_eval_metric_reduction")
    variables = get_collection(GraphKeys.METRIC_VARIABLES)
    count = len(variables) // number_of_towers
    if len(variables) % number_of_towers != 0:
        raise ValueError(
            "Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls. Expected "
            f"{count * number_of_towers} local variables, but got {len(variables)} instead."
        )
    done = []
    for i in range(count):
        others = variables[i + count :: count]
        with control_dependencies([assign_add(variables[i], ops.add_n(others))]):
            done += [assign(other, ops.zeros(ops.shape(other), dtype=other.dtype)) for other in others]
    return ops.group(*done)


@public("contrib.estimator.python.estimator.replicate_model_fn._predict_spec")
def predict_spec(tower_specs, aggregation_device):
    """The spec of the prediction: the predictions of all towers, one after the other."""
    with device(aggregation_device):
        predictions = concat_tensor_dicts(*(spec.predictions for spec in tower_specs))
        by_name = _listed(spec.export_outputs for spec in tower_specs)
        outputs = {name: _joined(each) for name, each in by_name.items()}
    return tower_specs[0]._replace(mode=ModeKeys.PREDICT, predictions=predictions, export_outputs=outputs)


def _joined(outputs):
    """The export output of all towers."""
    first = outputs[0]
    if isinstance(first, PredictOutput):
        return PredictOutput(outputs=concat_tensor_dicts(*(each.outputs for each in outputs)))
    if isinstance(first, RegressionOutput):
        return RegressionOutput(value=ops.concat([each.value for each in outputs], axis=0))
    scores = None if first.scores is None else ops.concat([each.scores for each in outputs], axis=0)
    classes = None if first.classes is None else ops.stack([each.classes for each in outputs], axis=0)
    return ClassificationOutput(scores=scores, classes=classes)


@public("contrib.estimator.python.estimator.replicate_model_fn._concat_tensor_dicts")
def concat_tensor_dicts(*tensor_dicts):
    """{name: the tensors of that name, one after the other}."""
    return {name: ops.concat(tensors, axis=0, name=name) for name, tensors in _listed(tensor_dicts).items()}


def _listed(dicts):
    """{key: the values of all dicts}; None is an empty one."""
    found: dict = {}
    for each in dicts:
        for key, value in (each or {}).items():
            found.setdefault(key, []).append(value)
    return found

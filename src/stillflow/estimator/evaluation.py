"""How an Estimator evaluates: the metrics of its model over an input, as a dict and as summaries."""

from __future__ import annotations

import numpy as np

from stillflow.estimator.loss_mean import mean
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.python_values import make_tensor_proto
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.summary.writer import FileWriterCache
from stillflow.training_loop.messages import log

LOSS_METRIC_KEY = public("python.estimator.model_fn.LOSS_METRIC_KEY")("loss")


def add_loss(eval_metric_ops, loss):
    """Adds the mean of the loss to metrics. Raises ValueError if they have a metric of that name."""
    if LOSS_METRIC_KEY in eval_metric_ops:
        raise ValueError(
            f'Metric with name "{LOSS_METRIC_KEY}" is not allowed, because Estimator already defines a default '
            "metric with the same name."
        )
    eval_metric_ops[LOSS_METRIC_KEY] = mean(loss)
    return eval_metric_ops


def updates_and_values(eval_metric_ops):
    """An operation that updates all metrics, and {name: value}."""
    values, updates = {}, []
    for name, (value, update) in sorted(eval_metric_ops.items()):
        values[name] = value
        updates.append(update)
    return group(*updates) if updates else None, values


# ---- Summaries ----------------------------------------------------------------------------------------------------


@public("python.estimator.estimator._write_dict_to_summary")
def write_results(folder, results, step):
    """Logs the results of an evaluation, and writes them to the event file of a folder."""
    texts = (f"{key} = {value!s}" for key, value in sorted(results.items()) if not isinstance(value, bytes))
    log().info("Saving dict for global step %d: %s", step, ", ".join(texts))
    writer = FileWriterCache.get(folder)
    summary = protobuf.message("Summary")()
    for key, value in results.items():
        if value is not None and key != GraphKeys.GLOBAL_STEP:
            _add_value(summary, key, value)
    writer.add_summary(summary, step)
    writer.flush()


def _add_value(summary, key, value):
    if isinstance(value, (np.float32, float)):
        summary.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, (np.int64, np.int32, int)):
        summary.value.add(tag=key, simple_value=int(value))
    elif isinstance(value, bytes):
        _add_summary(summary, key, value)
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=key, node_name=key, tensor=make_tensor_proto(value))
        log().info(
            "Summary for np.ndarray is not visible in Tensorboard by default. Consider using a Tensorboard plugin "
            "for visualization (see "
            "https://github.com/tensorflow/tensorboard-plugin-example/blob/master/README.md for more information)."
        )
    else:
        log().warning(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or np.ndarray or a "
            "serialized string of Summary.",
            key,
        )


def _add_summary(summary, key, data):
    """Adds what is a Summary message itself."""
    from google.protobuf.message import DecodeError

    try:
        found = protobuf.message("Summary").FromString(data)
    except DecodeError:
        log().warning("Skipping summary for %s, cannot parse string to Summary.", key)
        return
    for number, value in enumerate(found.value):
        value.tag = f"{key}/{number}"
    summary.value.extend(found.value)


def write_checkpoint_path(folder, path, step):
    """Writes which checkpoint has been evaluated."""
    log().info("Saving '%s' summary for global step %d: %s", "checkpoint_path", step, path)
    summary = protobuf.message("Summary")()
    summary.value.add(tag="checkpoint_path", tensor=make_tensor_proto(path, dtype=dtypes.string))
    writer = FileWriterCache.get(folder)
    writer.add_summary(summary, step)
    writer.flush()

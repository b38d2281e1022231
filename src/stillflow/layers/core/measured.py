"""Metrics that layers add to those of a model."""

from __future__ import annotations

from typing import Any

from stillflow.eager.tensor import EagerTensor
from stillflow.graph.mode import by_outermost_mode, eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.layers.core.branches import refuse_in_branch
from stillflow.layers.core.call_context import call_context
from stillflow.layers.core.contributions import Contributions
from stillflow.names import namespace


def _is_symbolic(value):
    return isinstance(value, Tensor) and not isinstance(value, EagerTensor)


@by_outermost_mode
def _keep_metric(layer, value, *arguments):
    (layer._add_symbolic_metric if _is_symbolic(value) else layer._add_eager_metric)(value, *arguments)


@eager_version_of(_keep_metric)
def _keep_metric_of_call(layer, value, *arguments):
    if _is_symbolic(value):
        refuse_in_branch(value.graph, value.op._control_flow_context, "add_metric")
    layer._add_eager_metric(value, *arguments)


class Measured(Contributions):
    """A layer that can be asked for its metrics."""

    _metrics: list
    _is_graph_network: Any = False

    @property
    def metrics(self):
        """A list of the metrics that the layer, and layers that it has, have added."""
        return self._metrics + self._of_inner_layers("metrics")

    def add_metric(self, value, aggregation=None, name=None):
        """Adds a metric.

        Args:
          value: a tensor, or what a tf.keras.metrics.Metric returned.
          aggregation: "mean" for a tensor, whose mean over batches is the metric; None for what a Metric returned.
          name: the metric's name; needed for a tensor.

        Raises:
          ValueError: for another aggregation, without a name, and for the value of a tensor outside of a call.
        """
        if aggregation is not None and aggregation != "mean":
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You provided aggregation="
                f"`{aggregation}`"
            )
        metric = getattr(value, "_metric_obj", None)
        if metric is not None:
            name = metric.name
        elif name is None:
            raise ValueError(
                "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), "
                "name='mean_activation', aggregation='mean')`"
            )
        if call_context.in_call:
            _keep_metric(self, value, metric, aggregation, name)
            return
        if not _is_symbolic(value):
            raise ValueError(f"Expected a symbolic Tensor for the metric value, received: {value}")
        if not self._is_graph_network:
            self._add_symbolic_metric(value, metric, aggregation, name)
        elif metric is not None:
            raise ValueError(
                "Using the result of calling a `Metric` object when calling `add_metric` on a Functional Model is "
                "not "
                "supported. Please pass the Tensor to monitor directly."
            )
        else:
            self._graph_network_add_metric(value, aggregation, name)

    def _graph_network_add_metric(self, value, aggregation, name):
        raise NotImplementedError

    def _metric_of_name(self, name):
        found = [metric for metric in self._metrics if metric.name == name]
        if len(found) > 1:
            raise ValueError(
                f"Please provide different names for the metrics you have added. We found {len(found)} metrics with "
                f'the name: "{name}"'
            )
        return found[0] if found else None

    def _add_symbolic_metric(self, value, metric, aggregation, name):
        known = self._metric_of_name(name)
        if aggregation is None:
            if known is None:
                _check_is_resettable(metric)
                self._metrics.append(metric)
        elif known is not None:
            known(value)
        else:
            self._metrics.append(_mean_of(value, name))

    def _add_eager_metric(self, value, metric, aggregation, name):
        known = self._metric_of_name(name)
        if known is not None:
            if metric is None:
                known(value)
        else:
            if aggregation is None:
                _check_is_resettable(metric)
            self._metrics.append(_mean_of(value, name) if metric is None else metric)


def _check_is_resettable(metric):
    if metric is None:
        raise ValueError(
            "We do not support adding an aggregated metric result tensor that is not the output of a "
            "`tf.keras.metrics.Metric` metric instance. Without having access to the metric instance we cannot reset "
            "the state of a metric after every epoch during training. You can create a `tf.keras.metrics.Metric` "
            "instance and pass the result here or pass an un-aggregated result with `aggregation` parameter set as "
            "`mean`. For example: `self.add_metric(tf.reduce_sum(inputs), name='mean_activation', "
            "aggregation='mean')`"
        )


def _mean_of(value, name):
    metric = namespace.find("keras.metrics.Mean")(name=name)
    metric(value)
    return metric

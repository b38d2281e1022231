"""tf.contrib.eager's Evaluator: metrics of a model over a data set, where operations run or in a graph."""

from __future__ import annotations

from stillflow import errors, ops
from stillflow.contrib.eager.metrics import Accuracy, Mean, Metric
from stillflow.datasets.eager_iterator import EagerIterator
from stillflow.datasets.one_shot import make_one_shot_iterator
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.scopes import get_default_session
from stillflow.names import public_module
from stillflow.ops.control_flow.dependencies import group
from stillflow.summary.recording import always_record_summaries, never_record_summaries
from stillflow.summary.resource_writer import create_file_writer
from stillflow.traced_functions.polymorphic import defun

public_module("contrib.eager.python.evaluator")


@by_mode
def _runs_at_once():
    return False


@eager_version_of(_runs_at_once)
def _does_run_at_once():
    return True


class Evaluator:
    """What takes a model's `eval_data` of examples into metrics. Descendants say how, in `call`.

    Args:
      model: has a method `eval_data`.
    """

    def __init__(self, model):
        self._model = model
        self._metrics: dict = {}
        self._evaluators: dict = {}
        if not _runs_at_once():
            self.call = defun(self.call)  # type: ignore[method-assign]

    @property
    def model(self):
        """The model."""
        return self._model

    def __call__(self, *args, **kwargs):
        return self.call(self._model.eval_data(*args, **kwargs))

    def call(self, eval_data):
        """Takes in what the model has made of examples."""
        raise NotImplementedError("Evaluators must define a call member function.")

    # ---- Metrics --------------------------------------------------------------------------------------------

    def track_metric(self, metric):
        """Adds a metric, and returns it.

        Raises:
          RuntimeError: before the constructor was called.
          TypeError: for what is no metric.
          ValueError: for two of one name, and a metric of another evaluator.
        """
        if not hasattr(self, "_metrics"):
            raise RuntimeError("Need to call Evaluator.__init__ before adding metrics")
        if not isinstance(metric, Metric):
            raise TypeError(f"Evaluator.track_metric() passed type {type(metric)}, not a tfe.metrics.Metric")
        known = self._metrics.get(metric.name)
        if known is metric:
            return metric
        if known is not None:
            raise ValueError(
                f"Attempt to add two Metrics with the name '{metric.name}' to the same Evaluator "
                f"'{type(self).__name__}'"
            )
        if metric._added_to_an_evaluator is not None:
            raise ValueError(f"Metric {metric.name} already added to Evaluator {metric._added_to_an_evaluator}")
        metric._added_to_an_evaluator = type(self).__name__
        self._metrics[metric.name] = metric
        return metric

    def track_evaluator(self, prefix, evaluator):
        """Adds an evaluator whose metrics' names get a prefix, and returns it.

        Raises:
          RuntimeError: before the constructor was called, and for two of one prefix.
          TypeError: for what is no evaluator.
        """
        if not hasattr(self, "_evaluators"):
            raise RuntimeError("Need to call Evaluator.__init__ before adding evaluators")
        if not isinstance(evaluator, Evaluator):
            raise TypeError(f"Evaluator.track_evaluator() passed type {type(evaluator)}, not a tfe.Evaluator.")
        known = self._evaluators.get(prefix)
        if known is not None and known is not evaluator:
            raise RuntimeError(f"Attempt to add two Evaluators with the same prefix '{prefix}'.")
        self._evaluators[prefix] = evaluator
        return evaluator

    @property
    def metrics(self):
        """A list of (prefix, metric)."""
        found = [("", metric) for metric in self._metrics.values()]
        for prefix, evaluator in self._evaluators.items():
            found += [(f"{prefix}/{below}", metric) for below, metric in evaluator.metrics]
        return found

    @property
    def metric_variables(self):
        """A list of the variables of all metrics."""
        return [variable for _, metric in self.metrics for variable in metric.variables]

    def init_variables(self):
        """The operation that initializes them. Raises RuntimeError where operations run."""
        if _runs_at_once():
            raise RuntimeError("Evaluator.init_variables() not needed when eager execution is enabled.")
        return group([metric.init_variables() for _, metric in self.metrics])

    def all_metric_results(self, summary_logdir=None):
        """{name: result} of the metrics, which are also written as summaries if there is a folder for them."""
        if summary_logdir is None:
            with never_record_summaries():
                return self._all_metric_results()

        def written():
            with create_file_writer(summary_logdir).as_default(), always_record_summaries():
                return self._all_metric_results()

        return written() if _runs_at_once() else defun(written)()

    def _all_metric_results(self):
        found = {name: metric.result() for name, metric in self._metrics.items()}
        for prefix, evaluator in self._evaluators.items():
            for name, metric in evaluator._metrics.items():
                found[f"{prefix}/{name}"] = metric.result()
        return found

    # ---- Evaluations ----------------------------------------------------------------------------------------

    def evaluate_on_dataset(self, dataset, *args, **kwargs):
        """{name: result} of a data set; in graphs what `run_evaluation` takes.

        Args:
          dataset: of what the model's `eval_data` takes, before the other arguments.
          summary_logdir: a folder for summaries, or None.
        """
        summary_logdir = kwargs.pop("summary_logdir", None)
        if _runs_at_once():
            for example in EagerIterator(dataset):
                self(example, *args, **kwargs)
            return self.all_metric_results(summary_logdir)
        example = make_one_shot_iterator(dataset).get_next()
        with control_dependencies([example]):
            has_example = ops.no_op(name="iterator_has_next")
        with control_dependencies([has_example]):
            call_op = self(example, *args, **kwargs)
        init_op = self.init_variables()
        return init_op, call_op, self.all_metric_results(summary_logdir)

    @staticmethod
    def run_evaluation(init_op, call_op, results_op, sess=None):
        """The values of `results_op` after `call_op` has run as often as there are examples.

        Raises RuntimeError where operations run.
        """
        if _runs_at_once():
            raise RuntimeError("Evaluator.run_evaluation() not supported when eager execution is enabled.")
        session = sess or get_default_session()
        session.run(init_op)
        try:
            while True:
                session.run(call_op)
        except errors.OutOfRangeError:
            return session.run(results_op)


class SparseSoftmaxEvaluator(Evaluator):
    """The mean loss and the accuracy of a model of classes.

    Args:
      model: has a method `eval_data` that returns a dict.
      loss_key, label_key, predicted_class_key, weights_key: the keys in it; weights need not be there.
    """

    def __init__(
        self, model, loss_key="loss", label_key="label", predicted_class_key="predicted_class", weights_key="weights"
    ):
        super().__init__(model)
        self.avg_loss = self.track_metric(Mean("Avg Loss"))
        self.accuracy = self.track_metric(Accuracy())
        self.loss_key = loss_key
        self.label_key = label_key
        self.predicted_class_key = predicted_class_key
        self.weights_key = weights_key

    def call(self, eval_data):
        weights = eval_data.get(self.weights_key)
        given = {} if weights is None else {"weights": weights}
        self.avg_loss(eval_data[self.loss_key], **given)
        self.accuracy(eval_data[self.label_key], eval_data[self.predicted_class_key], **given)

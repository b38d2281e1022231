"""tf.train.FeedFnHook and FinalOpsHook: a function that feeds, and what is run at the end."""

from __future__ import annotations

from stillflow import errors
from stillflow.names import public
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.messages import log


@public(
    "train.FeedFnHook",
    "estimator.FeedFnHook",
    "contrib.boosted_trees.estimator_batch.trainer_hooks.FeedFnHook",
)
class FeedFnHook(SessionRunHook):
    """Feeds every run with the dict that `feed_fn`, a function without arguments, returns."""

    def __init__(self, feed_fn):
        self.feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


@public("train.FinalOpsHook", "estimator.FinalOpsHook")
class FinalOpsHook(SessionRunHook):
    """Runs something at the end of the session and keeps its values.

    Args:
      final_ops: a tensor, or nested lists and dicts of them.
      final_ops_feed_dict: what to feed.
    """

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values = None

    @property
    def final_ops_values(self):
        """The values; None before the end."""
        return self._final_ops_values

    def end(self, session):
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, self._final_ops_feed_dict)
        except (errors.OutOfRangeError, StopIteration):
            log().warning(
                "An OutOfRangeError or StopIteration exception is raised by what FinalOpsHook runs: it depends on an "
                "input that has come to its end, where it should depend on variables only."
            )
            raise

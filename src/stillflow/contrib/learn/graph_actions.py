"""Runs of the tensors of a graph, with variables that are initialized or restored before."""

from __future__ import annotations

import itertools

from stillflow.contrib.framework.graphs import get_graph_from_inputs
from stillflow.names import public
from stillflow.saver.saver import Saver
from stillflow.session.session import Session
from stillflow.training.coordinator import Coordinator
from stillflow.training.queue_runner import start_queue_runners
from stillflow.variables.listing import global_variables, global_variables_initializer, local_variables_initializer
from stillflow.variables.readiness import initialize_resources, local_resources, shared_resources, tables_initializer

_GRACE_SECONDS = 120


@public("contrib.learn.graph_actions.run_feeds_iter")
def run_feeds_iter(output_dict, feed_dicts, restore_checkpoint_path=None):
    """{name: value} for each of several feeds, in one session, one after the other.

    Args:
      output_dict: {name: tensor} of one graph.
      feed_dicts: what to feed to each run; None for nothing.
      restore_checkpoint_path: a checkpoint that the variables come from; without it they are initialized.

    Raises ValueError without tensors, and without feeds.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    with get_graph_from_inputs(output_dict.values()).as_default(), Session("") as session:
        session.run(initialize_resources(shared_resources() + local_resources()))
        if not restore_checkpoint_path:
            session.run(global_variables_initializer())
        elif global_variables():
            Saver().restore(session, restore_checkpoint_path)
        session.run([local_variables_initializer(), tables_initializer()])
        coordinator = Coordinator()
        threads = start_queue_runners(session, coord=coordinator)
        try:
            for feeds in feed_dicts:
                yield session.run(output_dict, feeds)
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=_GRACE_SECONDS)


@public("contrib.learn.run_feeds")
def run_feeds(*args, **kwargs):
    """The results of run_feeds_iter as a list."""
    return list(run_feeds_iter(*args, **kwargs))


@public("contrib.learn.run_n")
def run_n(output_dict, feed_dict=None, restore_checkpoint_path=None, n=1):
    """A list of n times {name: value}, with the same feed; see run_feeds."""
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


@public("contrib.learn.infer")
def infer(restore_checkpoint_path, output_dict, feed_dict=None):
    """{name: value} of one run with the variables of a checkpoint; see run_feeds."""
    return run_feeds(output_dict, [feed_dict], restore_checkpoint_path)[0]

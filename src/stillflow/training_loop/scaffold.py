"""tf.train.Scaffold: what initializes, checks, summarizes and saves a model, found in the graph or made."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.summaries import merge_all
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.objects.checkpoint import Checkpoint
from stillflow.saver.objects.object_graph import frozen_saveables
from stillflow.saver.saver import Saver
from stillflow.training_loop.messages import log
from stillflow.variables.listing import global_variables, global_variables_initializer, local_variables_initializer
from stillflow.variables.readiness import (
    initialize_resources,
    local_resources,
    report_uninitialized_resources,
    report_uninitialized_variables,
    shared_resources,
    tables_initializer,
)


@public("train.Scaffold")
class Scaffold:
    """What a session for training needs: given here, found in the graph's collections, or made by `finalize`.

    Args:
      init_op: initializes the variables.
      init_feed_dict: what to feed for that.
      init_fn: a function of (scaffold, session), called after `init_op`.
      ready_op: gives the names of the variables without a value, a string vector.
      ready_for_local_init_op: gives those that `local_init_op` needs.
      local_init_op: initializes local variables and tables.
      summary_op: gives a Summary message.
      saver: a Saver, or a tf.train.Checkpoint of which to save and restore the objects.
      copy_from_scaffold: a Scaffold to take what is not given from.

    Raises TypeError if `copy_from_scaffold` is no Scaffold.
    """

    def __init__(
        self, init_op=None, init_feed_dict=None, init_fn=None, ready_op=None, ready_for_local_init_op=None,
        local_init_op=None, summary_op=None, saver=None, copy_from_scaffold=None,
    ):  # fmt: skip
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def given_or_copied(given, name):
            return getattr(copy_from_scaffold, name, None) if given is None else given

        self._user_init_fn = given_or_copied(init_fn, "_user_init_fn")
        self._init_op = given_or_copied(init_op, "init_op")
        self._init_feed_dict = given_or_copied(init_feed_dict, "init_feed_dict")
        self._ready_op = given_or_copied(ready_op, "ready_op")
        self._ready_for_local_init_op = given_or_copied(ready_for_local_init_op, "ready_for_local_init_op")
        self._local_init_op = given_or_copied(local_init_op, "local_init_op")
        self._summary_op = given_or_copied(summary_op, "summary_op")
        self._saver = given_or_copied(saver, "saver")

    def finalize(self):
        """Makes what is missing, and finalizes the default graph. Returns itself.

        Raises RuntimeError if a collection has more than one thing to choose from.
        """
        keys = GraphKeys
        if self._init_op is None:
            self._init_op = self.get_or_default("init_op", keys.INIT_OP, _default_init_op)
        if self._ready_op is None:
            self._ready_op = self.get_or_default("ready_op", keys.READY_OP, _default_ready_op)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = self.get_or_default(
                "ready_for_local_init_op", keys.READY_FOR_LOCAL_INIT_OP, default_ready_for_local_init_op
            )
        if self._local_init_op is None:
            self._local_init_op = self.get_or_default(
                "local_init_op", keys.LOCAL_INIT_OP, Scaffold.default_local_init_op
            )
        if self._summary_op is None:
            self._summary_op = self.get_or_default("summary_op", keys.SUMMARY_OP, merge_all)
        if self._saver is None:
            self._saver = saver_or_default()
        if isinstance(self._saver, Checkpoint):
            self._saver = Saver(var_list=frozen_saveables(self._saver), sharded=True)
        else:
            self._saver.build()
        get_default_graph().finalize()
        log().info("Graph was finalized.")
        return self

    # ---- Its parts --------------------------------------------------------------------------------------------

    @property
    def init_fn(self):
        """A function of a session, or None."""
        function = self._user_init_fn
        return None if function is None else lambda session: function(self, session)

    @property
    def init_op(self):
        return self._init_op

    @property
    def ready_op(self):
        return self._ready_op

    @property
    def ready_for_local_init_op(self):
        return self._ready_for_local_init_op

    @property
    def local_init_op(self):
        return self._local_init_op

    @property
    def summary_op(self):
        return self._summary_op

    @property
    def saver(self):
        return self._saver

    @property
    def init_feed_dict(self):
        return self._init_feed_dict

    # ---- Found or made ----------------------------------------------------------------------------------------

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        """What a collection of the default graph has; if nothing, what the function makes, which is added to it.

        Raises RuntimeError if it has several things.
        """
        graph = get_default_graph()
        found = graph.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which one to use by '
                f"passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op():
        """An operation that initializes the local variables, tables and local resources of the default graph."""
        return group(
            local_variables_initializer(),
            tables_initializer(),
            initialize_resources(local_resources()),
        )


def _default_init_op():
    return group(global_variables_initializer(), initialize_resources(shared_resources()))


def _default_ready_op():
    return ops.concat([report_uninitialized_variables(), report_uninitialized_resources()], axis=0)


def default_ready_for_local_init_op():
    """The names of the global variables and shared resources without a value, a string vector."""
    missing = report_uninitialized_variables(global_variables())
    return ops.concat([missing, report_uninitialized_resources(shared_resources())], axis=0)


@public("python.training.saver._get_saver_or_default")
def saver_or_default():
    """The Saver of the collection SAVERS; one of all variables, which is added to it, if there is none.

    Raises RuntimeError if there are several.
    """
    graph = get_default_graph()
    found = graph.get_collection(GraphKeys.SAVERS)
    if len(found) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing it to "
            "the constructor."
        )
    if found:
        return found[0]
    saver = Saver(sharded=True, allow_empty=True)
    graph.add_to_collection(GraphKeys.SAVERS, saver)
    return saver

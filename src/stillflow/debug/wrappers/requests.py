"""What a wrapper session is told and asked at the begin and the end of a run."""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.names import public
from stillflow.session.session import BaseSession
from stillflow.training_loop.monitored_session import MonitoredSession


def check_type(item, expected):
    """Raises TypeError for what is not of the expected type or types."""
    if not isinstance(item, expected):
        raise TypeError(f"Expected type {expected}; got type {type(item)}")


def check_session(session):
    """Raises TypeError for what is no session that can be wrapped."""
    check_type(session, (BaseSession, MonitoredSession))


class OnSessionInitRequest:
    """A session that is to be wrapped."""

    def __init__(self, sess):
        check_session(sess)
        self.session = sess


class OnSessionInitAction:
    """What is done with it: it goes on."""

    PROCEED = "proceed"
    REMOTE_INSTR_LOOP = "remote_instr_loop"  # a name only, in TensorFlow too


class OnSessionInitResponse:
    """An OnSessionInitAction. Raises TypeError for what is no text."""

    def __init__(self, action):
        check_type(action, str)
        self.action = action


class OnRunStartRequest:
    """A run that is about to begin: what it fetches and feeds, its messages, and which one it is.

    `is_callable_runner` says that it is a function of `make_callable`.
    """

    def __init__(self, fetches, feed_dict, run_options, run_metadata, run_call_count, is_callable_runner=False):
        self.fetches = fetches
        self.feed_dict = feed_dict
        self.run_options = run_options
        self.run_metadata = run_metadata
        self.run_call_count = run_call_count
        self.is_callable_runner = is_callable_runner


class OnRunStartAction:
    """How a run is done: with watches, with times, or as it is."""

    DEBUG_RUN = "debug_run"
    PROFILE_RUN = "profile_run"
    NON_DEBUG_RUN = "non_debug_run"


class OnRunStartResponse:
    """How a run is to be done.

    Args:
      action: an OnRunStartAction.
      debug_urls: a list of where watched tensors go.
      debug_ops, node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist,
        tolerate_debug_op_creation_failures: see `tf_debug.watch_graph`.

    Raises TypeError if the action is no text or the URLs are no list.
    """

    def __init__(
        self, action, debug_urls, debug_ops="DebugIdentity", node_name_regex_whitelist=None,
        op_type_regex_whitelist=None, tensor_dtype_regex_whitelist=None, tolerate_debug_op_creation_failures=False,
    ):  # fmt: skip
        check_type(action, str)
        check_type(debug_urls, list)
        self.action = action
        self.debug_urls = debug_urls
        self.debug_ops = debug_ops
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def watch_arguments(self):
        """The arguments of `watch_graph`, by name."""
        return {name: value for name, value in vars(self).items() if name != "action"}


class OnRunEndRequest:
    """A run that has ended.

    Args:
      performed_action: the OnRunStartAction.
      run_metadata: the RunMetadata message, or None.
      client_graph_def: the GraphDef of the session's graph, or None.
      tf_error: the tf.errors.OpError that ended the run, or None.

    Raises TypeError for other types.
    """

    def __init__(self, performed_action, run_metadata=None, client_graph_def=None, tf_error=None):
        check_type(performed_action, str)
        if run_metadata is not None:
            check_type(run_metadata, protobuf.message("RunMetadata"))
        self.performed_action = performed_action
        self.run_metadata = run_metadata
        self.client_graph_def = client_graph_def
        self.tf_error = tf_error


class OnRunEndResponse:
    """Nothing: the run has been seen."""


@public("python.debug.WatchOptions")
class WatchOptions:
    """Which tensors of a run are watched, and how: what a `watch_fn` returns. For the arguments see `watch_graph`."""

    def __init__(
        self, debug_ops=None, node_name_regex_whitelist=None, op_type_regex_whitelist=None,
        tensor_dtype_regex_whitelist=None, tolerate_debug_op_creation_failures=False,
    ):  # fmt: skip
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self):
        return f"WatchOptions({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

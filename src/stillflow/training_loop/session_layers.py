"""What a monitored session is made of: a session within hooks, within a coordinator, within what recovers it."""

from __future__ import annotations

from stillflow import errors
from stillflow.formats import protobuf
from stillflow.names import public
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunContext, SessionRunValues
from stillflow.training_loop.messages import log

# What is no fault of the program; a new session may do better.
PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)


class StepContext:
    """What a function that `run_step_fn` calls is given: the session, bare and with hooks."""

    def __init__(self, session, run_with_hooks_fn):
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self):
        """The tf.Session; hooks do not see its runs."""
        return self._session

    def run_with_hooks(self, *args, **kwargs):
        """Runs like the monitored session."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self):
        """Leaves the function by raising StopIteration."""
        raise StopIteration("step_fn has requested the iterations to stop.")


@public("python.training.monitored_session._WrappedSession")
class _Layer:
    """A session, or another layer, that may say when to stop."""

    def __init__(self, sess):
        self._sess = sess

    @property
    def graph(self):
        return self._sess.graph

    @property
    def sess_str(self):
        """The target of the session."""
        return self._sess.sess_str

    def should_stop(self):
        """Whether the session is not to be used any more; True when it is closed."""
        if self._check_stop():
            return True
        if self._sess is None:
            return True
        return isinstance(self._sess, _Layer) and self._sess.should_stop()

    def _check_stop(self):
        """Whether this layer wants to stop."""
        return False

    def close(self):
        """Closes the session. That it was lost is no trouble."""
        if self._sess is None:
            return
        try:
            self._sess.close()
        except PREEMPTION_ERRORS as error:
            log().warning("An error occurred when attempting to close the session: %s", error)
        finally:
            self._sess = None

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn, raw_session):
        return step_fn(StepContext(raw_session(), self.run))


@public("python.training.monitored_session._HookedSession")
class HookedSession(_Layer):
    """Calls hooks before and after each run."""

    def __init__(self, sess, hooks):
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self):
        return self._should_stop

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        wanted = {"caller": fetches}
        options = options or protobuf.message("RunOptions")()
        run_metadata = run_metadata or protobuf.message("RunMetadata")()
        feed_dict = self._call_before_run(context, wanted, feed_dict, options)
        results = super().run(wanted, feed_dict, options, run_metadata)
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(results.get(hook), options, run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return results["caller"]

    def _call_before_run(self, context, wanted, user_feeds, options):
        """Asks the hooks what they want; returns all feeds together."""
        hook_feeds: dict = {}
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is None:
                continue
            if request.fetches is not None:
                wanted[hook] = request.fetches
            if request.feed_dict:
                _check_disjoint(hook_feeds, request.feed_dict, "Same tensor is fed by two hooks.")
                hook_feeds.update(request.feed_dict)
            if request.options:
                _merge_options(options, request.options)
        if not hook_feeds:
            return user_feeds
        if user_feeds:
            _check_disjoint(user_feeds, hook_feeds, "Same tensor is fed by a SessionRunHook and user.")
            hook_feeds.update(user_feeds)
        return hook_feeds


def _check_disjoint(feeds, others, message):
    both = set(feeds) & set(others)
    if both:
        raise RuntimeError(f"{message} Conflict(s): {list(both)}")


def _merge_options(options, others):
    """Takes into RunOptions what others ask for: the larger numbers, and all that is wanted of debugging."""
    for name in ("trace_level", "timeout_in_ms", "inter_op_thread_pool"):
        setattr(options, name, max(getattr(options, name), getattr(others, name)))
    options.output_partition_graphs |= others.output_partition_graphs
    options.report_tensor_allocations_upon_oom |= others.report_tensor_allocations_upon_oom
    watched = others.debug_options.debug_tensor_watch_opts
    if watched or others.debug_options.reset_disk_byte_usage:
        options.debug_options.debug_tensor_watch_opts.extend(watched)
        options.debug_options.reset_disk_byte_usage |= others.debug_options.reset_disk_byte_usage


@public("python.training.monitored_session._CoordinatedSession")
class CoordinatedSession(_Layer):
    """Stops with a coordinator, and closes only when its threads have stopped."""

    def __init__(self, sess, coord, stop_grace_period_secs=120):
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self):
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self):
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            super().close()

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        try:
            return super().run(fetches, feed_dict, options, run_metadata)
        except PREEMPTION_ERRORS:
            raise
        except Exception as error:
            # A thread that was preempted may be why this failed.
            try:
                self._coord.raise_requested_exception()
            except PREEMPTION_ERRORS:
                raise
            except Exception:
                raise error from None
            raise


@public("python.training.monitored_session._RecoverableSession")
class RecoverableSession(_Layer):
    """Makes a new session when the old one was lost, and runs again."""

    def __init__(self, sess_creator):
        self._creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self):
        while True:
            try:
                return self._creator.create_session()
            except PREEMPTION_ERRORS as error:
                log().info(
                    "An error was raised while a session was being created. A new session will be created. Error: %s",
                    error,
                )

    def _check_stop(self):
        if self._sess is None:
            return True
        try:
            return self._sess._check_stop()
        except PREEMPTION_ERRORS as error:
            log().info(
                "An error was raised while considering whether the session is complete. The current session will be "
                "closed and a new session will be created. Error: %s",
                error,
            )
            self.close()
            self._sess = self._create_session()
            return False
        except Exception:
            return True  # the next run, or the end, raises it

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        return self._persist(lambda session: session.run(fetches, feed_dict, options, run_metadata))

    def run_step_fn(self, step_fn, raw_session):
        return self._persist(lambda session: session.run_step_fn(step_fn, raw_session))

    def _persist(self, function):
        """Calls a function of the session, of a new one if it was lost."""
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return function(self._sess)
            except PREEMPTION_ERRORS as error:
                log().info(
                    "An error was raised. The current session will be closed and a new session will be created. "
                    "Error: %s",
                    error,
                )
                self.close()

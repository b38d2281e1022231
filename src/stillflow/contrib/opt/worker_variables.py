"""Variables that a worker trains, and those that all workers share: what getters and hooks have in common."""

from __future__ import annotations

from typing import Any

from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import device
from stillflow.names import public
from stillflow.training_loop.hooks.hook import SessionRunHook
from stillflow.variables.listing import global_variables_initializer, local_variables_initializer

# Begins the names of the variables that all workers share.
CENTER = public(
    "contrib.opt.python.training.elastic_average_optimizer.GLOBAL_VARIABLE_NAME",
    "contrib.opt.python.training.agn_optimizer.GLOBAL_VARIABLE_NAME",
    "contrib.opt.python.training.model_average_optimizer.GLOBAL_VARIABLE_NAME",
)("global_center_variable")


class TripleGetter:
    """A custom getter that makes three variables of one that is trained: the worker's, the shared one, a companion.

    The worker's variable and its companion are local variables on the worker; the shared one is a global variable
    where variables belong.

    Args:
      worker_device: the worker's device.
    """

    companion_name: str

    def __init__(self, worker_device):
        self._worker_device = worker_device
        self._global_map: dict[Any, Any] = {}  # the worker's variable -> the shared one
        self.companions: dict[Any, Any] = {}

    def __call__(self, getter, name, trainable, collections, *args, **kwargs):
        if not trainable:
            return self.get_untrained(getter, name, collections, *args, **kwargs)
        with device(self._worker_device):
            local = getter(name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs)
        if kwargs["reuse"] is True:
            return local
        center = getter(
            f"{CENTER}/{name}", *args, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES], **kwargs
        )
        with device(self._worker_device):
            companion = getter(
                f"{self.companion_name}/{name}", *args, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                **kwargs,
            )  # fmt: skip
        has_parts = kwargs["partitioner"] is not None
        variables = [list(each) if has_parts else [each] for each in (local, center, companion)]
        for part, center_part, companion_part in zip(*variables, strict=True):
            self._global_map[part] = center_part
            self.companions[part] = companion_part
        return local

    def get_untrained(self, getter, name, collections, *args, **kwargs):
        """A variable that is not trained: itself."""
        return getter(name, *args, trainable=False, collections=collections, **kwargs)


def get_untrained_local_at(worker_device, getter, name, collections, *args, **kwargs):
    """A variable that is not trained: on the worker if it is a local one."""
    if GraphKeys.LOCAL_VARIABLES not in collections:
        return getter(name, *args, trainable=False, collections=collections, **kwargs)
    with device(worker_device):
        return getter(name, *args, trainable=False, collections=collections, **kwargs)


class FirstValues(SessionRunHook):
    """A hook that runs an operation in a new session: the worker's variables get the values of the shared ones.

    Args:
      build: a function that builds the operation, called with the graph complete.
      is_chief: whether this worker initializes what is shared.
    """

    def __init__(self, build, is_chief):
        self._build = build
        self._is_chief = is_chief

    def begin(self):
        """Adds the operation, and as TensorFlow does the initializers that it follows."""
        self._others = [local_variables_initializer()]
        if self._is_chief:
            self._others.append(global_variables_initializer())
        self._operation = self._build()

    def after_create_session(self, session, coord):
        """Runs it."""
        session.run(self._operation)

"""RestoredOptimizer: what an optimizer of a SavedModel is where it was loaded."""

from __future__ import annotations

from stillflow.keras.optimizers.base import OptimizerV2
from stillflow.names import public
from stillflow.tracking.revived_types import VersionedTypeRegistration, register_revived_type


@public("python.keras.optimizer_v2.optimizer_v2.RestoredOptimizer")
class RestoredOptimizer(OptimizerV2):
    """Has the numbers and variables of an optimizer that was saved, for functions that use them; it cannot train."""

    def __init__(self):
        super().__init__("RestoredOptimizer")
        self._hypers_created = True

    def get_config(self):
        raise NotImplementedError(
            "Restoring functional Optimzers from SavedModels is not currently supported. Please file a feature "
            "request if this limitation bothers you."
        )


register_revived_type(
    "optimizer",
    lambda value: isinstance(value, OptimizerV2),
    [VersionedTypeRegistration(lambda proto: RestoredOptimizer(), 1, 1, 1, setter=RestoredOptimizer._set_hyper)],
)

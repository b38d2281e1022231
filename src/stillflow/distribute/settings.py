"""DistributeConfig: which strategies an Estimator's RunConfig has."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow.names import public


@public("contrib.distribute.DistributeConfig")
class DistributeConfig(NamedTuple):
    """The strategies with which an Estimator trains and evaluates, and a cluster where it does."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None

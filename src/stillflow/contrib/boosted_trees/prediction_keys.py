"""The keys of what trees predict."""

from __future__ import annotations

from stillflow.names import public


class PredictionKeys:
    """The keys of what GradientBoostedDecisionTreeModel.predict returns."""

    ENSEMBLE_STAMP = "ensemble_stamp"
    PREDICTIONS = "predictions"
    PARTITION_IDS = "partition_ids"
    NUM_LAYERS_ATTEMPTED = "num_layers"
    NUM_TREES_ATTEMPTED = "num_trees"
    NUM_USED_HANDLERS = "num_used_handlers"
    USED_HANDLERS_MASK = "used_handlers_mask"
    LEAF_INDEX = "leaf_index"


PREDICTIONS = public("contrib.boosted_trees.python.training.functions.gbdt_batch.PREDICTIONS")(
    PredictionKeys.PREDICTIONS
)
LEAF_INDEX = public("contrib.boosted_trees.python.training.functions.gbdt_batch.LEAF_INDEX")(
    PredictionKeys.LEAF_INDEX
)

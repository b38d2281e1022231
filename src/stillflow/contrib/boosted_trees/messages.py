"""The messages of tf.contrib.boosted_trees: how trees are grown, and what they are."""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.names import public_names

_PUBLIC = public_names(
    {
        "AveragingConfig": "contrib.boosted_trees.proto.learner_pb2.AveragingConfig",
        "LearnerConfig": "contrib.boosted_trees.proto.learner_pb2.LearnerConfig",
        "LearningRateConfig": "contrib.boosted_trees.proto.learner_pb2.LearningRateConfig",
        "LearningRateDropoutDrivenConfig": "contrib.boosted_trees.proto.learner_pb2.LearningRateDropoutDrivenConfig",
        "LearningRateFixedConfig": "contrib.boosted_trees.proto.learner_pb2.LearningRateFixedConfig",
        "LearningRateLineSearchConfig": "contrib.boosted_trees.proto.learner_pb2.LearningRateLineSearchConfig",
        "TreeConstraintsConfig": "contrib.boosted_trees.proto.learner_pb2.TreeConstraintsConfig",
        "TreeRegularizationConfig": "contrib.boosted_trees.proto.learner_pb2.TreeRegularizationConfig",
        "ObliviousSplitInfo": "contrib.boosted_trees.proto.split_info_pb2.ObliviousSplitInfo",
        "SplitInfo": "contrib.boosted_trees.proto.split_info_pb2.SplitInfo",
        "QuantileConfig": "contrib.boosted_trees.proto.quantiles_pb2.QuantileConfig",
        "QuantileEntry": "contrib.boosted_trees.proto.quantiles_pb2.QuantileEntry",
        "QuantileStreamState": "contrib.boosted_trees.proto.quantiles_pb2.QuantileStreamState",
        "QuantileSummaryState": "contrib.boosted_trees.proto.quantiles_pb2.QuantileSummaryState",
        "CategoricalIdBinarySplit": "contrib.boosted_trees.proto.tree_config_pb2.CategoricalIdBinarySplit",
        "CategoricalIdSetMembershipBinarySplit":
            "contrib.boosted_trees.proto.tree_config_pb2.CategoricalIdSetMembershipBinarySplit",
        "DecisionTreeConfig": "contrib.boosted_trees.proto.tree_config_pb2.DecisionTreeConfig",
        "DecisionTreeEnsembleConfig": "contrib.boosted_trees.proto.tree_config_pb2.DecisionTreeEnsembleConfig",
        "DecisionTreeMetadata": "contrib.boosted_trees.proto.tree_config_pb2.DecisionTreeMetadata",
        "DenseFloatBinarySplit": "contrib.boosted_trees.proto.tree_config_pb2.DenseFloatBinarySplit",
        "GrowingMetadata": "contrib.boosted_trees.proto.tree_config_pb2.GrowingMetadata",
        "Leaf": "contrib.boosted_trees.proto.tree_config_pb2.Leaf",
        "ObliviousCategoricalIdBinarySplit":
            "contrib.boosted_trees.proto.tree_config_pb2.ObliviousCategoricalIdBinarySplit",
        "ObliviousDenseFloatBinarySplit":
            "contrib.boosted_trees.proto.tree_config_pb2.ObliviousDenseFloatBinarySplit",
        "SparseFloatBinarySplitDefaultLeft":
            "contrib.boosted_trees.proto.tree_config_pb2.SparseFloatBinarySplitDefaultLeft",
        "SparseFloatBinarySplitDefaultRight":
            "contrib.boosted_trees.proto.tree_config_pb2.SparseFloatBinarySplitDefaultRight",
        "SparseVector": "contrib.boosted_trees.proto.tree_config_pb2.SparseVector",
        "TreeNode": "contrib.boosted_trees.proto.tree_config_pb2.TreeNode",
        "TreeNodeMetadata": "contrib.boosted_trees.proto.tree_config_pb2.TreeNodeMetadata",
        "Vector": "contrib.boosted_trees.proto.tree_config_pb2.Vector",
    }
)  # fmt: skip

_PACKAGES = {"learner_pb2": "learner", "split_info_pb2": "learner", "quantiles_pb2": "boosted_trees"}


def __getattr__(name):
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _PUBLIC[name].split(".")[-2]
    return protobuf.message(f"{_PACKAGES.get(module, 'trees')}.{name}")

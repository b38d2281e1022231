"""The settings of a random forest."""

from __future__ import annotations

import math
import numbers
import random
from typing import Any

from stillflow.files.gfile import GFile
from stillflow.formats import protobuf
from stillflow.names import public

# The types of leaves and of statistics, as tensor_forest_params.proto has them.
CLASSIFICATION_LEAF_MODEL_TYPES = {"all_dense": (0, 0), "all_sparse": (1, 1), "sparse_then_dense": (3, 3)}
REGRESSION_MODEL_TYPE = (2, 2, 0)
FINISH_TYPES = {"basic": 0, "hoeffding": 2, "bootstrap": 3}
PRUNING_TYPES = {"none": 0, "half": 1, "quarter": 2, "10_percent": 3, "hoeffding": 4}
SPLIT_TYPES = {"less_or_equal": 0, "less": 1}


@public("contrib.tensor_forest.python.tensor_forest.parse_number_or_string_to_proto")
def parse_number_or_string_to_proto(proto, param):
    """Sets a DepthDependentParam to a number, or to what its text format says."""
    if isinstance(param, numbers.Number):
        proto.constant_value = param
    elif param.isdigit():
        proto.constant_value = int(param)
    else:
        from google.protobuf import text_format

        text_format.Merge(param, proto)


@public("contrib.tensor_forest.python.tensor_forest.build_params_proto")
def build_params_proto(params):
    """The TensorForestParams message of ForestHParams that are filled."""
    proto = protobuf.message("tensorforest.TensorForestParams")()
    proto.num_trees = params.num_trees
    proto.max_nodes = params.max_nodes
    proto.is_regression = params.regression
    proto.num_outputs = params.num_classes
    proto.num_features = params.num_features
    proto.leaf_type = params.leaf_model_type
    proto.stats_type = params.stats_model_type
    proto.collection_type = 0
    proto.pruning_type.type = params.pruning_type
    proto.finish_type.type = params.finish_type
    proto.inequality_test_type = params.split_type
    proto.drop_final_class = False
    proto.collate_examples = params.collate_examples
    proto.checkpoint_stats = params.checkpoint_stats
    proto.use_running_stats_method = params.use_running_stats_method
    proto.initialize_average_splits = params.initialize_average_splits
    proto.inference_tree_paths = params.inference_tree_paths
    parse_number_or_string_to_proto(proto.pruning_type.prune_every_samples, params.prune_every_samples)
    parse_number_or_string_to_proto(proto.finish_type.check_every_steps, params.early_finish_check_every_samples)
    parse_number_or_string_to_proto(proto.split_after_samples, params.split_after_samples)
    parse_number_or_string_to_proto(proto.num_splits_to_consider, params.num_splits_to_consider)
    proto.dominate_fraction.constant_value = params.dominate_fraction
    if params.param_file:
        from google.protobuf import text_format

        text_format.Merge(GFile(params.param_file).read(), proto)
    return proto


@public("contrib.tensor_forest.python.tensor_forest.ForestHParams")
class ForestHParams:
    """What a forest is to be like. `num_classes` and `num_features` must be given as well; `fill` does the rest.

    Args:
      num_trees: how many trees there are.
      max_nodes: a tree with so many nodes grows no more.
      bagging_fraction: the share of a batch that a tree sees.
      num_splits_to_consider: how many candidates a leaf has; 0: the square root of the features, 10 to 1000.
      feature_bagging_fraction: the share of features that a tree sees.
      max_fertile_nodes, valid_leaf_threshold, dominate_method: not used.
      split_after_samples: a leaf is split when it has seen so many examples; a number, or the text of a
        DepthDependentParam.
      dominate_fraction: how certain it must be that a candidate is the best, where that ends a leaf early.
      model_name: "all_dense" or "all_sparse": how leaves keep the counts of classes.
      split_finish_name: "basic" or "hoeffding": when a leaf has seen enough.
      split_pruning_name: "none", "half", "quarter", "10_percent" or "hoeffding": which candidates are dropped every
        prune_every_samples examples.
      early_finish_check_every_samples: how often "hoeffding" looks.
      checkpoint_stats: whether checkpoints have what leaves have counted.
      initialize_average_splits: whether a candidate lies between two examples of different classes.
      inference_tree_paths: whether predictions come with the nodes on the way.
      param_file: a file with more settings, the text of a TensorForestParams.
      split_name: "less_or_equal" or "less": what goes left.
      collate_examples, use_running_stats_method: other ways to the same statistics.
      **kwargs: `num_classes`, `num_features`, `regression`, `base_random_seed` and what else a program keeps here.
    """

    def __init__(
        self,
        num_trees=100,
        max_nodes=10000,
        bagging_fraction=1.0,
        num_splits_to_consider=0,
        feature_bagging_fraction=1.0,
        max_fertile_nodes=0,
        split_after_samples=250,
        valid_leaf_threshold=1,
        dominate_method="bootstrap",
        dominate_fraction=0.99,
        model_name="all_dense",
        split_finish_name="basic",
        split_pruning_name="none",
        prune_every_samples=0,
        early_finish_check_every_samples=0,
        collate_examples=False,
        checkpoint_stats=False,
        use_running_stats_method=False,
        initialize_average_splits=False,
        inference_tree_paths=False,
        param_file=None,
        split_name="less_or_equal",
        **kwargs,
    ):
        arguments: dict[str, Any] = dict(locals())
        more = arguments.pop("kwargs")
        del arguments["self"]
        self.__dict__.update(arguments, **more)

    def values(self) -> dict[str, Any]:
        """{name: setting}"""
        return self.__dict__

    def __getattr__(self, name) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fill(self):
        """Derives what was not given. Returns self. Raises AttributeError without num_classes or num_features."""
        _, num_features = self.num_classes, self.num_features
        filled: Any = self
        filled.bagged_num_features = int(filled.feature_bagging_fraction * num_features)
        filled.bagged_features = None
        if filled.feature_bagging_fraction < 1.0:
            filled.bagged_features = [
                random.sample(range(num_features), filled.bagged_num_features) for _ in range(filled.num_trees)
            ]
        filled.regression = getattr(self, "regression", False)
        filled.num_outputs = filled.num_classes if filled.regression else 1
        filled.num_output_columns = filled.num_classes + 1
        filled.num_splits_to_consider = filled.num_splits_to_consider or min(
            max(10, math.floor(math.sqrt(num_features))), 1000
        )
        filled.base_random_seed = getattr(self, "base_random_seed", 0)
        types = REGRESSION_MODEL_TYPE if filled.regression else CLASSIFICATION_LEAF_MODEL_TYPES[filled.model_name]
        filled.leaf_model_type, filled.stats_model_type = types[:2]
        filled.finish_type = 0 if filled.regression else FINISH_TYPES[filled.split_finish_name]
        filled.pruning_type = PRUNING_TYPES[filled.split_pruning_name]
        if filled.pruning_type == 0:
            filled.prune_every_samples = 0
        else:
            filled.prune_every_samples = filled.prune_every_samples or int(filled.split_after_samples) / 2
        if filled.finish_type == 0:
            filled.early_finish_check_every_samples = 0
        else:
            filled.early_finish_check_every_samples = (
                filled.early_finish_check_every_samples or int(filled.split_after_samples) / 4
            )
        filled.split_type = SPLIT_TYPES[filled.split_name]
        return self

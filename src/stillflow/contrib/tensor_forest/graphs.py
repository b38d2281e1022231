"""The graphs that train a forest and predict by it."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.framework.model_variables import VariableDeviceChooser
from stillflow.contrib.tensor_forest.features import ParseDataTensorOrDict, ParseLabelTensorOrDict
from stillflow.contrib.tensor_forest.params import build_params_proto
from stillflow.contrib.tensor_forest.variables import fertile_stats_variable, tree_variable
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies, device
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.platform import logging
from stillflow.random.sampling import random_uniform
from stillflow.variables.get_variable import get_variable


@public("contrib.tensor_forest.python.tensor_forest.get_epoch_variable")
def get_epoch_variable():
    """The epoch that tf.train.limit_epochs counts, as a vector of one; [0] without it."""
    for variable in get_default_graph().get_collection(GraphKeys.LOCAL_VARIABLES):
        if "limit_epochs/epoch" in variable.op.name:
            return ops.reshape(variable, [1])
    return [0]


@public("contrib.tensor_forest.python.tensor_forest.TreeVariables")
class TreeVariables:
    """What a tree keeps: itself, and for training the statistics of its leaves."""

    def __init__(self, params, tree_num, training, tree_config="", tree_stat=""):
        if not hasattr(params, "params_proto"):
            params.params_proto = build_params_proto(params)
        params.serialized_params_proto = params.params_proto.SerializeToString()
        self.stats = None
        if training:
            self.stats = fertile_stats_variable(params, tree_stat, self.get_tree_name("stats", tree_num))
        self.tree = tree_variable(params, tree_config, self.stats, self.get_tree_name("tree", tree_num))

    def get_tree_name(self, name, num):
        """The name of a tree's variable."""
        return f"{name}-{num}"


@public("contrib.tensor_forest.python.tensor_forest.ForestVariables")
class ForestVariables:
    """What all trees keep, each on a device of its own."""

    def __init__(
        self,
        params,
        device_assigner,
        training=True,
        tree_variables_class=TreeVariables,
        tree_configs=None,
        tree_stats=None,
    ):
        self.variables = []
        with device(device_assigner):
            self.device_dummies = [get_variable(name=f"device_dummy_{i}", shape=0) for i in range(params.num_trees)]
        for i in range(params.num_trees):
            with device(self.device_dummies[i].device):
                settings = {} if tree_configs is None else {"tree_config": tree_configs[i]}
                if tree_stats is not None:
                    settings["tree_stat"] = tree_stats[i]
                self.variables.append(tree_variables_class(params, i, training, **settings))

    def __setitem__(self, t, val):
        self.variables[t] = val

    def __getitem__(self, t):
        return self.variables[t]


def _as_inputs(dense, sparse):
    """(dense, sparse indices, values, shape) with empty lists for what is not there."""
    parts = [[], [], []] if sparse is None else [sparse.indices, sparse.values, sparse.dense_shape]
    return ([] if dense is None else dense, *parts)


@public("contrib.tensor_forest.python.tensor_forest.RandomTreeGraphs")
class RandomTreeGraphs:
    """The graphs of one tree."""

    def __init__(self, variables, params, tree_num):
        self.variables = variables
        self.params = params
        self.tree_num = tree_num

    def training_graph(
        self, input_data, input_labels, random_seed, data_spec, sparse_features=None, input_weights=None
    ):
        """The operation that shows a batch to the tree.

        Args:
          input_data: float32 [examples, features], or None.
          input_labels: float32 labels.
          random_seed: of the features that candidates are made of; 0: another one each time.
          data_spec: what ParseDataTensorOrDict says of the examples.
          sparse_features: a SparseTensor, or None.
          input_weights: how much each example counts; None: 1.
        """
        ops.cast(get_epoch_variable(), dtypes.int32)
        weights = [] if input_weights is None else input_weights
        examples = _as_inputs(input_data, sparse_features)
        settings = self.params.serialized_params_proto
        tree, stats = self.variables.tree, self.variables.stats
        spec = data_spec.SerializeToString()
        leaf_ids = ops.traverse_tree_v4(tree, *examples, input_spec=spec, params=settings)
        update_model = ops.update_model_v4(tree, leaf_ids, input_labels, weights, params=settings)
        finished = ops.process_input_v4(
            tree, stats, *examples, input_labels, weights, leaf_ids, input_spec=spec, random_seed=random_seed,
            params=settings,
        )  # fmt: skip
        with control_dependencies([update_model]):
            return ops.grow_tree_v4(tree, stats, finished, params=settings)

    def inference_graph(self, input_data, data_spec, sparse_features=None):
        """(probabilities or means [examples, outputs], paths) of a batch."""
        return ops.tree_predictions_v4(
            self.variables.tree,
            *_as_inputs(input_data, sparse_features),
            input_spec=data_spec.SerializeToString(),
            params=self.params.serialized_params_proto,
        )

    def size(self):
        """How many nodes the tree has."""
        return ops.tree_size(self.variables.tree)

    def feature_usage_counts(self):
        """How many nodes ask for each feature."""
        return ops.feature_usage_counts(self.variables.tree, params=self.params.serialized_params_proto)


@public("contrib.tensor_forest.python.tensor_forest.RandomForestGraphs")
class RandomForestGraphs:
    """Builds the graphs of a forest.

    Args:
      params: ForestHParams, filled.
      tree_configs, tree_stats: serialized trees and statistics to begin with, one for each tree.
      device_assigner: a function of an operation that says where it lies.
      variables: ForestVariables, if there are some already.
      tree_variables_class, tree_graphs: what trees are made of.
      training: whether the forest is to learn.
    """

    def __init__(
        self,
        params,
        tree_configs=None,
        tree_stats=None,
        device_assigner=None,
        variables=None,
        tree_variables_class=TreeVariables,
        tree_graphs=None,
        training=True,
    ):
        self.params = params
        self.device_assigner = device_assigner or VariableDeviceChooser()
        logging.info("Constructing forest with params = ")
        logging.info(self.params.__dict__)
        self.variables = variables or ForestVariables(
            self.params,
            device_assigner=self.device_assigner,
            training=training,
            tree_variables_class=tree_variables_class,
            tree_configs=tree_configs,
            tree_stats=tree_stats,
        )
        make_graphs = tree_graphs or RandomTreeGraphs
        self.trees = [make_graphs(self.variables[i], params, i) for i in range(params.num_trees)]

    def _bag_features(self, tree_num, input_data):
        columns = ops.split(value=input_data, num_or_size_splits=self.params.num_features, axis=1)
        return ops.concat([columns[i] for i in self.params.bagged_features[tree_num]], 1)

    def _on_device(self, tree_num):
        return device(self.variables.device_dummies[tree_num].device)

    def get_all_resource_handles(self):
        """The handles of all trees, and of all statistics."""
        count = range(len(self.trees))
        return [self.variables[i].tree for i in count] + [self.variables[i].stats for i in count]

    def training_graph(self, input_data, input_labels, num_trainers=1, trainer_id=0, **tree_kwargs):
        """The operation that shows a batch to all trees, or to the share of one of several trainers.

        Args:
          input_data: a matrix, a SparseTensor, or a dict of them.
          input_labels: classes, or with `regression` numbers.
          num_trainers, trainer_id: how many trainers there are, and which one this is.
          **tree_kwargs: for RandomTreeGraphs.training_graph.

        Raises:
          NotImplementedError: for bagging of sparse features.
        """
        dense, sparse, spec = ParseDataTensorOrDict(input_data)
        labels = None if input_labels is None else ParseLabelTensorOrDict(input_labels)
        params = self.params
        trees_each = params.num_trees / num_trainers
        graphs = []
        for i in range(int(trainer_id * trees_each), int((trainer_id + 1) * trees_each)):
            with self._on_device(i):
                seed = params.base_random_seed + i if params.base_random_seed else 0
                data, tree_labels = dense, labels
                if params.bagging_fraction < 1.0:
                    if sparse is not None:
                        raise NotImplementedError("Bagging not supported with sparse features.")
                    data, tree_labels = self._bag(dense, labels, seed)
                if params.bagged_features:
                    if sparse is not None:
                        raise NotImplementedError("Feature bagging not supported with sparse features.")
                    data = self._bag_features(i, data)
                graph = self.trees[i].training_graph(
                    data, tree_labels, seed, data_spec=spec, sparse_features=sparse, **tree_kwargs
                )
                graphs.append(graph)
        return group(*graphs, name="train")

    def _bag(self, dense, labels, seed):
        """A share of the examples at random."""
        batch_size = ops.strided_slice(ops.shape(dense), [0], [1])
        draws = random_uniform(batch_size, seed=seed)
        mask = ops.less(draws, ops.ones_like(draws) * self.params.bagging_fraction)
        indices = ops.squeeze(ops.where_v2(mask), axis=[1])
        return ops.gather(dense, indices), ops.gather(labels, indices)

    def inference_graph(self, input_data, **inference_args):
        """The graph that predicts.

        Args:
          input_data: a matrix, a SparseTensor, or a dict of them.
          **inference_args: for RandomTreeGraphs.inference_graph.

        Returns:
          (probabilities or means [examples, outputs], the paths through each tree, the variance among trees).
        """
        dense, sparse, spec = ParseDataTensorOrDict(input_data)
        probabilities, paths = [], []
        for i in range(self.params.num_trees):
            with self._on_device(i):
                data = dense
                if self.params.bagged_features:
                    if sparse is not None:
                        raise NotImplementedError("Feature bagging not supported with sparse features.")
                    data = self._bag_features(i, data)
                probs, path = self.trees[i].inference_graph(data, spec, sparse_features=sparse, **inference_args)
                probabilities.append(probs)
                paths.append(path)
        with self._on_device(0):
            every = ops.stack(probabilities, axis=1)
            means = ops.div(ops.reduce_sum(every, 1), self.params.num_trees, name="probabilities")
            tree_paths = ops.stack(paths, axis=1)
            squares = ops.div(ops.reduce_sum(every * every, 1), self.params.num_trees)
            return means, tree_paths, ops.maximum(0.0, squares - means * means)

    def average_size(self):
        """How many nodes trees have, on average."""
        sizes = []
        for i in range(self.params.num_trees):
            with self._on_device(i):
                sizes.append(self.trees[i].size())
        return ops.reduce_mean(ops.cast(ops.stack(sizes), dtypes.float32))

    def training_loss(self, features, labels, name="training_loss"):
        """The average size with a minus: a forest is trained for as long as it grows."""
        return ops.negative(self.average_size(), name=name)

    def validation_loss(self, features, labels):
        """The same."""
        return ops.negative(self.average_size())

    def feature_importances(self):
        """For each feature the share of nodes that ask for it."""
        counts = [self.trees[i].feature_usage_counts() for i in range(self.params.num_trees)]
        total = ops.reduce_sum(ops.stack(counts, 0), 0)
        return total / ops.reduce_sum(total)

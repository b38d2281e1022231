"""The solver: variables that ascend, losses, and the gap between the primal and the dual problem."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.linear_optimizer.table import ShardedTable
from stillflow.composites import summaries
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.training_loop.messages import log
from stillflow.variables.assignments import assign_add, scatter_add
from stillflow.variables.partitioned_variables import PartitionedVariable
from stillflow.variables.variable import Variable

_LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
_WEIGHTS = ("sparse_features_weights", "dense_features_weights")


@public(
    "contrib.linear_optimizer.SparseFeatureColumn",
    "python.estimator.canned.linear_optimizer.python.utils.sdca_ops._SparseFeatureColumn",
)
class SparseFeatureColumn:
    """A sparse column: for each entry an example, in ascending order, a feature and perhaps a value, else 1."""

    def __init__(self, example_indices, feature_indices, feature_values):
        with name_scope(None, "SparseFeatureColumn", [example_indices, feature_indices]):
            self.example_indices = convert_to_tensor(example_indices, name="example_indices", dtype=dtypes.int64)
            self.feature_indices = convert_to_tensor(feature_indices, name="feature_indices", dtype=dtypes.int64)
        self.feature_values = None
        if feature_values is not None:
            with name_scope(None, "SparseFeatureColumn", [feature_values]):
                self.feature_values = convert_to_tensor(feature_values, name="feature_values", dtype=dtypes.float32)


def _check(examples, variables, options):
    if not examples or not variables or not options:
        raise ValueError("examples, variables and options must all be specified.")
    if options["loss_type"] not in _LOSSES:
        raise ValueError("Unsupported loss_type: ", options["loss_type"])
    for given, names in ((examples, ("sparse_features", "dense_features")), (variables, _WEIGHTS)):
        for name in names:
            if not isinstance(given[name], list):
                raise ValueError(name + " must be a list.")


def _whole(variable):
    """A variable, which may come as its only part. Raises ValueError if it has several."""
    if not isinstance(variable, (list, PartitionedVariable)):
        return variable
    parts = list(variable)
    if len(parts) > 1:
        raise ValueError(f"SDCA trains variables that are not partitioned, but got {len(parts)} parts: {parts}")
    return parts[0]


@public("python.estimator.canned.linear_optimizer.python.utils.sdca_ops._SDCAModel")
class SdcaModel:
    """A linear model that is trained by stochastic dual coordinate ascent.

    Args:
      examples: a dict of sparse_features, a list of SparseFeatureColumn; dense_features, a list of matrices; and
        example_labels, example_weights and example_ids, vectors.
      variables: a dict of sparse_features_weights and dense_features_weights, lists of vectors.
      options: a dict of loss_type, symmetric_l1_regularization, symmetric_l2_regularization and, if wanted,
        num_loss_partitions, num_table_shards and adaptive.

    Raises ValueError for other arguments.
    """

    def __init__(self, examples, variables, options):
        _check(examples, variables, options)
        self._l1 = options["symmetric_l1_regularization"]
        self._l2 = self._checked_l2(options)
        self._examples = examples
        self._variables = {name: [_whole(variable) for variable in variables[name]] for name in _WEIGHTS}
        self._options = options
        # What ascends, before the weights are shrunk by the L1 regularization.
        self._unshrunk = {
            name: [
                Variable(
                    ops.zeros_like(variable.initialized_value(), dtypes.float32),
                    name=variable.op.name + "_unshrunk",
                )
                for variable in self._variables[name]
            ]
            for name in _WEIGHTS
        }
        self._hashtable = ShardedTable(
            key_dtype=dtypes.int64,
            value_dtype=dtypes.float32,
            num_shards=options.get("num_table_shards") or 1,
            default_value=[0.0, 0.0, 0.0, 0.0],
            empty_key=[0, 0],
            deleted_key=[1, 1],
        )
        summaries.scalar("approximate_duality_gap", self.approximate_duality_gap())
        summaries.scalar("examples_seen", self._hashtable.size())

    def _checked_l2(self, options):
        """The L2 regularization to train with. Raises ValueError for numbers that neither can be."""
        if options["symmetric_l2_regularization"] <= 0.0:
            raise ValueError("symmetric_l2_regularization should be positive.")
        if options["symmetric_l2_regularization"] <= 1.0:
            log().warning(
                "symmetric_l2_regularization for SDCA should typically be larger than for online optimization "
                "methods. Recommended value is of the order of the average L2 norm of the training examples."
            )
        if options["symmetric_l1_regularization"] < 0.0:
            raise ValueError("symmetric_l1_regularization should be non-negative.")
        return options["symmetric_l2_regularization"]

    def _each_weight(self):
        return [variable for name in _WEIGHTS for variable in self._variables[name]]

    def _l1_loss(self):
        with name_scope("sdca/l1_loss"):
            sums = [ops.reduce_sum(ops.abs(ops.cast(each, dtypes.float64))) for each in self._each_weight()]
            return self._l1 * ops.add_n(sums)

    def _l2_loss(self, l2):
        with name_scope("sdca/l2_loss"):
            sums = [ops.reduce_sum(ops.square(ops.cast(each, dtypes.float64))) for each in self._each_weight()]
            return l2 * ops.add_n(sums) / 2.0

    def _logits(self, examples):
        with name_scope("sdca/prediction"):
            batch_size = ops.shape(examples["example_ids"])[0]
            logits = ops.zeros([batch_size])
            for column, weights in zip(
                examples["sparse_features"], self._variables["sparse_features_weights"], strict=True
            ):
                products = ops.gather(_flat(weights), column.feature_indices)
                if column.feature_values is not None:
                    products = products * column.feature_values
                sums = ops.segment_sum(products, column.example_indices)
                logits += ops.pad(sums, [[0, batch_size - ops.shape(sums)[0]]])
            for features, weights in zip(
                examples["dense_features"], self._variables["dense_features_weights"], strict=True
            ):
                column = ops.expand_dims(_flat(weights), -1)
                logits += ops.squeeze(ops.matmul(convert_to_tensor(features), column))
        return logits

    def predictions(self, examples):
        """What the model says of examples: probabilities, expected counts or numbers, as its loss is."""
        logits = self._logits(examples)
        if self._options["loss_type"] == "logistic_loss":
            with name_scope("sdca/logistic_prediction"):
                return ops.sigmoid(logits)
        if self._options["loss_type"] == "poisson_loss":
            with name_scope("sdca/poisson_prediction"):
                return ops.exp(logits)
        return logits

    def minimize(self, global_step=None, name=None):
        """An operation that takes each example of the batch once.

        Args:
          global_step: a variable to add one to.
          name: of the scope.
        """
        with name_scope(name, "sdca/minimize"):
            columns = self._examples["sparse_features"]
            ids = ops.sdca_fprint(convert_to_tensor(self._examples["example_ids"]))
            states = self._hashtable.lookup(ids)
            sparse, dense = (self._unshrunk[each] for each in _WEIGHTS)
            indices = [
                ops.cast(ops.unique(ops.cast(column.feature_indices, dtypes.int32))[0], dtypes.int64)
                for column in columns
            ]
            weights = [
                ops.gather(convert_to_tensor(variable), each) for variable, each in zip(sparse, indices, strict=True)
            ]
            new_states, sparse_changes, dense_changes = ops.sdca_optimizer_v2(
                [column.example_indices for column in columns],
                [column.feature_indices for column in columns],
                [column.feature_values for column in columns if column.feature_values is not None],
                [convert_to_tensor(features) for features in self._examples["dense_features"]],
                convert_to_tensor(self._examples["example_weights"]),
                convert_to_tensor(self._examples["example_labels"]),
                indices,
                weights,
                [convert_to_tensor(variable) for variable in dense],
                states,
                loss_type=self._options["loss_type"],
                l1=self._l1,
                l2=self._l2,
                num_loss_partitions=self._options.get("num_loss_partitions", 1),
                num_inner_iterations=1,
                adaptive=self._options.get("adaptive", True),
            )
            with control_dependencies([new_states]):
                updates = [self._hashtable.insert(ids, new_states)]
                for variable, each, change in zip(sparse, indices, sparse_changes, strict=True):
                    updates.append(scatter_add(variable, each, change))
                for variable, change in zip(dense, dense_changes, strict=True):
                    updates.append(assign_add(variable, change))
            if global_step is None:
                return group(*updates)
            with control_dependencies(updates):
                return assign_add(global_step, 1, name=name).op

    def update_weights(self, train_op):
        """An operation that, after `train_op`, gives the variables of the model their values."""
        with control_dependencies([train_op]):
            updates = [
                variable.assign(convert_to_tensor(unshrunk))
                for name in _WEIGHTS
                for variable, unshrunk in zip(self._variables[name], self._unshrunk[name], strict=True)
            ]
        if self._l1 <= 0:
            return group(*updates)
        with control_dependencies(updates):
            return group(*[
                variable.assign(ops.sign(variable) * ops.maximum(0.0, ops.abs(variable) - self._l1 / self._l2))
                for variable in self._each_weight()
            ])  # fmt: skip

    def approximate_duality_gap(self):
        """How far the model may be from the best: the gap to the dual problem over all examples, by their weight."""
        with name_scope("sdca/approximate_duality_gap"):
            _, shards = self._hashtable.export_sharded()
            sums: list = []
            for values in shards:
                with control_dependencies(sums):
                    sums.append(ops.reduce_sum(ops.to_double(values), 0))
            total = ops.add_n(sums)
            regularization = self._l1_loss() + (2.0 * self._l2_loss(self._l2))
            return (total[1] + total[2] + regularization) / total[3]

    def unregularized_loss(self, examples):
        """The mean of the losses of examples, by their weights."""
        logits = ops.to_double(self._logits(examples))
        with name_scope("sdca/unregularized_loss"):
            labels = ops.to_double(convert_to_tensor(examples["example_labels"]))
            weights = ops.to_double(convert_to_tensor(examples["example_weights"]))
            losses = _losses(self._options["loss_type"], logits, labels)
            return ops.reduce_sum(losses * weights) / ops.reduce_sum(weights)

    def regularized_loss(self, examples):
        """unregularized_loss, and what weights cost, by the weights of examples."""
        weights = convert_to_tensor(examples["example_weights"])
        with name_scope("sdca/regularized_loss"):
            cost = self._l1_loss() + self._l2_loss(self._options["symmetric_l2_regularization"])
            return cost / ops.reduce_sum(ops.to_double(weights)) + self.unregularized_loss(examples)


def _flat(weights):
    """Weights as a vector; those of tf.contrib's columns are one column of a matrix."""
    weights = convert_to_tensor(weights)
    return weights if weights.shape.ndims == 1 else ops.reshape(weights, [-1])


def _losses(loss_type, logits, labels):
    if loss_type == "logistic_loss":
        return ops.relu(logits) - logits * labels + ops.log1p(ops.exp(-ops.abs(logits)))
    if loss_type == "poisson_loss":
        return ops.exp(logits) - labels * logits
    if loss_type == "squared_loss":
        return ops.square(labels - logits) / 2.0
    # Also of the smooth hinge, of which TensorFlow reports this.
    return ops.relu(1.0 - (2.0 * labels - 1.0) * logits)

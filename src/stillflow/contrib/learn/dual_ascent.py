"""Linear models that an SDCAOptimizer trains, and SVM, which is one."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.linear_optimizer.linear_sdca import UpdateWeights
from stillflow.contrib.layers.column_inputs import transform_features, weighted_sum_from_feature_columns
from stillflow.contrib.layers.dense_columns import real_valued_column
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.heads import BinaryHead, RegressionHead, SvmHead, binary_svm_head
from stillflow.contrib.linear_optimizer.sdca_optimizer import SDCAOptimizer
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.sparse_tensor import is_sparse
from stillflow.training.global_step import get_global_step
from stillflow.variables.scope import variable_scope

_BIAS = "tf_virtual_bias_column"
_LOSSES: dict[type, str] = {SvmHead: "hinge_loss", BinaryHead: "logistic_loss", RegressionHead: "squared_loss"}


def _loss_of(head):
    """The optimizer's name of a head's loss. Raises ValueError for a head that it cannot train."""
    loss = next((loss for kind, loss in _LOSSES.items() if isinstance(head, kind)), None)
    if loss is None:
        raise ValueError(f"Unsupported head type: {head}")
    if head.logits_dimension != 1:
        raise ValueError("SDCA only applies for logits_dimension=1.")
    return loss


def _add_bias(features, columns_to_variables, bias):
    """Makes the bias the weight of a column of ones. Raises ValueError if the size of the batch is not known."""
    for tensor in features.values():
        first = tensor[0] if isinstance(tensor, tuple) and not is_sparse(tensor) else tensor
        if not is_sparse(first):
            size = ops.shape(first)[0]
            break
        known = constant_value(first.dense_shape)
        if known is not None:
            size = known[0]
            break
    else:
        raise ValueError("Could not infer batch size from input features.")
    column = real_valued_column(_BIAS)
    features[column] = ops.ones([size, 1], dtype=dtypes.float32)
    columns_to_variables[column] = [bias]


def dual_ascent_model_fn(features, labels, mode, params):
    """The model function of a linear model with an SDCAOptimizer.

    Args:
      features, labels, mode: as model functions have them.
      params: "head", "feature_columns" and "optimizer".

    Raises ValueError for heads that it cannot train, and for a column with the bias's name.
    """
    head, columns, optimizer = params["head"], params["feature_columns"], params["optimizer"]
    loss = _loss_of(head)
    if not columns:
        raise ValueError("feature_columns can't be empty.")
    if any(column.name == _BIAS for column in columns):
        raise ValueError(f"{_BIAS} is a reserved column name.")
    values = list(features.values())
    with variable_scope("linear", values=values, partitioner=optimizer.partitioner) as scope:
        features = {**features, **transform_features(features, columns)}
        logits, variables, bias = weighted_sum_from_feature_columns(features, columns, num_outputs=1, scope=scope)
        _add_bias(features, variables, bias)
    hooks = []

    def train(_loss):
        step = get_global_step()
        model, train_op = optimizer.get_train_step(variables, head.weight_column_name, loss, features, labels, step)
        hooks.append(UpdateWeights(model, train_op))
        return train_op

    named = {key: value for key, value in features.items() if isinstance(key, str)}
    found = head.create_model_fn_ops(features=named, labels=labels, mode=mode, train_op_fn=train, logits=logits)
    return found._replace(training_chief_hooks=[*found.training_chief_hooks, *hooks])


@public("contrib.learn.SVM")
class SVM(Estimator):
    """A linear support vector machine of two classes, trained by an SDCAOptimizer.

    Args:
      example_id_column: the feature with the names of examples, a string vector.
      feature_columns: of tf.contrib.layers.
      weight_column_name: the feature that is the weight of examples, or None.
      model_dir, config, feature_engineering_fn: see Estimator.
      l1_regularization, l2_regularization: see SDCAOptimizer.
      num_loss_partitions: how many training steps run at the same time.
      kernels: None.

    Raises ValueError for kernels.
    """

    def __init__(
        self, example_id_column, feature_columns, weight_column_name=None, model_dir=None, l1_regularization=0.0,
        l2_regularization=0.0, num_loss_partitions=1, kernels=None, config=None, feature_engineering_fn=None,
    ):  # fmt: skip
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        params = {
            "head": binary_svm_head(weight_column_name=weight_column_name, enable_centered_bias=False),
            "feature_columns": feature_columns,
            "optimizer": SDCAOptimizer(
                example_id_column,
                num_loss_partitions=num_loss_partitions,
                symmetric_l1_regularization=l1_regularization,
                symmetric_l2_regularization=l2_regularization,
            ),
        }
        super().__init__(dual_ascent_model_fn, model_dir, config, params, feature_engineering_fn)

    def predict_classes(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The classes alone; see Estimator.predict."""
        return self._of_key("classes", x, input_fn, batch_size, as_iterable)

    def predict_proba(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The probabilities alone, of which a support vector machine has none: raises ValueError."""
        return self._of_key("probabilities", x, input_fn, batch_size, as_iterable)

    def _of_key(self, key, x, input_fn, batch_size, as_iterable):
        found = self.predict(x=x, input_fn=input_fn, batch_size=batch_size, outputs=[key], as_iterable=as_iterable)
        return (row[key] for row in found) if as_iterable else found[key]

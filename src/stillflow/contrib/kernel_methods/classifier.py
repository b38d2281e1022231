"""KernelLinearClassifier: a linear classifier of mapped features."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.kernel_methods.mappers import DenseKernelMapper
from stillflow.contrib.layers.dense_columns import _RealValuedColumn, real_valued_column
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.heads import multi_class_head
from stillflow.contrib.learn.modes import PredictionKey
from stillflow.contrib.learn.networks import linear_model_fn
from stillflow.names import public
from stillflow.platform import logging


@public("contrib.kernel_methods.KernelLinearClassifier")
class KernelLinearClassifier(Estimator):
    """A linear classifier of features, and of what mappers make of some of them.

    Args:
      feature_columns: the columns of features that are used as they are.
      model_dir: the directory of checkpoints.
      n_classes: the number of classes, an int.
      weight_column_name: the feature with the weights of examples, if any.
      optimizer: an optimizer, its name, or a function that makes one; FTRL by default.
      kernel_mappers: {column of real values: list of DenseKernelMappers}.
      config: a RunConfig.

    Raises:
      ValueError: if there are neither columns nor mappers, for less than two classes, for other mappers.
    """

    def __init__(
        self, feature_columns=None, model_dir=None, n_classes=2, weight_column_name=None, optimizer=None,
        kernel_mappers=None, config=None,
    ):  # fmt: skip
        head = multi_class_head(n_classes=n_classes, weight_column_name=weight_column_name)
        if not feature_columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        mappers = [mapper for found in (kernel_mappers or {}).values() for mapper in found]
        if not all(isinstance(mapper, DenseKernelMapper) for mapper in mappers):
            raise ValueError("Invalid kernel mappers.")
        params = {
            "head": head,
            "feature_columns": feature_columns or [],
            "optimizer": optimizer,
            "kernel_mappers": kernel_mappers,
        }
        super().__init__(model_fn=_mapped_model_fn, model_dir=model_dir, config=config, params=params)

    def predict_classes(self, input_fn=None):
        """A generator of the classes of examples."""
        return self._predicted(PredictionKey.CLASSES, input_fn)

    def predict_proba(self, input_fn=None):
        """A generator of the probabilities of the classes of examples."""
        return self._predicted(PredictionKey.PROBABILITIES, input_fn)

    def _predicted(self, key, input_fn):
        return (row[key] for row in self.predict(input_fn=input_fn, outputs=[key]))


def _mapped_model_fn(features, labels, mode, params, config=None):
    columns = params["feature_columns"]
    features, params["feature_columns"] = mapped_features_and_columns(features, columns, params["kernel_mappers"])
    return linear_model_fn(features, labels, mode, params, config)


@public("contrib.kernel_methods.python.kernel_estimators._update_features_and_columns")
def mapped_features_and_columns(features, feature_columns, kernel_mappers_dict):
    """({name: feature}, the set of columns), with what mappers make of columns of real values beside the rest.

    What comes of a column gets its name and "_MAPPED".
    """
    if kernel_mappers_dict is None:
        return features, feature_columns
    features, columns = dict(features), set(feature_columns)
    for column, mappers in kernel_mappers_dict.items():
        if not isinstance(column, _RealValuedColumn):
            logging.warning(
                "Updates are currently supported on RealValuedColumns only. Metadata for FeatureColumn %s will "
                "not be updated.",
                column.name,
            )
            continue
        name = column.name + "_MAPPED"
        columns.add(real_valued_column(name, sum(mapper.output_dim for mapper in mappers)))
        features[name] = ops.concat([mapper.map(features[column.name]) for mapper in mappers], 1)
    return features, columns

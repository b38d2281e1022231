"""What tf.io.parse_example is to read for a classifier or regressor: columns, labels and weights."""

from __future__ import annotations

from stillflow.composites.parsing import FixedLenFeature
from stillflow.feature_columns.numeric import NumericColumn, numeric_column
from stillflow.feature_columns.parse_example_spec import make_parse_example_spec
from stillflow.graph import dtypes
from stillflow.names import public


@public(
    "estimator.classifier_parse_example_spec",
    "python.estimator.canned.parsing_utils.classifier_parse_example_spec_v2",
)
def classifier_parse_example_spec(
    feature_columns, label_key, label_dtype=dtypes.int64, label_default=None, weight_column=None
):
    """{key: FixedLenFeature or VarLenFeature} of columns, labels and weights.

    Args:
      feature_columns: the columns.
      label_key: the key of the label.
      label_dtype: tf.int64, or tf.string with a vocabulary of labels.
      label_default: the label of examples that have none.
      weight_column: a numeric column with the weights of examples, or its key.

    Raises ValueError if the label or the weight is a feature, too, and for another column.
    """
    return _with_label(feature_columns, label_key, FixedLenFeature((1,), label_dtype, label_default), weight_column)


@public(
    "estimator.regressor_parse_example_spec", "python.estimator.canned.parsing_utils.regressor_parse_example_spec_v2"
)
def regressor_parse_example_spec(
    feature_columns, label_key, label_dtype=dtypes.float32, label_default=None, label_dimension=1, weight_column=None
):
    """{key: FixedLenFeature or VarLenFeature} of columns, labels [label_dimension] and weights.

    As classifier_parse_example_spec.
    """
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def _with_label(feature_columns, label_key, label, weight_column):
    spec = make_parse_example_spec(feature_columns)
    if label_key in spec:
        raise ValueError(f"label should not be used as feature. label_key: {label_key}, features: {spec.keys()}")
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(weight_column)} value: {weight_column}"
        )
    if weight_column.key in spec:
        raise ValueError(
            f"weight_column should not be used as feature. weight_column: {weight_column.key}, features: "
            f"{spec.keys()}"
        )
    spec.update(weight_column.parse_example_spec)
    return spec

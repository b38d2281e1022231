"""tf.feature_column.make_parse_example_spec: what tf.parse_example is to read for columns."""

from __future__ import annotations

from stillflow.feature_columns.columns import FeatureColumn, OldFeatureColumn, spelled
from stillflow.names import public


@public("feature_column.make_parse_example_spec")
def make_parse_example_spec(feature_columns):
    """{name of a raw feature: tf.FixedLenFeature or tf.VarLenFeature} of all columns.

    Raises ValueError for what is no column, and columns that read a feature in different ways.
    """
    return _merged(feature_columns, OldFeatureColumn, lambda column: column._parse_example_spec)


@public("compat.v2.feature_column.make_parse_example_spec")
@public("python.feature_column.feature_column_v2.make_parse_example_spec_v2")
def make_parse_example_spec_v2(feature_columns):
    """The same, of columns that know the newer spelling."""
    return _merged(feature_columns, FeatureColumn, lambda column: column.parse_example_spec)


def _merged(feature_columns, kind, spec_of):
    result: dict = {}
    for column in feature_columns:
        if not isinstance(column, kind):
            raise ValueError(f"All feature_columns must be {spelled(kind)} instances. Given: {column}")
        spec = spec_of(column)
        for key, value in spec.items():
            if key in result and value != result[key]:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {value} and {result[key]}"
                )
        result.update(spec)
    return result

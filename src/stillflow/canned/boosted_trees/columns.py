"""Feature columns as what boosted trees ask for: one vector of bucket numbers for each feature."""

from __future__ import annotations

from stillflow import ops
from stillflow.feature_columns.columns import OldCategoricalColumn, OldDenseColumn, is_feature_column_v2
from stillflow.feature_columns.dense_categories import IndicatorColumn
from stillflow.feature_columns.numeric import BucketizedColumn
from stillflow.feature_columns.state import ScopedVariables
from stillflow.feature_columns.transformation import transform_features, transform_features_v2
from stillflow.names import public

_LEAST_BUCKETS = 2


def _shape_of(column):
    return column.variable_shape if is_feature_column_v2([column]) else column._variable_shape


def _width(column):
    """How many features a column of numbers has."""
    shape = _shape_of(column)
    return shape[0] if shape.as_list() else 1


def _bucket_count(column):
    return column.categorical_column._num_buckets


def _refused(column):
    """The error for a column that trees cannot ask."""
    if isinstance(column, OldCategoricalColumn):
        return ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
    return ValueError("Got unexpected feature column type")


@public("python.estimator.canned.boosted_trees._is_float_column")
def is_float_column(column):
    """Whether a column has numbers that are to be put into buckets. Raises ValueError if it has no values."""
    if isinstance(column, (OldCategoricalColumn, BucketizedColumn, IndicatorColumn)):
        return False
    if isinstance(column, OldDenseColumn):
        return column.dtype.is_floating  # type: ignore[attr-defined]
    raise ValueError(f"Encountered unexpected column {column}")


@public("python.estimator.canned.boosted_trees._get_float_feature_columns")
def float_columns_of(sorted_feature_columns):
    """The columns of numbers that are to be put into buckets."""
    return [column for column in sorted_feature_columns if is_float_column(column)]


@public("python.estimator.canned.boosted_trees._apply_feature_transformations")
def transformed_columns(features, feature_columns):
    """{column: what it makes of the features}."""
    new = [column for column in feature_columns if is_feature_column_v2([column])]
    old = [column for column in feature_columns if not is_feature_column_v2([column])]
    found = transform_features_v2(features, new, ScopedVariables(trainable=False)) if new else {}
    if old:
        found.update(transform_features(features, old))
    return found


@public("python.estimator.canned.boosted_trees._get_transformed_features")
def transformed_features(features, sorted_feature_columns, bucket_boundaries=None):
    """A vector for each feature: bucket numbers, or numbers where there are no boundaries.

    Args:
      features: {name: tensor}.
      sorted_feature_columns: indicator, bucketized and numeric columns, by name.
      bucket_boundaries: {name of a column of numbers: the boundaries of each of its features}.

    Raises ValueError for other columns, and for features of a higher rank.
    """
    return transformed_and_known_features(features, sorted_feature_columns, sorted_feature_columns, bucket_boundaries)


def transformed_and_known_features(features, columns, all_columns, bucket_boundaries=None, known=None):
    """transformed_features of all columns, of which some are known: {column: what it makes of the features}."""
    transformed = transformed_columns(features, columns)
    if columns != all_columns:
        transformed.update(known or {})
    found = []
    for column in all_columns:
        found += _vectors(column, transformed[column], features, bucket_boundaries)
    return found


def _vectors(column, tensor, features, bucket_boundaries):
    if isinstance(column, BucketizedColumn):
        vector = ops.squeeze(tensor, axis=1)
        if vector.shape.ndims > 1:
            name = column.source_column.name
            raise ValueError(
                f"For now, only supports features equivalent to rank 1 but column `{name}` got: "
                f"{features[name].shape}"
            )
        return [vector]
    if isinstance(column, IndicatorColumn):
        name = column.categorical_column.name
        tensor = ops.to_int32(tensor)
        if tensor.shape.ndims > 2:
            raise ValueError(
                f"Rank of indicator column must be no more than 2, but column `{name}` got: {features[name].shape}"
            )
        return ops.unstack(tensor, axis=1)
    if not isinstance(column, OldDenseColumn):
        raise _refused(column)
    if _shape_of(column).rank > 1:
        raise ValueError(
            f"For now, we only support Dense column with rank of 1, but column `{column.name}` got: "
            f"{column.variable_shape}"
        )
    unstacked = ops.unstack(tensor, axis=1)
    if not bucket_boundaries:
        return unstacked
    return ops.boosted_trees_bucketize(unstacked, bucket_boundaries[column.name])


@public("python.estimator.canned.boosted_trees._group_features_by_num_buckets")
def features_by_bucket_count(sorted_feature_columns, num_quantiles):
    """(numbers of buckets, for each the features that have as many).

    All bucketized columns have as many buckets as the largest needs, all columns of numbers `num_quantiles`.
    """
    bucketized: list[int] = []
    groups: dict[int, list[int]] = {}
    most, feature = _LEAST_BUCKETS, 0
    for column in sorted_feature_columns:
        if isinstance(column, IndicatorColumn):
            count = _bucket_count(column)
            groups.setdefault(_LEAST_BUCKETS, []).extend(range(feature, feature + count))
        elif isinstance(column, BucketizedColumn):
            count = 1
            most = max(most, len(column.boundaries) + 1)
            bucketized.append(feature)
        elif isinstance(column, OldDenseColumn):
            count = _width(column)
            groups.setdefault(num_quantiles, []).extend(range(feature, feature + count))
        else:
            raise _refused(column)
        feature += count
    if most in groups or bucketized:
        groups.setdefault(most, []).extend(bucketized)
    return list(groups), list(groups.values())


@public("python.estimator.canned.boosted_trees._generate_feature_col_name_mapping")
def names_of_features(sorted_feature_columns):
    """The name of the column that each feature is of."""
    names = []
    for column in sorted_feature_columns:
        if isinstance(column, IndicatorColumn):
            names += [column.categorical_column.name] * _bucket_count(column)
        elif isinstance(column, BucketizedColumn):
            names.append(column.name)
        elif isinstance(column, OldDenseColumn):
            names += [column.name] * _width(column)
        else:
            raise _refused(column)
    return names


@public("python.estimator.canned.boosted_trees._calculate_num_features")
def count_features(sorted_feature_columns):
    """How many features columns have."""
    return len(names_of_features(sorted_feature_columns))


def boundaries_of_columns(float_columns, bucket_boundaries):
    """{name of a column of numbers: the boundaries of each of its features}."""
    found, first = {}, 0
    for column in float_columns:
        found[column.name] = bucket_boundaries[first : first + _width(column)]
        first += _width(column)
    return found

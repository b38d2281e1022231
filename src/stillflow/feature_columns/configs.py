"""Columns as plain values that make them again: what layers of columns are saved as."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.layers.core import initializers, serialization
from stillflow.names import public

# {name: class} of the columns of this package; each adds itself.
COLUMNS: dict = {}


@public("python.feature_column.serialization.serialize_feature_column")
def serialize_feature_column(column):
    """{"class_name": ..., "config": ...} of a column; a name of a feature stays as it is.

    Raises ValueError for anything else.
    """
    if isinstance(column, str):
        return column
    if not hasattr(column, "_get_config"):
        raise ValueError(f"Instance: {column} is not a FeatureColumn")
    return {"class_name": type(column).__name__, "config": column._get_config()}


@public("python.feature_column.serialization.deserialize_feature_column")
def deserialize_feature_column(config, custom_objects=None, columns_by_name=None):
    """The column of what `serialize_feature_column` returned.

    Args:
      config: that.
      custom_objects: {name: class or function} of the program's own.
      columns_by_name: columns made so far, of which those are not made again.

    Raises ValueError for a class that is not known, or is not of columns.
    """
    if isinstance(config, str):
        return config
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    cls = {**COLUMNS, **serialization.custom_objects, **(custom_objects or {})}.get(config["class_name"])
    if cls is None:
        raise ValueError(f"Unknown feature_column_v2: {config['class_name']}")
    if not hasattr(cls, "_from_config"):
        raise ValueError(f"Expected FeatureColumn class, instead found: {cls}")
    made = cls._from_config(config["config"], custom_objects=custom_objects, columns_by_name=columns_by_name)
    return ({} if columns_by_name is None else columns_by_name).setdefault(name_with_class(made), made)


@public("python.feature_column.serialization.serialize_feature_columns")
def serialize_feature_columns(columns):
    """The same of a list of columns."""
    return [serialize_feature_column(column) for column in columns]


@public("python.feature_column.serialization.deserialize_feature_columns")
def deserialize_feature_columns(configs, custom_objects=None):
    """The columns of what `serialize_feature_columns` returned; what is in several of them is one object."""
    columns_by_name: dict = {}
    return [deserialize_feature_column(config, custom_objects, columns_by_name) for config in configs]


@public("python.feature_column.serialization._column_name_with_class_name")
def name_with_class(column):
    """What a column is known by among others of the same name."""
    return f"{type(column).__name__}:{column.name}"


# ---- The fields of columns ----------------------------------------------------------------------------------------

_COLUMN_FIELDS = ("categorical_column", "source_column")


def config_of(column):
    """{field: plain value} of a column that is a named tuple."""
    config = dict(zip(column._fields, column, strict=True))
    for field, value in config.items():
        if field in _COLUMN_FIELDS:
            config[field] = serialize_feature_column(value)
        elif field == "keys":
            config[field] = tuple(serialize_feature_column(key) for key in value)
        elif field == "dtype":
            config[field] = value.name
        elif field in ("normalizer_fn", "initializer"):
            config[field] = serialization.serialize(value)
    return config


def from_config(cls, config, custom_objects, columns_by_name):
    """A column of what `config_of` returned. Raises ValueError for other fields."""
    if set(config) != set(cls._fields):
        raise ValueError(f"Invalid config: {config}, expected keys: {cls._fields}")
    fields = {}
    for field, value in config.items():
        if field in _COLUMN_FIELDS:
            value = deserialize_feature_column(value, custom_objects, columns_by_name)
        elif field == "keys":
            value = tuple(deserialize_feature_column(key, custom_objects, columns_by_name) for key in value)
        elif field == "dtype":
            value = dtypes.as_dtype(value)
        elif field == "normalizer_fn" and value is not None:
            value = serialization.deserialize(value, {}, "function", custom_objects)
        elif field == "initializer" and isinstance(value, (dict, str)):
            value = serialization.deserialize(value, initializers.KNOWN, "initializer", custom_objects)
        elif isinstance(value, list):  # JSON has no tuples
            value = tuple(value)
        fields[field] = value
    return cls(**fields)

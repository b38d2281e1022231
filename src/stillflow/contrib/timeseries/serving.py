"""Input of exported models of time series: placeholders, or Examples that hold whole series."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.parsing import FixedLenFeature, parse_example
from stillflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from stillflow.contrib.timeseries.head import state_to_dictionary
from stillflow.estimator.receivers import ServingInputReceiver
from stillflow.feature_columns.numeric import numeric_column
from stillflow.feature_columns.parse_example_spec import make_parse_example_spec
from stillflow.graph import dtypes, nest
from stillflow.graph.graph import Graph
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.ops.array.placeholder import placeholder, placeholder_with_default

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def state_placeholders(model, batch_size, static_batch_size=None):
    """{name: placeholder} of the parts of a state, which are those before a series if nothing is fed.

    Args:
      model: the model.
      batch_size: how many series there are, a scalar.
      static_batch_size: the same, if it is known.
    """
    with Graph().as_default():
        model.initialize_graph()
        start = nest.map_structure(lambda part: constant_value(ops.zeros_like(part)), model.get_start_state())
    found = {}
    for name, part in state_to_dictionary(start).items():
        times = ops.concat([batch_size[None], ops.ones(len(part.shape), dtype=dtypes.int32)], axis=0)
        found[name] = placeholder_with_default(
            ops.tile(part[None, ...], times),
            name=name,
            shape=TensorShape((static_batch_size,)).concatenate(part.shape),
        )
    return found


def raw_receiver(model, batch_size=None, series_length=None):
    """The ServingInputReceiver of placeholders for times, values, other features and the state."""
    times = placeholder(dtypes.int64, [batch_size, series_length], name=_TIMES)
    zeros = ops.zeros([batch_size or 0, series_length or 0, model.num_features], dtype=model.dtype)
    found = {
        _TIMES: times,
        _VALUES: placeholder_with_default(zeros, name=_VALUES, shape=(batch_size, series_length, model.num_features)),
    }
    for name, (shape, dtype) in _others(model).items():
        found[name] = placeholder(dtype, [batch_size, series_length, *shape], name=name)
    found.update(state_placeholders(model, ops.shape(times)[0], batch_size))
    return ServingInputReceiver(found, found)


def _others(model):
    """{name: (shape for a step, type)} of the features that columns are made of."""
    if not model.exogenous_feature_columns:
        return {}
    with Graph().as_default():
        features = parse_example(
            placeholder(dtypes.string, [None]), make_parse_example_spec(model.exogenous_feature_columns)
        )
        return {
            name: (value.shape.with_rank_at_least(1).as_list()[1:], value.dtype) for name, value in features.items()
        }


def parsing_receiver(model, filtering_length, prediction_length, batch_size, values_dtype, truncate_values):
    """The ServingInputReceiver of Examples; see build_one_shot_parsing_serving_input_receiver_fn."""
    total = filtering_length + prediction_length
    spec = make_parse_example_spec([
        *model.exogenous_feature_columns,
        numeric_column(key=_TIMES, dtype=dtypes.int64),
        numeric_column(key=_VALUES, dtype=values_dtype or dtypes.float32, shape=(model.num_features,)),
    ])  # fmt: skip
    values_length = total if truncate_values else filtering_length
    parsed = {
        name: _of_series(name, each, values_length if name == _VALUES else total) for name, each in spec.items()
    }
    examples = placeholder(dtypes.string, [batch_size], name="input")
    features = parse_example(serialized=examples, features=parsed)
    features[_TIMES] = ops.squeeze(features[_TIMES], axis=-1)
    features[_VALUES] = ops.cast(features[_VALUES], dtype=model.dtype)[:, :filtering_length]
    features.update(state_placeholders(model, ops.shape(features[_TIMES])[0], batch_size))
    return ServingInputReceiver(features, {"examples": examples})


def _of_series(name, spec, length):
    """What tf.parse_example needs to know of a feature of as many steps. Raises ValueError for lists of numbers."""
    if isinstance(spec, FixedLenFeature):
        return spec._replace(shape=(length, *spec.shape))
    if spec.dtype == dtypes.string:
        return FixedLenFeature(shape=(length,), dtype=dtypes.string)
    raise ValueError(f"VarLenFeatures not supported, got {spec} for key {name}")

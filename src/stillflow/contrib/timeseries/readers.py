"""Series from arrays and files: tf.contrib.timeseries.NumpyReader, CSVReader and TFExampleReader."""

from __future__ import annotations

import abc

import numpy as np

from stillflow import ops
from stillflow.composites.parsing import parse_example
from stillflow.contrib.timeseries.continuations import canonicalize_times_or_steps_from_output
from stillflow.contrib.timeseries.feature_keys import FilteringResults, PredictionFeatures, TrainEvalFeatures
from stillflow.estimator.queue_inputs import numpy_input_fn
from stillflow.graph import dtypes, nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor
from stillflow.resources.readers import TextLineReader, TFRecordReader
from stillflow.training.input_producers import limit_epochs, string_input_producer
from stillflow.variables.assignments import assign, is_variable_initialized
from stillflow.variables.variable import Variable

_RECORDS = 4096
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


@public("contrib.timeseries.predict_continuation_input_fn")
def predict_continuation_input_fn(evaluation, steps=None, times=None, exogenous_features=None):
    """An input function for predictions that go on where an evaluation has ended.

    Args:
      evaluation: what `evaluate` has returned.
      steps: how many steps to predict, or
      times: their times, [steps] or [batch, steps].
      exogenous_features: {name: array [batch, steps, ...]} of other features.

    Raises ValueError for both times and steps or none, and for times that are not after the evaluation.
    """
    features = {
        PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE],
        PredictionFeatures.TIMES: canonicalize_times_or_steps_from_output(times, steps, evaluation),
        **(exogenous_features or {}),
    }

    def input_fn():
        def once(value):
            return limit_epochs(value, num_epochs=1)

        return {name: nest.map_structure(once, values) for name, values in features.items()}, None

    return input_fn


@public("contrib.timeseries.python.timeseries.input_pipeline.TimeSeriesReader")
class TimeSeriesReader:
    """Gives a series in parts, or all of it."""

    def check_dataset_size(self, minimum_dataset_size):
        """Raises ValueError for less steps, if it is known how many there are."""

    @abc.abstractmethod
    def read(self):
        """{name: tensor [steps, ...]}: steps in order, the first ones again behind the last."""

    @abc.abstractmethod
    def read_full(self):
        """{name: tensor [steps, ...]}: all steps."""


@public("contrib.timeseries.NumpyReader")
class NumpyReader(TimeSeriesReader):
    """Gives the series that arrays are.

    Args:
      data: {name: array}, with "times" [steps], ascending, and "values" [steps] or [steps, features].
      read_num_records_hint: how many steps `read` gives at once.

    Raises ValueError for arrays that do not fit.
    """

    def __init__(self, data, read_num_records_hint=_RECORDS):
        self._features = canonicalize_numpy_data(data, require_single_batch=True)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size):
        size = self._features[_TIMES].shape[1]
        if size < minimum_dataset_size:
            raise ValueError(
                f"A TimeSeriesInputFn is configured to create windows of size {minimum_dataset_size}, but only "
                f"{size} records were available in the dataset. Either decrease the window size or "
                "provide more records."
            )

    def read(self):
        return numpy_input_fn(
            x={name: np.squeeze(value, axis=0) for name, value in self._features.items()},
            batch_size=self._read_num_records_hint,
            num_epochs=None,
            shuffle=False,
        )()

    def read_full(self):
        found = numpy_input_fn(x=self._features, batch_size=1, num_epochs=None, queue_capacity=2, shuffle=False)()
        return {name: ops.squeeze(value, axis=0) for name, value in found.items()}


# ---- Files --------------------------------------------------------------------------------------------------


@public("contrib.timeseries.python.timeseries.input_pipeline.ReaderBaseTimeSeriesParser")
class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """Gives the series that the records of files are.

    Args:
      filenames: a path, or a list of paths.
      read_num_records_hint: how many steps `read` gives at most at once.
    """

    def __init__(self, filenames, read_num_records_hint=_RECORDS):
        self._filenames = filenames
        self._read_num_records_hint = read_num_records_hint

    @abc.abstractmethod
    def _get_reader(self):
        """A reader of records."""

    @abc.abstractmethod
    def _process_records(self, lines):
        """{name: tensor [steps, ...]} of records [steps]."""

    def _get_filename_queue(self, epoch_limit):
        """(a queue of paths, the variable that counts how often they came). It ends after so many times."""
        count = Variable(
            constant(0, dtype=dtypes.int64),
            name="epoch_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        names = ops.reshape(convert_to_tensor(self._filenames), [-1])
        counted = cond(
            is_variable_initialized(count),
            lambda: count.count_up_to(epoch_limit),
            lambda: constant(0, dtype=dtypes.int64),
        )
        with control_dependencies([counted]):
            names = ops.identity(names)
        return string_input_producer(names, shuffle=False, capacity=1), count

    def read(self):
        queue, count = self._get_filename_queue(epoch_limit=self._read_num_records_hint)
        reader = self._get_reader()
        with control_dependencies([assign(count, 0)]):
            _, records = reader.read_up_to(queue, self._read_num_records_hint)
        return self._process_records(records)

    def read_full(self):
        reader = self._get_reader()
        queue, count = self._get_filename_queue(epoch_limit=2)
        with control_dependencies([assign(count, 0)]):
            first_key, first_value = reader.read_up_to(queue, 1)

        def is_left(key, *_):
            return ops.not_equal(ops.squeeze(key, axis=0), ops.squeeze(first_key, axis=0))

        def read_one(_key, value, index, found):
            key, next_value = reader.read_up_to(queue, 1)
            key.set_shape([1])
            next_value.set_shape([1])
            return key, next_value, index + 1, found.write(index, value)

        first_read = [constant([""]), first_value, 0]
        array = TensorArray(dtype=dtypes.string, size=0, dynamic_size=True)
        _, _, _, found = while_loop(is_left, read_one, [*first_read, array])
        records = found.concat()
        with control_dependencies([records]):
            reset = reader.reset()
        with control_dependencies([reset]):
            records = ops.identity(records)
        return self._process_records(records)


def _check_columns(names):
    for name in (_TIMES, _VALUES):
        if name not in names:
            raise ValueError(f"'{name}' is a required column.")


@public("contrib.timeseries.CSVReader")
class CSVReader(ReaderBaseTimeSeriesParser):
    """Gives the series that lines of files are, with values between commas.

    Args:
      filenames: a path, or a list of paths.
      column_names: the features that columns are; one that stands there several times has as many numbers.
      column_dtypes: the types of columns; by default int64 for times, float32 for others.
      skip_header_lines: how many lines to leave out.
      read_num_records_hint: how many steps `read` gives at most at once.

    Raises ValueError without times and values, for two columns of times, and another number of types.
    """

    def __init__(
        self, filenames, column_names=(_TIMES, _VALUES), column_dtypes=None, skip_header_lines=None,
        read_num_records_hint=_RECORDS,
    ):  # fmt: skip
        _check_columns(column_names)
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names (got "
                f"column_dtypes={column_dtypes} and column_names={column_names})."
            )
        if list(column_names).count(_TIMES) != 1:
            raise ValueError(f"Got more than one times column ('{_TIMES}'), but exactly one is required.")
        self._column_names = column_names
        self._column_dtypes = column_dtypes
        self._skip_header_lines = skip_header_lines
        super().__init__(filenames=filenames, read_num_records_hint=read_num_records_hint)

    def _get_reader(self):
        return TextLineReader(skip_header_lines=self._skip_header_lines)

    def _process_records(self, lines):
        if self._column_dtypes is None:
            defaults = [(ops.zeros([], dtypes.int64),) if name == _TIMES else () for name in self._column_names]
        else:
            defaults = [(ops.zeros([], dtype),) for dtype in self._column_dtypes]
        columns: dict[str, list] = {}
        for name, value in zip(self._column_names, ops.decode_csv(lines, defaults), strict=True):
            columns.setdefault(name, []).append(value)
        return {name: values[0] if name == _TIMES else ops.stack(values, axis=1) for name, values in columns.items()}


@public("contrib.timeseries.python.timeseries.input_pipeline.TFExampleReader")
class TFExampleReader(ReaderBaseTimeSeriesParser):
    """Gives the series that Examples in TFRecord files are, one for a step.

    Args:
      filenames: a path, or a list of paths.
      features: {name: what tf.parse_example needs to know}, with times and values.

    Raises ValueError without times and values.
    """

    def __init__(self, filenames, features):
        _check_columns(features)
        self._features = features
        super().__init__(filenames=filenames)

    def _get_reader(self):
        return TFRecordReader()

    def _process_records(self, lines):
        return parse_example(serialized=lines, features=self._features)


# ---- Arrays -------------------------------------------------------------------------------------------------


@public("contrib.timeseries.python.timeseries.input_pipeline._canonicalize_numpy_data")
def canonicalize_numpy_data(data, require_single_batch):
    """{name: array [batch, steps, ...]} of arrays of one step, of steps, or of a batch of series.

    Raises ValueError without times or values, for other shapes, and, if one is wanted, for several series.
    """
    features = {name: np.array(value) for name, value in data.items()}
    if _TIMES not in features or _VALUES not in features:
        raise ValueError(f"{_TIMES} and {_VALUES} are required features.")
    rank = features[_TIMES].ndim
    shape = features[_TIMES].shape
    for name, value in features.items():
        if value.shape[:rank] != shape:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the times feature. Got shape "
                f"{value.shape} for feature '{name}', but shape {shape} for '{_TIMES}'"
            )
    if rank > 2:
        raise ValueError(
            "Got an unexpected number of dimensions for times. Was expecting at most two ([batch size, series "
            f"length]), but got shape {shape}."
        )
    if rank < 2:
        features[_VALUES] = _with_features(features[_VALUES], rank)
        added = (None,) * (2 - rank)
        features = {name: value[(*added, ...)] for name, value in features.items()}
    if require_single_batch and features[_TIMES].shape[0] != 1:
        raise ValueError("Got batch input, was expecting unbatched input.")
    return features


def _with_features(values, rank):
    """Values with a dimension of features, where times have `rank` dimensions."""
    if values.ndim == rank:
        return values[..., None]
    if values.ndim == rank + 1:
        return values
    counted, expected, missing = (
        ("1 dimension", "[number of features]", "batch or time"),
        ("2 dimensions", "[series length, number of features]", "batch"),
    )[rank]
    raise ValueError(
        f"Got an unexpected number of dimensions for the '{_VALUES}' feature. Was expecting at most {counted} "
        f"({expected}) since '{_TIMES}' does not have a {missing} dimension, but got shape {values.shape}"
    )

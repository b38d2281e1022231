"""Windows, and the examples of files, as tensors."""

from __future__ import annotations

from stillflow.datasets import nest
from stillflow.datasets.dataset import DatasetV1
from stillflow.datasets.files import TFRecordDataset
from stillflow.datasets.one_shot import make_one_shot_iterator
from stillflow.datasets.record_files import make_batched_features_dataset
from stillflow.names import public
from stillflow.platform.deprecation import deprecated, deprecated_args


@public("contrib.data.sliding_window_batch")
@deprecated_args(None, "stride is deprecated, use window_shift instead", "stride")
@deprecated(
    None,
    "Use `tf.data.Dataset.window(size=window_size, shift=window_shift, "
    "stride=window_stride).flat_map(lambda x: x.batch(window_size))` instead.",
)
def sliding_window_batch(window_size, stride=None, window_shift=None, window_stride=1):
    """For Dataset.apply: batches of elements, of which each begins a little after the one before.

    Args:
      window_size: how many elements a batch has, an int64 scalar.
      stride: an old name of `window_shift`.
      window_shift: how far a batch begins after the one before; 1 if None.
      window_stride: how far the elements of a batch lie apart.

    Batches at the end that would be smaller are left out. Raises ValueError for both names of the shift.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = 1 if stride is None and window_shift is None else stride if window_shift is None else window_shift

    def batch(*window):
        window = window[0] if len(window) == 1 else window
        return DatasetV1.zip(nest.map_structure(lambda component: component.batch(window_size), window))

    return lambda dataset: dataset.window(window_size, shift, window_stride, drop_remainder=True).flat_map(batch)


@public("contrib.data.read_batch_features")
@deprecated(None, "Use `tf.data.experimental.make_batched_features_dataset(...)`.")
def read_batch_features(
    file_pattern,
    batch_size,
    features,
    reader=TFRecordDataset,
    reader_args=None,
    randomize_input=True,
    num_epochs=None,
    capacity=10000,
):
    """The next batch of the tf.Examples in files, as a dictionary of tensors.

    Args:
      randomize_input: whether examples come in random order, of `capacity` that are held.
      file_pattern, batch_size, features, reader, reader_args, num_epochs: as for
        tf.data.experimental.make_batched_features_dataset.
    """
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return make_one_shot_iterator(dataset).get_next()

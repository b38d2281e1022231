"""Pipelines that read, shuffle, batch and parse the records of files: make_batched_features_dataset and its kin."""

from __future__ import annotations

from stillflow.composites.parsing import parse_example
from stillflow.datasets import structure
from stillflow.datasets.dataset import DatasetV1
from stillflow.datasets.files import TFRecordDataset
from stillflow.datasets.mapping import MapDataset
from stillflow.datasets.options import AUTOTUNE, Options
from stillflow.datasets.shuffle import shuffle_and_repeat
from stillflow.datasets.transformations import parallel_interleave
from stillflow.files.io_gfile import glob
from stillflow.graph import dtypes
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public
from stillflow.resources.readers import ReaderBase


def file_names(file_pattern):
    """The names of the files that a pattern, or one of a list, matches, sorted. Raises ValueError for none."""
    if isinstance(file_pattern, list) and not file_pattern:
        raise ValueError("File pattern is empty.")
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    found = [name for pattern in patterns for name in glob(pattern)]
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return sorted(found)


def shuffled_and_repeated(dataset, num_epochs, shuffle, buffer_size, seed):
    """A data set in random order, or not, and repeated, or not."""
    if num_epochs != 1 and shuffle:
        return dataset.apply(shuffle_and_repeat(buffer_size, num_epochs, seed))
    if shuffle:
        return dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def read_in_turns(dataset, make, count, sloppy):
    """The elements of the data sets that `make` makes of names of files, `count` in turns."""
    if count != AUTOTUNE:
        return dataset.apply(parallel_interleave(make, cycle_length=count, sloppy=sloppy))
    options = Options()
    options.experimental_deterministic = not sloppy
    return dataset.interleave(make, num_parallel_calls=count).with_options(options)


@public("data.experimental.parse_example_dataset", "contrib.data.parse_example_dataset")
def parse_example_dataset(features, num_parallel_calls=1):
    """For Dataset.apply: dictionaries of what vectors of serialized tf.Examples hold.

    Args:
      features: as for tf.io.parse_example.
      num_parallel_calls: how many vectors may be parsed at a time.

    Raises:
      ValueError: without features, and for those that are refused.
      TypeError: for elements that are no vectors of strings.
    """
    if features is None:
        raise ValueError("Missing features.")

    def transformation(dataset):
        if not structure.are_compatible(dataset.element_spec, TensorSpec([None], dtypes.string)):
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        return dataset.map(lambda serialized: parse_example(serialized, features), num_parallel_calls)

    return transformation


@public("data.experimental.make_batched_features_dataset", "contrib.data.make_batched_features_dataset")
def make_batched_features_dataset(
    file_pattern,
    batch_size,
    features,
    reader=TFRecordDataset,
    label_key=None,
    reader_args=None,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=10000,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    reader_num_threads=None,
    parser_num_threads=None,
    sloppy_ordering=False,
    drop_final_batch=False,
):
    """Batches of the tf.Examples in files: dictionaries of features, or pairs of one and the labels.

    Args:
      file_pattern: a pattern of names of files, or a list of such.
      batch_size: how many examples a batch has.
      features: as for tf.io.parse_example.
      reader: makes a data set of strings of the name of a file and `reader_args`.
      label_key: the feature that is the label, if there is one.
      num_epochs: how many times over; for ever if None.
      shuffle: whether examples come in random order, of `shuffle_buffer_size` that are held, by `shuffle_seed`.
      prefetch_buffer_size: how many batches are made in advance; left open if None.
      reader_num_threads: from how many files examples come in turns.
      parser_num_threads: how many batches may be parsed at a time.
      sloppy_ordering: whether the order of examples may differ; here it never does.
      drop_final_batch: whether a last batch that is smaller is left out.

    Raises:
      TypeError: for readers of queues.
      ValueError: for a label that is no feature.
    """
    dataset = DatasetV1.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    if isinstance(reader, type) and issubclass(reader, ReaderBase):
        raise TypeError(
            "The `reader` argument must return a `Dataset` object. `tf.ReaderBase` subclasses are not supported. For "
            "example, pass `tf.data.TFRecordDataset` instead of `tf.TFRecordReader`."
        )
    threads = 1 if reader_num_threads is None else reader_num_threads
    dataset = read_in_turns(dataset, lambda name: reader(name, *(reader_args or [])), threads, sloppy_ordering)
    if structure.output_types(dataset.element_spec) == (dtypes.string, dtypes.string):
        dataset = DatasetV1._of(MapDataset(dataset, lambda _, value: value, use_inter_op_parallelism=False))
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, 2 if parser_num_threads is None else parser_num_threads))
    if label_key:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys.")
        dataset = dataset.map(lambda found: (found, found.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


@public("python.data.experimental.ops.readers.make_tf_record_dataset")
def make_tf_record_dataset(
    file_pattern,
    batch_size,
    parser_fn=None,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=None,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    num_parallel_reads=None,
    num_parallel_parser_calls=None,
    drop_final_batch=False,
):
    """Batches of the records of TFRecord files, or of what `parser_fn` makes of each.

    Arguments as for `make_batched_features_dataset`; by default 24 files take turns.
    """
    names = DatasetV1.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    dataset = TFRecordDataset(names, num_parallel_reads=24 if num_parallel_reads is None else num_parallel_reads)
    held = 10000 if shuffle_buffer_size is None else shuffle_buffer_size
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, held, shuffle_seed)
    if parser_fn is not None:
        calls = batch_size if num_parallel_parser_calls is None else num_parallel_parser_calls
        dataset = dataset.map(parser_fn, num_parallel_calls=calls)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    if prefetch_buffer_size == 0:
        return dataset
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)

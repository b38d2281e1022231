"""tf.data.experimental.CsvDataset and make_csv_dataset: the records of CSV files."""

from __future__ import annotations

import gzip

from stillflow import ops
from stillflow.datasets import csv_columns
from stillflow.datasets.arguments import optional_param_to_tensor
from stillflow.datasets.dataset import DatasetV1, DatasetV1Adapter
from stillflow.datasets.mapping import MapDataset
from stillflow.datasets.node import DatasetSource
from stillflow.datasets.options import AUTOTUNE
from stillflow.datasets.record_files import file_names, read_in_turns, shuffled_and_repeated
from stillflow.datasets.transformations import ignore_errors as without_errors
from stillflow.files.gfile import GFile
from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public
from stillflow.ops.convert import convert_n_to_tensor, convert_to_tensor

_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)
_BUFFER_BYTES = 4 * 1024 * 1024


class _CsvDataset(DatasetSource):
    def __init__(self, filenames, record_defaults, compression_type, buffer_size, header, field_delim,
                 use_quote_delim, na_value, select_cols):  # fmt: skip
        names = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        compression = optional_param_to_tensor("compression_type", compression_type, "", dtypes.string)
        defaults = convert_n_to_tensor(csv_columns.column_defaults(_TYPES, record_defaults), name="record_defaults")
        buffer_size = optional_param_to_tensor("buffer_size", buffer_size, _BUFFER_BYTES)
        header = convert_to_tensor(header, dtype=dtypes.bool_, name="header")
        field_delim = convert_to_tensor(field_delim, dtype=dtypes.string, name="field_delim")
        use_quote_delim = convert_to_tensor(use_quote_delim, dtype=dtypes.bool_, name="use_quote_delim")
        na_value = convert_to_tensor(na_value, dtype=dtypes.string, name="na_value")
        select_cols = optional_param_to_tensor("select_cols", select_cols, [])
        self._structure = tuple(TensorSpec([], default.dtype) for default in defaults)
        variant = ops.csv_dataset(
            filenames=names,
            record_defaults=defaults,
            buffer_size=buffer_size,
            header=header,
            output_shapes=self._flat_structure["output_shapes"],
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=select_cols,
            compression_type=compression,
        )
        super().__init__(variant)

    @property
    def element_spec(self):
        return self._structure


@public("data.experimental.CsvDataset", "contrib.data.CsvDataset")
class CsvDataset(DatasetV1Adapter):
    """The records of CSV files (RFC 4180), each a tuple of scalars.

    Args:
      filenames: strings.
      record_defaults: for each column that is read its type, if it has to be there, or a tensor of what stands for a
        field that is missing: float32, float64, int32, int64 or string.
      compression_type: "", "ZLIB" or "GZIP".
      buffer_size: how many bytes are read at a time.
      header: whether the first record of each file is left out.
      field_delim: the character between fields.
      use_quote_delim: whether quotes around fields are none of their text.
      na_value: what stands for a field that is missing, besides nothing.
      select_cols: the columns that are read, ascending; all if None.

    At run time: tf.errors.InvalidArgumentError for records that do not fit, NotFoundError and its kin for files.
    """

    def __init__(
        self,
        filenames,
        record_defaults,
        compression_type=None,
        buffer_size=None,
        header=False,
        field_delim=",",
        use_quote_delim=True,
        na_value="",
        select_cols=None,
    ):
        super().__init__(
            _CsvDataset(
                filenames, record_defaults, compression_type, buffer_size, header, field_delim, use_quote_delim,
                na_value, select_cols,
            )
        )  # fmt: skip


@public("data.experimental.make_csv_dataset", "contrib.data.make_csv_dataset")
def make_csv_dataset(
    file_pattern,
    batch_size,
    column_names=None,
    column_defaults=None,
    label_name=None,
    select_columns=None,
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    header=True,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=10000,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    num_parallel_reads=None,
    sloppy=False,
    num_rows_for_inference=100,
    compression_type=None,
    ignore_errors=False,
):
    """Batches of the records of CSV files: dictionaries of columns, or pairs of one and the column of labels.

    Args:
      file_pattern: a pattern of names of files, or a list of such.
      batch_size: how many records a batch has.
      column_names: the names of all columns; those in the header if None.
      column_defaults: as for CsvDataset; if None, the types are those that the first rows fit into.
      label_name: the column of labels, if there is one.
      select_columns: the names or numbers of columns that are read; all if None.
      field_delim, use_quote_delim, na_value, header, compression_type: as for CsvDataset.
      num_epochs: how many times over; for ever if None.
      shuffle: whether records come in random order, of `shuffle_buffer_size` that are held, by `shuffle_seed`.
      prefetch_buffer_size: how many batches are made in advance; left open if None.
      num_parallel_reads: from how many files records come in turns.
      sloppy: whether the order of records may differ; here it never does.
      num_rows_for_inference: how many rows are looked at for types; all if None.
      ignore_errors: whether records that do not fit are left out.

    Raises ValueError for arguments and files that do not fit each other.
    """
    reads = 1 if num_parallel_reads is None else num_parallel_reads
    files = file_names(file_pattern)
    dataset = DatasetV1.from_tensor_slices(files)
    if shuffle:
        dataset = dataset.shuffle(len(files), shuffle_seed)
    column_names, defaults, selected = _columns(
        files, column_names, column_defaults, select_columns, header, field_delim, use_quote_delim, na_value,
        num_rows_for_inference, compression_type,
    )  # fmt: skip
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def filename_to_dataset(filename):
        records = CsvDataset(
            filename, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, selected
        )
        return records.apply(without_errors()) if ignore_errors else records

    def map_fn(*columns):
        features = dict(zip(column_names, columns, strict=True))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    dataset = read_in_turns(dataset, filename_to_dataset, reads, sloppy)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size=batch_size, drop_remainder=num_epochs is None)
    dataset = DatasetV1._of(MapDataset(dataset, map_fn, use_inter_op_parallelism=False))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _columns(
    files, names, defaults, select_columns, header, field_delim, use_quote_delim, na_value, rows_for_inference,
    compression_type,
):  # fmt: skip
    """(names, defaults, numbers) of the columns that are read; None for the numbers if none are selected.

    Files are looked into for names and defaults that are None. Raises ValueError for what does not fit.
    """
    open_file = _opener(compression_type) if names is None or defaults is None else None
    if names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        names = csv_columns.names_in_header(files, field_delim, use_quote_delim, open_file)
    if len(names) != len(set(names)):
        raise ValueError("Cannot have duplicate column names.")
    selected = None if select_columns is None else _column_numbers(select_columns, names)
    if defaults is not None:
        defaults = csv_columns.column_defaults(_TYPES, defaults)
    else:
        defaults = csv_columns.inferred_defaults(
            files, len(names), field_delim, use_quote_delim, na_value, header, rows_for_inference, selected, open_file
        )
    if selected is not None and len(defaults) != len(selected):
        raise ValueError("If specified, column_defaults and select_columns must have same length.")
    if selected is not None and len(names) > len(selected):
        names = [names[number] for number in selected]
    return names, defaults, selected


def _opener(compression_type):
    """What opens the files in Python. Raises ValueError for compression that is not known here."""
    value = constant_value(compression_type) if isinstance(compression_type, Tensor) else compression_type
    if value is None and compression_type is not None:
        raise ValueError("Received unknown compression_type")
    value = value.item() if hasattr(value, "item") else value
    value = value.decode() if isinstance(value, bytes) else value
    if value == "GZIP":
        return lambda name: gzip.open(name, "rt")
    if value == "ZLIB":
        raise ValueError(f"compression_type ({compression_type}) is not supported for probing columns")
    if value:
        raise ValueError(f"compression_type ({compression_type}) is not supported")
    return lambda name: GFile(name, "r")


def _column_numbers(columns, names):
    """The numbers of columns that are given by number or name, ascending. Raises ValueError for others."""
    numbers = []
    for column in columns:
        if isinstance(column, int):
            if not 0 <= column < len(names):
                raise ValueError(f"Column index {column} specified in select_columns out of valid range.")
            numbers.append(column)
        elif column in names:
            numbers.append(names.index(column))
        else:
            raise ValueError(f"Value '{column}' specified in select_columns not a valid column index or name.")
    if len(set(numbers)) != len(numbers):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(numbers)

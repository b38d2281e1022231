"""tf.data.Dataset: a pipeline of elements, made step by step."""

from __future__ import annotations

from stillflow.datasets import graph_loops, nest, specs, structure
from stillflow.datasets.functional import FunctionalMethods
from stillflow.datasets.node import DatasetNode
from stillflow.graph.default_graph import require_eager_execution
from stillflow.names import public
from stillflow.platform.deprecation import deprecated

_INT64_MAX = 2**63 - 1


@public("python.data.ops.dataset_ops.DatasetV2", "compat.v2.data.Dataset")
class DatasetV2(FunctionalMethods):
    """A sequence of elements, which are tensors in tuples and dictionaries, all of one form.

    A data set is a node of the graph; iterators go through it when the graph runs.
    """

    @classmethod
    def _of(cls, node):
        return node if isinstance(node, DatasetV2) else _DatasetV2Adapter(node)

    def __iter__(self):
        """An iterator over the elements while operations are executed eagerly. Raises RuntimeError in a graph."""
        from stillflow.datasets.eager_iterator import EagerIterator

        require_eager_execution(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )
        return EagerIterator(self)

    def __repr__(self):
        spec = self.element_spec
        shapes = str(nest.map_structure(str, structure.output_shapes(spec))).replace("'", "")
        types = str(nest.map_structure(repr, structure.output_types(spec))).replace("'", "")
        return f"<{self._class_name()} shapes: {shapes}, types: {types}>"

    def _class_name(self):
        return type(self).__name__

    # ---- Sources --------------------------------------------------------------------------------------------

    @classmethod
    def from_tensors(cls, tensors):
        """One element.

        Raises ValueError or TypeError for what does not convert to tensors.
        """
        from stillflow.datasets.sources import TensorDataset

        return cls._of(TensorDataset(tensors))

    @classmethod
    def from_tensor_slices(cls, tensors):
        """An element for each row of the components, which have as many rows each.

        Raises:
          ValueError: for scalars, and for different numbers of rows.
          At run time: tf.errors.InvalidArgumentError for the same.
        """
        from stillflow.datasets.sources import TensorSliceDataset

        return cls._of(TensorSliceDataset(tensors))

    @classmethod
    def range(cls, *args):
        """The int64 scalars of range(stop), range(start, stop) or range(start, stop, step).

        Raises ValueError for other numbers of arguments; at run time InvalidArgumentError for a step of 0.
        """
        from stillflow.datasets.sources import RangeDataset

        return cls._of(RangeDataset(*args))

    @classmethod
    def list_files(cls, file_pattern, shuffle=None, seed=None):
        """The names of the files that a pattern, or one of several, matches.

        Args:
          file_pattern: strings with the wildcards of tf.gfile.Glob.
          shuffle: whether they come in random order; True if None.
          seed: as for `shuffle`.

        Raises InvalidArgumentError at run time if there is no such file.
        """
        from stillflow.datasets.sources import list_files

        return cls._of(list_files(file_pattern, shuffle, seed))

    @classmethod
    def zip(cls, datasets):
        """Elements side by side, as long as all of `datasets`, in tuples and dictionaries, have one.

        Raises TypeError for what is no structure of data sets.
        """
        from stillflow.datasets.combination import ZipDataset

        return cls._of(ZipDataset(datasets))

    @classmethod
    def from_generator(cls, generator, output_types, output_shapes=None, args=None):
        """The elements that a Python generator yields.

        Every pass over the data set calls `generator` anew. The position of an iterator that is saved, as in a
        checkpoint, is the number of elements that it has brought: going on there begins a new generator and lets
        so many elements go by.

        Args:
          generator: a function that returns an iterator or a generator.
          output_types: the types of the components, in tuples and dictionaries.
          output_shapes: their shapes; unknown if None.
          args: tensors; `generator` is called with their values.

        Raises:
          TypeError: if `generator` cannot be called.
          At run time: tf.errors.InvalidArgumentError for elements of another structure, type or shape; the errors
            of tf.py_func for what the generator raises.
        """
        from stillflow.datasets.generator import from_generator

        return cls._of(from_generator(generator, output_types, output_shapes, args))

    # ---- Options --------------------------------------------------------------------------------------------

    def with_options(self, options):
        """The same pipeline with further tf.data.Options. Raises ValueError if they contradict those it has."""
        from stillflow.datasets.rewriting import OptionsDataset

        return self._of(OptionsDataset(self, options))

    # ---- Combinations ---------------------------------------------------------------------------------------

    def concatenate(self, dataset):
        """These elements, then those of `dataset`. Raises TypeError if they are of other types."""
        from stillflow.datasets.combination import ConcatenateDataset

        return self._of(ConcatenateDataset(self, dataset))

    def repeat(self, count=None):
        """These elements `count` times over; None and -1 are for ever."""
        from stillflow.datasets.combination import RepeatDataset

        return self._of(RepeatDataset(self, count))

    def enumerate(self, start=0):
        """Pairs of a number, counted from `start`, and an element."""
        return DatasetV1.zip((DatasetV1.range(start, _INT64_MAX), self))

    # ---- Selection and order --------------------------------------------------------------------------------

    def take(self, count):
        """The first `count` elements; -1 for all."""
        from stillflow.datasets.selection import TakeDataset

        return self._of(TakeDataset(self, count))

    def skip(self, count):
        """What comes after the first `count` elements; -1 for nothing."""
        from stillflow.datasets.selection import SkipDataset

        return self._of(SkipDataset(self, count))

    def shard(self, num_shards, index):
        """Every `num_shards`th element, from number `index` on.

        Raises InvalidArgumentError at run time unless 0 <= index < num_shards.
        """
        from stillflow.datasets.selection import ShardDataset

        return self._of(ShardDataset(self, num_shards, index))

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None):
        """The elements in random order: each next one is drawn from `buffer_size` that are held.

        Args:
          buffer_size: how many elements are held, an int64 scalar, at least 1.
          seed: an integer; with it, or with that of the graph, the order is always the same.
          reshuffle_each_iteration: whether every pass has another order; True if None.
        """
        from stillflow.datasets.shuffle import ShuffleDataset

        return self._of(ShuffleDataset(self, buffer_size, seed, reshuffle_each_iteration))

    # ---- Batches --------------------------------------------------------------------------------------------

    def batch(self, batch_size, drop_remainder=False):
        """Up to `batch_size` elements as one, stacked along a new first dimension.

        Args:
          batch_size: an int64 scalar, at least 1.
          drop_remainder: whether a last batch that is smaller is left out.

        Raises InvalidArgumentError at run time for elements of different shapes.
        """
        from stillflow.datasets.batch import BatchDataset

        return self._of(BatchDataset(self, batch_size, drop_remainder))

    def padded_batch(self, batch_size, padded_shapes, padding_values=None, drop_remainder=False):
        """Like `batch`, of elements that are padded to one size.

        Args:
          batch_size: an int64 scalar, at least 1.
          padded_shapes: for each component its shape; None, or -1 in a tensor, stands for the largest of the batch.
          padding_values: for each component a scalar of its type; 0 or the empty string if None.
          drop_remainder: whether a last batch that is smaller is left out.

        Raises:
          ValueError: for shapes that do not fit.
          TypeError: for padding of another type.
          At run time: tf.errors.DataLossError for elements that are larger than they are to be padded to.
        """
        from stillflow.datasets.padded_batch import PaddedBatchDataset

        return self._of(PaddedBatchDataset(self, batch_size, padded_shapes, padding_values, drop_remainder))

    def window(self, size, shift=None, stride=1, drop_remainder=False):
        """Data sets of up to `size` elements that come one after the other.

        Args:
          size: how many elements a window has.
          shift: how far a window begins after the one before; `size` if None.
          stride: how far the elements of a window lie apart.
          drop_remainder: whether last windows that are smaller are left out.
        """
        from stillflow.datasets.batch import WindowDataset

        return self._of(WindowDataset(self, size, size if shift is None else shift, stride, drop_remainder))

    # ---- When elements are made -----------------------------------------------------------------------------

    def cache(self, filename=""):
        """The same elements; what the first pass brings is kept for the following ones.

        Args:
          filename: a string scalar: where it is kept, in the form of a checkpoint, also for other sessions, programs
            and TensorFlow. If it is empty, it is kept in memory until the iterator is initialized again.

        Only a pass that goes on to the end leaves something.
        """
        from stillflow.datasets.buffering import CacheDataset

        return self._of(CacheDataset(self, filename))

    def prefetch(self, buffer_size):
        """The same elements, of which up to `buffer_size` are made in advance; None or -1 leaves the number open."""
        from stillflow.datasets.buffering import PrefetchDataset

        return self._of(PrefetchDataset(self, buffer_size))

    def unbatch(self):
        """The rows of elements, one after the other. Raises ValueError for elements with scalars."""
        from stillflow.datasets.rows import unbatched

        return unbatched(self)

    def apply(self, transformation_func):
        """`transformation_func` of this data set. Raises TypeError if that is no data set."""
        dataset = transformation_func(self)
        if not isinstance(dataset, DatasetNode):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {dataset}.")
        dataset._input_datasets = [self]
        return self._of(dataset)


@public("data.Dataset")
class DatasetV1(DatasetV2):
    """A DatasetV2 with the functions and properties of TensorFlow 1.x. What its methods return is one, too."""

    _preserves_cardinality = False

    def __init__(self):
        super().__init__(self._as_variant_tensor())

    @classmethod
    def _of(cls, node):
        return DatasetV1Adapter(node)

    def _as_variant_tensor(self):
        raise NotImplementedError("Dataset._as_variant_tensor")

    @property
    def output_types(self):
        """The types of the components."""
        return structure.output_types(self.element_spec)

    @property
    def output_shapes(self):
        """The shapes of the components, as far as they are known."""
        return structure.output_shapes(self.element_spec)

    @property
    def output_classes(self):
        """The classes of the components."""
        return structure.output_classes(self.element_spec)

    @property
    def element_spec(self):
        return structure.convert_legacy_structure(self.output_types, self.output_shapes, self.output_classes)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor):
        """An element for each row of a tf.SparseTensor: its indices, values and shape.

        Raises TypeError for what is no SparseTensor; at run time InvalidArgumentError if rows are out of order.
        """
        from stillflow.datasets.sources import SparseTensorSliceDataset

        return DatasetV1Adapter(SparseTensorSliceDataset(sparse_tensor))

    @deprecated(None, "Use `tf.data.Dataset.map()`")
    def map_with_legacy_function(self, map_func, num_parallel_calls=None):
        """See `map`. Functions are traced in one way here."""
        return self.map(map_func, num_parallel_calls)

    @deprecated(None, "Use `tf.data.Dataset.filter()`")
    def filter_with_legacy_function(self, predicate):
        """See `filter`. Functions are traced in one way here."""
        return self.filter(predicate)

    def make_one_shot_iterator(self):
        """A tf.data.Iterator over the elements that needs no initializer and goes through them once.

        Raises ValueError for a data set that uses placeholders or variables.
        """
        return self._make_one_shot_iterator()

    def _make_one_shot_iterator(self):
        from stillflow.datasets.one_shot import make_one_shot_iterator

        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name=None):
        """A tf.data.Iterator over the elements, whose `initializer` has to be run first.

        Args:
          shared_name: if not empty, iterators of that name in one session are one iterator.
        """
        return self._make_initializable_iterator(shared_name)

    def _make_initializable_iterator(self, shared_name=None):
        from stillflow.datasets.iterator import make_initializable_iterator

        return make_initializable_iterator(self, shared_name)


class _Adapter:
    """What a data set that stands for a node takes from it."""

    _dataset: DatasetNode

    def _has_captured_ref(self):
        return self._dataset._has_captured_ref()

    def _inputs(self):
        return self._dataset._inputs()

    def _functions(self):
        return self._dataset._functions()

    def options(self):
        return self._dataset.options()

    @property
    def element_spec(self):
        return self._dataset.element_spec


class _DatasetV2Adapter(_Adapter, DatasetV2):
    """A node as a DatasetV2. It goes by the name of the node's class, as in TensorFlow."""

    def __init__(self, dataset):
        self._dataset = dataset
        self._may_batch, self._may_reorder = dataset._may_batch, dataset._may_reorder
        super().__init__(dataset._variant_tensor)

    def _class_name(self):
        return type(self._dataset).__name__


class DatasetV1Adapter(_Adapter, DatasetV1):
    """A node, or a DatasetV2, as a DatasetV1."""

    def __init__(self, dataset):
        self._dataset = dataset
        self._may_batch, self._may_reorder = dataset._may_batch, dataset._may_reorder
        super().__init__()

    def _as_variant_tensor(self):
        return self._dataset._variant_tensor


@public("python.data.ops.dataset_ops._VariantDataset")
class VariantDataset(DatasetV2):
    """The data set in a tensor, as in an element of a window."""

    def __init__(self, dataset_variant, element_spec):
        self._structure = element_spec
        super().__init__(dataset_variant)

    def _inputs(self):
        return []

    @property
    def element_spec(self):
        return self._structure


specs.DatasetSpec._value_type = VariantDataset
DatasetSpec = public("data.DatasetSpec", "data.experimental.DatasetStructure")(specs.DatasetSpec)
graph_loops.install(DatasetV2, DatasetV1.zip)

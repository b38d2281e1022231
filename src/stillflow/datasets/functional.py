"""The methods of Dataset that take a function."""

from __future__ import annotations

from stillflow.datasets.node import DatasetNode


class FunctionalMethods(DatasetNode):
    """What DatasetV2 has of them. Functions are traced: called once, with tensors, when the graph is built."""

    # Whether a function that runs out of something has failed, which in TensorFlow 1 ends the data set.
    _preserves_cardinality = True

    @classmethod
    def _of(cls, node):
        """A node with the methods of this class."""
        raise NotImplementedError

    def map(self, map_func, num_parallel_calls=None):
        """What `map_func` returns for each element, in the order of the elements.

        Args:
          map_func: called with the components of a tuple as arguments, or with the element; returns tensors in tuples
            and dictionaries.
          num_parallel_calls: how many calls may be under way at a time, an int32 scalar; -1 leaves it open. Results
            do not depend on it: functions with random or other stateful ops are called one after the other.

        Raises:
          TypeError: for results that cannot be elements.
          At run time: what the ops of the function raise. The next element is that after the one that failed.
        """
        from stillflow.datasets.mapping import MapDataset, ParallelMapDataset

        if num_parallel_calls is None:
            return self._of(MapDataset(self, map_func, self._preserves_cardinality))
        return self._of(ParallelMapDataset(self, map_func, num_parallel_calls, self._preserves_cardinality))

    def flat_map(self, map_func):
        """The elements of the data set that `map_func` returns for the first element, then for the second, ...

        Raises TypeError if `map_func` returns no data set.
        """
        from stillflow.datasets.mapping import FlatMapDataset

        return self._of(FlatMapDataset(self, map_func))

    def interleave(self, map_func, cycle_length=-1, block_length=1, num_parallel_calls=None):
        """Like `flat_map`, with elements of several data sets in turns.

        Args:
          map_func: returns a data set.
          cycle_length: how many data sets take turns, an int64 scalar; -1 for one per thread.
          block_length: how many elements of one data set come before those of the next, an int64 scalar.
          num_parallel_calls: at most `cycle_length`, or -1; the order is the same in any case.

        Raises:
          TypeError: if `map_func` returns no data set.
          At run time: tf.errors.InvalidArgumentError for lengths and numbers that are not positive.
        """
        from stillflow.datasets.mapping import InterleaveDataset

        return self._of(InterleaveDataset(self, map_func, cycle_length, block_length, num_parallel_calls))

    def filter(self, predicate):
        """The elements for which `predicate` returns True.

        Raises:
          ValueError: if that is no bool scalar.
          At run time: tf.errors.InvalidArgumentError for the same.
        """
        from stillflow.datasets.mapping import FilterDataset

        return self._of(FilterDataset(self, predicate))

    def reduce(self, initial_state, reduce_func):
        """What is left of a state when `reduce_func` has made a new one of it and each element.

        Args:
          initial_state: tensors in tuples and dictionaries.
          reduce_func: called with a state and an element; returns a state of the same structure and types.

        Returns:
          The last state, as tensors; each run goes through all elements.

        Raises TypeError if a new state is of other types than the initial one.
        """
        from stillflow.datasets.reduction import reduce_dataset

        return reduce_dataset(self, initial_state, reduce_func)

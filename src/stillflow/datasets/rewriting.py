"""What is appended to a pipeline before it is iterated: graph rewrites and options."""

from __future__ import annotations

import warnings

from stillflow import ops
from stillflow.datasets.node import UnaryUnchangedStructureDataset
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


class OptionsDataset(UnaryUnchangedStructureDataset):
    """A data set with further options; it adds no node."""

    def __init__(self, input_dataset, options):
        self._options = input_dataset.options().merge(options)
        super().__init__(input_dataset, input_dataset._variant_tensor)

    def options(self):
        return self._options


class OptimizeDataset(UnaryUnchangedStructureDataset):
    """A data set that is rewritten by the rewrites named."""

    def __init__(self, input_dataset, optimizations, configs):
        self._input_dataset = input_dataset
        self._optimizations = convert_to_tensor(optimizations, dtype=dtypes.string, name="optimizations")
        variant = ops.optimize_dataset(
            input_dataset._variant_tensor, self._optimizations, optimization_configs=configs, **self._flat_structure
        )
        super().__init__(input_dataset, variant)


class ModelDataset(UnaryUnchangedStructureDataset):
    """A data set that TensorFlow tunes."""

    def __init__(self, input_dataset, algorithm, cpu_budget):
        self._input_dataset = input_dataset
        variant = ops.model_dataset(
            input_dataset._variant_tensor, algorithm=algorithm, cpu_budget=cpu_budget, **self._flat_structure
        )
        super().__init__(input_dataset, variant)


@public("python.data.ops.dataset_ops._MaxIntraOpParallelismDataset")
class MaxIntraOpParallelismDataset(UnaryUnchangedStructureDataset):
    """A data set whose functions are told how many threads an operation may use."""

    def __init__(self, input_dataset, max_intra_op_parallelism):
        self._input_dataset = input_dataset
        count = convert_to_tensor(max_intra_op_parallelism, dtype=dtypes.int64, name="max_intra_op_parallelism")
        variant = ops.max_intra_op_parallelism_dataset(input_dataset._variant_tensor, count, **self._flat_structure)
        super().__init__(input_dataset, variant)


@public("python.data.ops.dataset_ops._PrivateThreadPoolDataset")
class PrivateThreadPoolDataset(UnaryUnchangedStructureDataset):
    """A data set with threads of its own in TensorFlow."""

    def __init__(self, input_dataset, num_threads):
        self._input_dataset = input_dataset
        count = convert_to_tensor(num_threads, dtype=dtypes.int64, name="num_threads")
        variant = ops.private_thread_pool_dataset(input_dataset._variant_tensor, count, **self._flat_structure)
        super().__init__(input_dataset, variant)


class SetStatsAggregatorDataset(UnaryUnchangedStructureDataset):
    """A data set about which an aggregator is told."""

    def __init__(self, input_dataset, aggregator, prefix, counter_prefix):
        self._input_dataset = input_dataset
        variant = ops.set_stats_aggregator_dataset(
            input_dataset._variant_tensor, aggregator._resource, prefix, counter_prefix, **self._flat_structure
        )
        super().__init__(input_dataset, variant)


def _with_threads(dataset, threading):
    if threading.max_intra_op_parallelism is not None:
        dataset = MaxIntraOpParallelismDataset(dataset, threading.max_intra_op_parallelism)
    if threading.private_threadpool_size is not None:
        dataset = PrivateThreadPoolDataset(dataset, threading.private_threadpool_size)
    return dataset


def apply_options(dataset):
    """The data set that an iterator goes through."""
    options = dataset.options()
    has_captured_ref = dataset._has_captured_ref
    dataset = _with_threads(dataset, options.experimental_threading)
    rewrites = options._static_optimizations()
    if rewrites and has_captured_ref():
        warnings.warn(
            "tf.data static optimizations are not compatible with tf.Variable. The following optimizations will be "
            f"disabled: {', '.join(rewrites)}. To enable optimizations, use resource variables instead by calling "
            "`tf.enable_resource_variables()` at the start of the program.",
            stacklevel=2,
        )
    elif rewrites:
        dataset = OptimizeDataset(dataset, rewrites, options._static_optimization_configs())
    optimization = options.experimental_optimization
    if optimization.autotune is not False:
        dataset = ModelDataset(dataset, optimization.autotune_algorithm or 0, optimization.autotune_cpu_budget or 0)
    statistics = options.experimental_stats
    if statistics.aggregator is not None:
        dataset = SetStatsAggregatorDataset(
            dataset, statistics.aggregator, statistics.prefix, statistics.counter_prefix
        )
    return dataset

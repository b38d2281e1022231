"""tensorflow.python.data.experimental.ops.threadpool: threads for pipelines, which here are the session's."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets.node import UnaryUnchangedStructureDataset
from stillflow.names import public


@public("python.data.experimental.ops.threadpool.PrivateThreadPool")
class PrivateThreadPool:
    """Stands for threads. Raises InvalidArgumentError at run time for fewer than one."""

    def __init__(self, num_threads, display_name=None, max_intra_op_parallelism=1):
        self._resource = ops.thread_pool_handle(
            num_threads=num_threads,
            max_intra_op_parallelism=1 if max_intra_op_parallelism is None else max_intra_op_parallelism,
            display_name=display_name or "",
        )


class _ThreadPoolDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, thread_pool):
        self._input_dataset = input_dataset
        variant = ops.thread_pool_dataset(
            input_dataset._variant_tensor, thread_pool._resource, **self._flat_structure
        )
        super().__init__(input_dataset, variant)


@public("python.data.experimental.ops.threadpool.override_threadpool")
def override_threadpool(dataset, thread_pool):
    """The same elements, made by other threads in TensorFlow."""
    return dataset._of(_ThreadPoolDataset(dataset, thread_pool))

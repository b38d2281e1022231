"""Queues that are filled again and again with the rows of a tensor: tf.train.string_input_producer and its kin."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import distributions, summaries
from stillflow.composites.checks import assert_that
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.resources.queues import FIFOQueue
from stillflow.training.queue_runner import NO_QUEUES, QueueRunner, add_queue_runner
from stillflow.variables.variable import Variable


@public("io.match_filenames_once", "train.match_filenames_once")
def match_filenames_once(pattern, name=None):
    """A local variable whose initial value is the names of the files that match a glob pattern, or several of them.

    Its initializer looks at the disk: run tf.local_variables_initializer().
    """
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            ops.matching_files(pattern), trainable=False, validate_shape=False, name=scope,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )  # fmt: skip


@public("train.limit_epochs")
def limit_epochs(tensor, num_epochs=None, name=None):
    """The tensor, which can be computed `num_epochs` times; None is for as often as one likes.

    A local variable `epochs` counts: run tf.local_variables_initializer().

    Raises:
      ValueError: if `num_epochs` is not positive.
      At run time: tf.errors.OutOfRangeError when it has been computed so often.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        zero = ops.constant(0, dtypes.int64)
        epochs = Variable(zero, name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
        with get_default_graph().control_dependencies([epochs.count_up_to(num_epochs)]):
            return ops.identity(tensor, name=scope)


@public("train.input_producer")
def input_producer(
    input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
    summary_name=None, name=None, cancel_op=None,
):  # fmt: skip
    """A queue of the rows of a tensor, and a queue runner that fills it.

    Args:
      input_tensor: a tensor of rank 1 at least.
      element_shape: the shape of a row, where the tensor's shape does not say it.
      num_epochs: how often each row comes, after which the queue is closed; None for without end. Run
        tf.local_variables_initializer() before.
      shuffle: whether the rows of an epoch come in random order.
      seed: the seed of that order.
      capacity: how many rows the queue holds.
      shared_name: the name of the queue, if sessions are to share it.
      summary_name: the name of a summary of how full the queue is; None for none.
      name: the scope of the nodes, and the name of the queue.
      cancel_op: the operation that cancels what waits for the queue; made if not given.

    Returns:
      A FIFOQueue. Its queue runner is in the collection QUEUE_RUNNERS.

    Raises:
      ValueError: if the shape of a row is not known, and for what is not positive of `num_epochs`.
    """
    require_graph(NO_QUEUES)
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape.with_rank_at_least(1)[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be specified"
            )
        if shuffle:
            input_tensor = distributions.random_shuffle(input_tensor, seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = FIFOQueue(capacity, [input_tensor.dtype.base_dtype], [element_shape], None, shared_name, name)
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([input_tensor])], cancel_op=cancel_op))
        if summary_name is not None:
            summaries.scalar(summary_name, ops.cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


@public("train.string_input_producer")
def string_input_producer(
    string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None,
    cancel_op=None,
):  # fmt: skip
    """A queue of strings, mostly of the names of files for a reader, and a queue runner that fills it.

    Args:
      string_tensor: a vector of strings.
      num_epochs, shuffle, seed, capacity, shared_name, name, cancel_op: as for `input_producer`.

    Returns:
      A FIFOQueue. Its queue runner is in the collection QUEUE_RUNNERS.

    Raises:
      ValueError: for an empty list.
      At run time: tf.errors.InvalidArgumentError for an empty tensor.
    """
    message = "string_input_producer requires a non-null input tensor"
    if isinstance(string_tensor, (list, tuple, str, bytes)) and not string_tensor:
        raise ValueError(message)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        string_tensor = convert_to_tensor(string_tensor, dtypes.string)
        check = assert_that(ops.greater(ops.size(string_tensor), 0), [message])
        with get_default_graph().control_dependencies([check]):
            string_tensor = ops.identity(string_tensor)
        return input_producer(
            string_tensor, [], num_epochs, shuffle, seed, capacity, shared_name, f"fraction_of_{capacity}_full",
            scope, cancel_op,
        )  # fmt: skip


@public("train.range_input_producer")
def range_input_producer(
    limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None
):  # fmt: skip
    """A queue of the numbers from 0 to `limit` - 1, and a queue runner that fills it.

    Args:
      limit: an int32 scalar.
      num_epochs, shuffle, seed, capacity, shared_name, name: as for `input_producer`.

    Returns:
      A FIFOQueue. Its queue runner is in the collection QUEUE_RUNNERS.
    """
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            ops.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name, f"fraction_of_{capacity}_full",
            scope,
        )  # fmt: skip


@public("train.slice_input_producer")
def slice_input_producer(
    tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None
):  # fmt: skip
    """The tensors of a row of each of several tensors, another one in each run; a queue runner chooses them.

    Args:
      tensor_list: tensors with the same number of rows.
      num_epochs, shuffle, seed, capacity, shared_name, name: as for `input_producer`.

    Returns:
      A list of tensors.

    Raises:
      ValueError: for an empty list, and scalars.
    """
    with name_scope(name, "input_producer", tensor_list):
        tensor_list = [convert_to_tensor(tensor) for tensor in tensor_list]
        if not tensor_list:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        rows = ops.shape(tensor_list[0])[0]
        queue = range_input_producer(rows, num_epochs, shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [ops.gather(tensor, index) for tensor in tensor_list]

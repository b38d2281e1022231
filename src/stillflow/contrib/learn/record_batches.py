"""Batches of serialized tf.train.Examples from files, by queues."""

from __future__ import annotations

import random

from stillflow import errors, ops
from stillflow.composites.parsing import parse_example
from stillflow.composites.summaries import scalar
from stillflow.files import gfile
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.array.where import boolean_mask
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.resources.queues import FIFOQueue
from stillflow.resources.readers import TFRecordReader
from stillflow.training.batching import batch_join, shuffle_batch_join
from stillflow.training.input_producers import string_input_producer
from stillflow.training.queue_runner import QueueRunner, add_queue_runner
from stillflow.variables.get_variable import get_variable
from stillflow.variables.scope import variable_scope

# Under which the keys of examples go through queues beside parsed features.
_KEYS = "__key__"
# Of the queue that shuffles, where the size of batches is a tensor.
_SHUFFLED_PART = 0.4
# How the queue of parsed features may end.
_CLOSED = (errors.OutOfRangeError, errors.CancelledError)


@public("contrib.input_pipeline.obtain_next")
def obtain_next(string_list_tensor, counter):
    """The next element of a vector, again and again; `counter`, an int64 variable, has the place of the last one."""
    place = ops.assign_add(counter, 1)
    return ops.gather(string_list_tensor, place % ops.size(string_list_tensor, out_type=dtypes.int64))


@public("contrib.input_pipeline.seek_next")
def seek_next(string_list, shuffle=False, seed=None, num_epochs=None):
    """The next of some strings, again and again, with the place in variables that sessions of a cluster share.

    Args:
      string_list: the strings.
      shuffle: whether each epoch has an order of its own.
      seed: of the order.
      num_epochs: how often they come before OutOfRangeError; None for always.
    """
    order = random.Random(seed) if seed else random
    strings: list = []
    for _ in range(num_epochs or 1):
        epoch = list(string_list)
        if shuffle:
            order.shuffle(epoch)
        strings += epoch
    with variable_scope("obtain_next"):
        start = ops.constant(-1, dtype=dtypes.int64)
        counter = get_variable("obtain_next_counter", initializer=start, dtype=dtypes.int64, trainable=False)
        every = get_variable(
            "obtain_next_expanded_list", initializer=ops.constant(strings), dtype=dtypes.string, trainable=False
        )
        if not num_epochs:
            return obtain_next(every, counter)
        start = ops.constant(0, dtype=dtypes.int64)
        done = get_variable("obtain_next_filename_counter", initializer=start, dtype=dtypes.int64, trainable=False)
        with control_dependencies([done.count_up_to(len(strings))]):
            return obtain_next(every, counter)


# ---- Examples -----------------------------------------------------------------------------------------------------


def _file_names(file_pattern, is_random):
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    if not patterns:
        raise ValueError("No files given to dequeue_examples.")
    names = [name for pattern in patterns for name in gfile.Glob(pattern)]
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    return names if is_random else sorted(names)


def _check_sizes(batch_size, queue_capacity, read_batch_size, num_threads, num_epochs):
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}.")
    if batch_size is None or (not isinstance(batch_size, Tensor) and not 0 < batch_size < queue_capacity):
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    if read_batch_size is None or (not isinstance(read_batch_size, Tensor) and read_batch_size <= 0):
        raise ValueError(f"Invalid read_batch_size {read_batch_size}.")
    if not num_threads or num_threads <= 0:
        raise ValueError(f"Invalid num_threads {num_threads}.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}.")


def _read(files, reader, num_threads, read_batch_size, filter_fn, parse_fn):
    """For each thread (keys, examples), or a dict of parsed features with the keys."""
    found: list = []
    with name_scope("read"):
        for _ in range(num_threads):
            if read_batch_size > 1:
                keys, examples = reader().read_up_to(files, read_batch_size)
            else:
                keys, examples = reader().read(files)
            if filter_fn:
                mask = filter_fn(keys, examples)
                keys, examples = boolean_mask(keys, mask), boolean_mask(examples, mask)
            parsed = parse_fn(examples) if parse_fn else examples
            if isinstance(parsed, dict):
                parsed[_KEYS] = keys
                found.append(parsed)
            else:
                found.append((keys, parsed))
    return found


def _queue_of_files(names, is_shared, is_random, num_epochs, seed, scope):
    if not is_shared:
        names = ops.constant(names, name="input")
        return string_input_producer(names, shuffle=is_random, num_epochs=num_epochs, name=scope, seed=seed)
    queue = FIFOQueue(capacity=1, dtypes=[dtypes.string], shapes=[[]])
    following = seek_next(names, shuffle=is_random, num_epochs=num_epochs, seed=seed)
    add_queue_runner(QueueRunner(queue, [queue.enqueue(following)]))
    return queue


def _read_keyed(
    file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size,
    parse_fn, name, seed, is_shared=False, filter_fn=None,
):  # fmt: skip
    names = _file_names(file_pattern, randomize_input)
    _check_sizes(batch_size, queue_capacity, read_batch_size, num_threads, num_epochs)
    with name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with name_scope("file_name_queue") as queue_scope:
            files = _queue_of_files(names, is_shared, randomize_input, num_epochs, seed, queue_scope)
        examples = _read(files, reader, num_threads, read_batch_size, filter_fn, parse_fn)
        options = {
            "capacity": queue_capacity,
            "enqueue_many": read_batch_size > 1,
            "name": scope,
            "allow_smaller_final_batch": num_epochs is not None,
        }
        if randomize_input:
            is_known = not isinstance(batch_size, Tensor)
            least = max(queue_capacity - 3 * batch_size, batch_size) if is_known else 0
            least = least if is_known else int(queue_capacity * _SHUFFLED_PART)
            batch = shuffle_batch_join(examples, batch_size, min_after_dequeue=least, seed=seed, **options)
        else:
            batch = batch_join(examples, batch_size, **options)
        if parse_fn and isinstance(batch, dict):
            return batch.pop(_KEYS), batch
        return batch


@public("contrib.learn.read_keyed_batch_examples")
def read_keyed_batch_examples(
    file_pattern, batch_size, reader, randomize_input=True, num_epochs=None, queue_capacity=10000, num_threads=1,
    read_batch_size=1, parse_fn=None, name=None, seed=None,
):  # fmt: skip
    """(keys, examples): batches of records of files, read by queue runners.

    Args:
      file_pattern: a pattern of paths, or a list of them.
      batch_size: how many, less than queue_capacity.
      reader: a class or function that makes a reader, such as tf.TFRecordReader.
      randomize_input: whether files and records come in random order.
      num_epochs: how often the files are read; None for always. A local variable counts.
      queue_capacity: how many records wait at most.
      num_threads: how many read.
      read_batch_size: how many records are read at once.
      parse_fn: a function of the records, whose result, a tensor or a dict of them, is batched in their place.
      name, seed: of the operations.

    Raises ValueError for sizes that cannot be, and if there are no files.
    """
    return _read_keyed(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size,
        parse_fn, name, seed,
    )  # fmt: skip


@public("contrib.learn.read_keyed_batch_examples_shared_queue")
def read_keyed_batch_examples_shared_queue(
    file_pattern, batch_size, reader, randomize_input=True, num_epochs=None, queue_capacity=10000, num_threads=1,
    read_batch_size=1, parse_fn=None, name=None, seed=None,
):  # fmt: skip
    """read_keyed_batch_examples whose workers share the files: each is read by one of them."""
    return _read_keyed(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size,
        parse_fn, name, seed, is_shared=True,
    )  # fmt: skip


@public("contrib.learn.read_batch_examples")
def read_batch_examples(
    file_pattern, batch_size, reader, randomize_input=True, num_epochs=None, queue_capacity=10000, num_threads=1,
    read_batch_size=1, parse_fn=None, name=None, seed=None,
):  # fmt: skip
    """The examples of read_keyed_batch_examples, without keys."""
    return read_keyed_batch_examples(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size,
        parse_fn, name, seed,
    )[1]  # fmt: skip


# ---- Features -----------------------------------------------------------------------------------------------------


@public("contrib.learn.io.queue_parsed_features")
def queue_parsed_features(parsed_features, keys=None, feature_queue_capacity=100, num_enqueue_threads=2, name=None):
    """(keys, features) out of a queue that they are put into, so that parsing goes on beside training.

    Args:
      parsed_features: {name: Tensor or SparseTensor}.
      keys: a tensor that goes with them, or None.
      feature_queue_capacity: how many batches wait.
      num_enqueue_threads: how many threads fill the queue.
    """
    names = sorted(parsed_features)
    with name_scope(name, "queue_parsed_features", [*parsed_features.values(), *([] if keys is None else [keys])]):
        parts = {key: _parts(parsed_features[key]) for key in names}
        tensors = [part for key in names for part in parts[key]] + ([] if keys is None else [keys])
        queue = FIFOQueue(feature_queue_capacity, [tensor.dtype for tensor in tensors])
        scalar(
            f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full",
            ops.cast(queue.size(), dtypes.float32) * (1.0 / feature_queue_capacity),
        )
        filling = [queue.enqueue(tensors) for _ in range(num_enqueue_threads)]
        add_queue_runner(QueueRunner(queue, filling, queue_closed_exception_types=_CLOSED))
        taken = queue.dequeue()
        taken = taken if isinstance(taken, list) else [taken]
        for tensor, original in zip(taken, tensors, strict=True):
            tensor.set_shape(original.shape)
        left = iter(taken)
        features = {}
        for key in names:
            own = [next(left) for _ in parts[key]]
            features[key] = own[0] if len(own) == 1 else SparseTensor(*own)
        return next(left, None), features


def _parts(tensor):
    return [tensor.indices, tensor.values, tensor.dense_shape] if isinstance(tensor, SparseTensor) else [tensor]


@public("contrib.learn.read_keyed_batch_features")
def read_keyed_batch_features(
    file_pattern, batch_size, features, reader, randomize_input=True, num_epochs=None, queue_capacity=10000,
    reader_num_threads=1, feature_queue_capacity=100, num_enqueue_threads=2, parse_fn=None, name=None,
    read_batch_size=None,
):  # fmt: skip
    """(keys, {name: tensor}): the features of batches of tf.train.Examples, through a second queue.

    Args:
      features: {name: FixedLenFeature, VarLenFeature, ...}.
      reader_num_threads: how many threads read.
      feature_queue_capacity, num_enqueue_threads: see queue_parsed_features.
      read_batch_size: how many records are read at once, by default batch_size.
      The others are those of read_keyed_batch_examples.
    """
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads,
            batch_size if read_batch_size is None else read_batch_size, parse_fn, scope,
        )  # fmt: skip
        parsed = parse_example(examples, features)
        return queue_parsed_features(parsed, keys, feature_queue_capacity, num_enqueue_threads, name=scope)


@public("contrib.learn.read_keyed_batch_features_shared_queue")
def read_keyed_batch_features_shared_queue(
    file_pattern, batch_size, features, reader, randomize_input=True, num_epochs=None, queue_capacity=10000,
    reader_num_threads=1, feature_queue_capacity=100, num_queue_runners=2, parse_fn=None, name=None,
):  # fmt: skip
    """read_keyed_batch_features whose workers share the files: each is read by one of them."""
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples_shared_queue(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads,
            batch_size, parse_fn, scope,
        )  # fmt: skip
        parsed = parse_example(examples, features)
        return queue_parsed_features(parsed, keys, feature_queue_capacity, num_queue_runners, name=scope)


@public("contrib.learn.read_batch_features")
def read_batch_features(
    file_pattern, batch_size, features, reader, randomize_input=True, num_epochs=None, queue_capacity=10000,
    feature_queue_capacity=100, reader_num_threads=1, num_enqueue_threads=2, parse_fn=None, name=None,
    read_batch_size=None,
):  # fmt: skip
    """The features of read_keyed_batch_features, without keys."""
    return read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads,
        feature_queue_capacity, num_enqueue_threads, parse_fn, name, read_batch_size,
    )[1]  # fmt: skip


@public("contrib.learn.read_batch_record_features")
def read_batch_record_features(
    file_pattern, batch_size, features, randomize_input=True, num_epochs=None, queue_capacity=10000,
    reader_num_threads=1, name="dequeue_record_examples",
):  # fmt: skip
    """read_batch_features of TFRecord files."""
    return read_batch_features(
        file_pattern, batch_size, features, TFRecordReader, randomize_input, num_epochs, queue_capacity,
        reader_num_threads=reader_num_threads, name=name,
    )  # fmt: skip

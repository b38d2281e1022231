"""Sequences of batches, and the queues that threads or processes fill with them ahead of their use."""

from __future__ import annotations

import queue
import random
import threading
import types
import weakref
from typing import Any

import numpy as np

from stillflow.names import public

_POLL = 0.05  # seconds until a thread that waits looks whether it is to stop
_of_process: dict = {}  # in a process of a pool: the sequence or generator that it works for


@public("keras.utils.Sequence")
class Sequence:
    """Batches that have numbers, which several workers may make at once.

    A subclass has `__getitem__(index)`, which returns a batch, and `__len__()`, the number of batches.
    """

    def __getitem__(self, index):
        """The batch of that number."""
        raise NotImplementedError

    def __len__(self):
        """The number of batches."""
        raise NotImplementedError

    def on_epoch_end(self):
        """Is called after each epoch."""

    def __iter__(self):
        for index in range(len(self)):
            yield self[index]


def makes_batches(x):
    """Whether it is a generator or a Sequence."""
    return isinstance(x, (types.GeneratorType, Sequence))


def endless(sequence):
    """The batches of a Sequence, again and again."""
    while True:
        yield from sequence


def _work_for(source, seed=None):
    _of_process["source"] = source
    if seed is not None:
        import multiprocessing

        np.random.seed(seed + (multiprocessing.current_process()._identity or (0,))[0])


def _item_in_process(index):
    return _of_process["source"][index]


def _next_in_process():
    return _next_or_end(_of_process["source"])


_END = "the generator has ended"


def _next_or_end(generator):
    """The next batch in a list, as StopIteration does not pass through futures."""
    try:
        return [next(generator)]
    except StopIteration:
        return _END


_PROCESSES: weakref.WeakSet = weakref.WeakSet()  # the executors whose workers are processes


@public(
    "keras.experimental.terminate_keras_multiprocessing_pools",
    "python.keras.utils.data_utils.terminate_keras_multiprocessing_pools",
)
def terminate_keras_multiprocessing_pools(grace_period=0.1, use_sigkill=False):
    """Ends the processes that make batches, as where they wait for something that a forked process never gets.

    Args:
      grace_period: how many seconds they are given to end.
      use_sigkill: whether those that do not end by then are killed.

    Returns:
      A list of strings that describe the processes that are still there.
    """
    workers: list = []
    for executor in list(_PROCESSES):
        workers += (executor._processes or {}).values()
        executor.shutdown(wait=False, cancel_futures=True)
    for ask in (lambda worker: worker.terminate(), *([lambda worker: worker.kill()] if use_sigkill else [])):
        workers = [worker for worker in workers if worker.is_alive()]
        for worker in workers:
            ask(worker)
        for worker in workers:
            worker.join(grace_period)
    return [
        f"worker still alive: {each.name}, pid={each.pid}, hash={hash(each)}" for each in workers if each.is_alive()
    ]


@public("keras.utils.SequenceEnqueuer")
class SequenceEnqueuer:
    """A queue of batches that workers make.

    Args:
      sequence: the Sequence, or generator.
      use_multiprocessing: whether workers are processes, not threads.
    """

    queue: Any = None
    run_thread: Any = None
    stop_signal: Any = None

    def __init__(self, sequence, use_multiprocessing=False):
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.workers = 0

    def is_running(self):
        """Whether it has been started, and not been stopped."""
        return self.stop_signal is not None and not self.stop_signal.is_set()

    def start(self, workers=1, max_queue_size=10):
        """Lets so many workers fill the queue, until as many batches are in it."""
        self.workers = workers
        self.queue = queue.Queue(max_queue_size)
        self.stop_signal = threading.Event()
        self.run_thread = threading.Thread(target=self._work, daemon=True)
        self.run_thread.start()

    def stop(self, timeout=None):
        """Ends the workers, and waits at most `timeout` seconds for that."""
        self.stop_signal.set()
        self.run_thread.join(timeout)

    def _executor(self, seed=None):
        import concurrent.futures  # here, as it takes long to load

        if self.use_multiprocessing:
            executor = concurrent.futures.ProcessPoolExecutor(
                self.workers, initializer=_work_for, initargs=(self.sequence, seed)
            )
            _PROCESSES.add(executor)
            return executor
        return concurrent.futures.ThreadPoolExecutor(self.workers)

    def _put(self, future):
        """Whether there was room for it before the queue was stopped."""
        while self.is_running():
            try:
                self.queue.put(future, timeout=_POLL)
                return True
            except queue.Full:
                continue
        return False

    def _work(self):
        try:
            self._run()
        except BaseException as error:  # as where processes cannot be started: whoever waits has to hear of it
            self._put(error)

    def _run(self):
        raise NotImplementedError

    def _results(self):
        while self.is_running():
            try:
                future = self.queue.get(timeout=_POLL)
            except queue.Empty:
                continue
            if isinstance(future, BaseException):
                self.stop()
                raise future
            try:
                found = future.result()
            except BaseException:
                self.stop()
                raise
            finally:
                self.queue.task_done()
            yield found

    def get(self):
        """An iterator of the batches."""
        raise NotImplementedError


@public("keras.utils.OrderedEnqueuer")
class OrderedEnqueuer(SequenceEnqueuer):
    """A queue of the batches of a Sequence, in order, epoch after epoch.

    Args:
      sequence: the Sequence.
      use_multiprocessing: whether workers are processes, not threads.
      shuffle: whether batches come in another order in each epoch.
    """

    def __init__(self, sequence, use_multiprocessing=False, shuffle=False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _run(self):
        order = list(range(len(self.sequence)))
        fetch = _item_in_process if self.use_multiprocessing else self.sequence.__getitem__
        while self.is_running():
            if self.shuffle:
                random.shuffle(order)
            with self._executor() as executor:
                for index in order:
                    if not self._put(executor.submit(fetch, index)):
                        executor.shutdown(wait=False, cancel_futures=True)
                        return
                while self.is_running() and self.queue.unfinished_tasks:
                    self.stop_signal.wait(_POLL)
            if self.is_running():
                self.sequence.on_epoch_end()

    def get(self):
        """An iterator of the batches that are not None."""
        for batch in self._results():
            if batch is not None:
                yield batch


@public("keras.utils.GeneratorEnqueuer")
class GeneratorEnqueuer(SequenceEnqueuer):
    """A queue of what a generator yields.

    Args:
      sequence: the generator.
      use_multiprocessing: whether workers are processes, which have a generator each, not threads.
      random_seed: numpy's seed in processes, to which the number of the process is added.
    """

    def __init__(self, sequence, use_multiprocessing=False, random_seed=None):
        super().__init__(sequence, use_multiprocessing)
        self.random_seed = random_seed

    def _run(self):
        fetch: Any = _next_in_process if self.use_multiprocessing else _next_or_end
        arguments = () if self.use_multiprocessing else (self.sequence,)
        with self._executor(self.random_seed) as executor:
            while self._put(executor.submit(fetch, *arguments)):
                pass
            executor.shutdown(wait=False, cancel_futures=True)

    def get(self):
        """An iterator of the batches that are not None. Raises RuntimeError for threads that hinder each other."""
        try:
            for found in self._results():
                if found == _END:
                    self.stop()
                    return
                if found[0] is not None:
                    yield found[0]
        except ValueError as error:
            if "generator already executing" in str(error):
                raise RuntimeError(
                    "Your generator is NOT thread-safe. Keras requires a thread-safe generator when "
                    "`use_multiprocessing=False, workers > 1`. "
                ) from None
            raise


def queued(source, workers, use_multiprocessing, max_queue_size, shuffle):
    """(iterator of batches, the queue that they come from or None) of a generator or a Sequence."""
    is_sequence = isinstance(source, Sequence)
    if workers <= 0:
        return (endless(source) if is_sequence else source), None
    if is_sequence:
        enqueuer: SequenceEnqueuer = OrderedEnqueuer(source, use_multiprocessing, shuffle)
    else:
        enqueuer = GeneratorEnqueuer(source, use_multiprocessing)
    enqueuer.start(workers, max_queue_size)
    return enqueuer.get(), enqueuer

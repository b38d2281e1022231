"""Sequence, and enqueuers: batches made by threads or processes while a model trains."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.pool
import queue
import random
import threading
import time
import weakref
from typing import Any

import numpy as np

from stillflow.names import public

_pools: Any = weakref.WeakSet()  # of processes, which may have to be ended
_in_worker: dict = {}  # what a process makes batches of


@public("keras.utils.Sequence")
class Sequence:
    """Batches by number. Subclasses have `__getitem__`, which makes one, and `__len__`."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def on_epoch_end(self):
        """Called when all batches have been seen once."""

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]


def _start_worker(source, random_seed):
    _in_worker["source"] = source
    if random_seed is not None:
        np.random.seed(random_seed + multiprocessing.current_process().ident)


def _batch_in_worker(index):
    source = _in_worker["source"]
    return next(source) if index is None else source[index]


@public("keras.utils.SequenceEnqueuer")
class SequenceEnqueuer:
    """The base of what makes batches before they are asked for.

    Args:
      sequence: a `Sequence`, or a generator.
      use_multiprocessing: whether processes make them, rather than threads.
    """

    def __init__(self, sequence, use_multiprocessing=False):
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.random_seed = None
        self.workers = 0
        self.queue: Any = None
        self.run_thread: Any = None
        self.stop_signal: Any = None

    def is_running(self):
        """Whether batches are being made."""
        return self.stop_signal is not None and not self.stop_signal.is_set()

    def start(self, workers=1, max_queue_size=10):
        """Begins to make batches.

        Args:
          workers: how many threads or processes do so.
          max_queue_size: how many batches may wait.
        """
        self.workers = workers
        self.queue = queue.Queue(max_queue_size)
        self.stop_signal = threading.Event()
        self.run_thread = threading.Thread(target=self._run, daemon=True)
        self.run_thread.start()

    def stop(self, timeout=None):
        """Ends that; waits for what is under way, at most `timeout` seconds."""
        self.stop_signal.set()
        with contextlib.suppress(queue.Empty):
            while True:
                self.queue.get_nowait()
        self.run_thread.join(timeout)

    def __del__(self):
        if self.is_running():
            self.stop()

    def _pool(self):
        """(pool of workers, function of a number to a batch)."""
        if not self.use_multiprocessing:
            return multiprocessing.pool.ThreadPool(self.workers), self._batch
        pool = multiprocessing.Pool(self.workers, _start_worker, (self.sequence, self.random_seed))
        _pools.add(pool)
        return pool, _batch_in_worker

    def _batch(self, index):
        return next(self.sequence) if index is None else self.sequence[index]

    def _put(self, batch):
        """Puts one into the queue. Returns whether that could be done before the end."""
        while not self.stop_signal.is_set():
            with contextlib.suppress(queue.Full):
                self.queue.put(batch, timeout=0.1)
                return True
        return False

    def _next_result(self):
        """The oldest batch that is under way, or None at the end."""
        while self.is_running():
            with contextlib.suppress(queue.Empty):
                return self.queue.get(timeout=0.1)
        return None

    def _run(self):
        """Makes batches, until the end."""
        raise NotImplementedError

    def get(self):
        """The batches, one after the other."""
        raise NotImplementedError


@public("keras.utils.OrderedEnqueuer")
class OrderedEnqueuer(SequenceEnqueuer):
    """Makes the batches of a `Sequence`, in order, over and over.

    Args:
      sequence: the `Sequence`.
      use_multiprocessing: whether processes make them, rather than threads.
      shuffle: whether each round is in another order.
    """

    def __init__(self, sequence, use_multiprocessing=False, shuffle=False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _run(self):
        order = list(range(len(self.sequence)))
        while True:
            if self.shuffle:
                random.shuffle(order)
            pool, make = self._pool()  # a new one each round, as `on_epoch_end` may change the sequence
            with pool:
                for index in order:
                    if not self._put(pool.apply_async(make, (index,))):
                        return
                while self.queue.unfinished_tasks and not self.stop_signal.is_set():
                    time.sleep(0.01)
            if self.stop_signal.is_set():
                return
            self.sequence.on_epoch_end()

    def get(self):
        """The batches, one after the other. What making one raises is raised here."""
        try:
            while (result := self._next_result()) is not None:
                batch = result.get()
                self.queue.task_done()
                if batch is not None:
                    yield batch
        except Exception:
            self.stop()
            raise


@public("keras.utils.GeneratorEnqueuer")
class GeneratorEnqueuer(SequenceEnqueuer):
    """Takes batches of a generator, in any order if there are several workers.

    Args:
      sequence: the generator. Threads share it; processes have a copy each.
      use_multiprocessing: whether processes make them, rather than threads.
      random_seed: the seed of numpy in processes, which add their own number to it.
    """

    def __init__(self, sequence, use_multiprocessing=False, random_seed=None):
        super().__init__(sequence, use_multiprocessing)
        self.random_seed = random_seed

    def _run(self):
        pool, make = self._pool()
        with pool:
            while self._put(pool.apply_async(make, (None,))):
                pass

    def get(self):
        """The batches, one after the other. Raises RuntimeError if threads may not share the generator."""
        try:
            while (result := self._next_result()) is not None:
                batch = result.get()
                if batch is not None:
                    yield batch
        except StopIteration:
            yield from self._last()
        except Exception as error:
            self.stop()
            if "generator already executing" in str(error):
                raise RuntimeError(
                    "Your generator is NOT thread-safe. Keras requires a thread-safe generator when "
                    "`use_multiprocessing=False, workers > 1`. "
                ) from error
            raise

    def _last(self):
        """Those that other workers took before the generator ended."""
        results = []
        with contextlib.suppress(queue.Empty):
            while True:
                results.append(self.queue.get_nowait())
        for result in results:
            with contextlib.suppress(StopIteration):
                batch = result.get()
                if batch is not None:
                    yield batch
        self.stop()


@public("keras.experimental.terminate_keras_multiprocessing_pools")
def terminate_keras_multiprocessing_pools(grace_period=0.1, use_sigkill=False):
    """Ends the processes of all enqueuers.

    Args:
      grace_period: for how many seconds they may go on.
      use_sigkill: whether those that do are killed.

    Returns:
      A list of messages about those that are still there.
    """
    pools = list(_pools)
    processes = [process for pool in pools for process in pool._pool]
    for pool in pools:
        pool.terminate()
    end = time.monotonic() + grace_period
    for process in processes:
        process.join(timeout=max(0.0, end - time.monotonic()))
        if process.is_alive() and use_sigkill:
            process.kill()
            process.join(timeout=grace_period)
    return [
        f"worker still alive: {process.name}, pid={process.pid}, hash={hash(process)}"
        for process in processes
        if process.is_alive()
    ]

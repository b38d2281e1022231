"""The threads of a Supervisor: summaries, steps per second, and checkpoints."""

from __future__ import annotations

import time

from stillflow.formats import protobuf
from stillflow.names import public
from stillflow.training.coordinator import LooperThread
from stillflow.training.global_step import global_step as value_of_step
from stillflow.training_loop.messages import log

_MOST_MESSAGES = 10


@public("python.training.supervisor.SVSummaryThread")
class SVSummaryThread(LooperThread):
    """Writes the supervisor's summaries every `save_summaries_secs`."""

    def __init__(self, sv, sess):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self):
        global_step = None
        if self._sv.global_step is None:
            summary = self._sess.run(self._sv.summary_op)
        else:
            summary, global_step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        if self._sv.summary_writer:
            log().info("Recording summary at step %s.", global_step)
            self._sv.summary_writer.add_summary(summary, global_step)


@public("python.training.supervisor.SVStepCounterThread")
class SVStepCounterThread(LooperThread):
    """Writes every `save_summaries_secs` how many steps a second takes.

    Args:
      sv: the Supervisor.
      sess: its session.
      step_counter: the tensor that counts steps, by default the supervisor's.
    """

    def __init__(self, sv, sess, step_counter=None):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        self._last_time = 0.0
        self._last_step = 0
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"
        self._messages_left = _MOST_MESSAGES

    def start_loop(self):
        self._last_time = time.time()
        self._last_step = value_of_step(self._sess, self._step_counter)

    def run_loop(self):
        step, now = value_of_step(self._sess, self._step_counter), time.time()
        steps, secs = step - self._last_step, now - self._last_time
        self._last_step, self._last_time = step, now
        steps_per_sec = steps / secs if secs > 0 else float("inf")
        if self._sv.summary_writer:
            summary = protobuf.message("Summary")()
            summary.value.add(tag=self._summary_tag, simple_value=steps_per_sec)
            self._sv.summary_writer.add_summary(summary, step)
        if self._messages_left:
            self._messages_left -= 1
            log().info("%s: %g", self._summary_tag, steps_per_sec)


@public("python.training.supervisor.SVTimerCheckpointThread")
class SVTimerCheckpointThread(LooperThread):
    """Writes a checkpoint every `save_model_secs`."""

    def __init__(self, sv, sess):
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self):
        sv = self._sv
        log().info("Saving checkpoint to path %s", sv.save_path)
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer and sv.global_step is not None:
            message = protobuf.message("SessionLog")
            sv.summary_writer.add_session_log(
                message(status=message.CHECKPOINT, checkpoint_path=sv.save_path),
                value_of_step(self._sess, sv.global_step),
            )

"""Eager operations from several threads, in forked processes, under Ctrl-C, with any threads and instruction set."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import stillflow as tf
from stillflow.eager.graph import EagerGraph
from stillflow.session import isa as isa_names

_SETUP = "import os, signal, sys, threading, time\nimport numpy as np\nimport stillflow as tf\n"


def run(program, *arguments, **environment):
    result = subprocess.run(
        [sys.executable, "-c", _SETUP + program, *arguments], capture_output=True, text=True, timeout=60,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout


def test_threads_have_tapes_of_their_own():
    graph, wrong = EagerGraph(), []

    def work(number):
        with graph.as_default():
            for i in range(30):
                n = (number * 7 + i) % 13 + 1
                x = tf.constant(np.full((n, 3), number + 1.0, np.float32))
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = tf.reduce_sum(tf.square(x) * float(n))
                variable = tf.Variable(float(number))
                variable.assign_add(1.0)
                found = tape.gradient(y, x).numpy(), variable.numpy(), tf.strings.join(["a", str(number)]).numpy()
                if not (np.all(found[0] == 2 * (number + 1) * n) and found[1:] == (number + 1.0, b"a%d" % number)):
                    wrong.append(found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore")
def test_a_forked_process_is_told_that_it_cannot_go_on():
    output = run("""
tf.enable_eager_execution()
print(tf.add(1, 2).numpy(), flush=True)
child = os.fork()
if child == 0:
    try:
        tf.matmul(tf.ones([300, 300]), tf.ones([300, 300]))
    except RuntimeError as error:
        print("RuntimeError", error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(tf.add(3, 4).numpy())
""")
    first, second, third = output.splitlines()
    assert (first, third) == ("3", "7")
    assert second.startswith("RuntimeError") and "fork" in second


def test_ctrl_c_ends_an_operation_that_waits():
    output = run("""
tf.enable_eager_execution()
queue = tf.FIFOQueue(3, tf.float32)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    queue.dequeue()
except KeyboardInterrupt:
    print("interrupted", tf.add(1, 2).numpy())
""")
    assert output == "interrupted 3\n"


_PROGRAM = """
import hashlib
config = tf.ConfigProto(intra_op_parallelism_threads=int(sys.argv[1]))
if sys.argv[2] == "eager":
    tf.enable_eager_execution(config=config)
    value = lambda tensor: tensor.numpy()
else:
    value = tf.Session(config=config).run
tf.set_random_seed(5)
x, w = [tf.constant(value(t)) for t in (tf.random_normal([100, 70], seed=3), tf.random_uniform([70, 50], seed=4))]
results = [
    tf.matmul(x, w), tf.nn.softmax(x), tf.reduce_sum(x), tf.exp(x), tf.tanh(x), tf.nn.moments(x, [0])[1],
    tf.cumsum(x), tf.log(tf.abs(x) + 1),
    tf.segment_sum(x, tf.constant(np.arange(100) // 7)), tf.nn.l2_normalize(x, 1),
    tf.linalg.inv(tf.matmul(w, w, transpose_a=True) + tf.eye(50)), tf.lgamma(tf.abs(x)), tf.pow(tf.abs(x), 1.7),
]
print(hashlib.sha256(b"".join(value(result).tobytes() for result in results)).hexdigest())
"""


def test_bits_are_the_same_for_any_threads_and_instruction_set_and_in_a_session():
    found = {run(_PROGRAM, "1", "session"), run(_PROGRAM, "8", "eager")}
    for isa, threads in zip(isa_names.supported(), "128", strict=False):
        found.add(run(_PROGRAM, threads, "eager", STILLFLOW_ISA=isa))
    assert len(found) == 1

"""Whole TensorFlow 1 programs, written once and run by both TensorFlow and stillflow.

Each module has a function `build(tf)` that adds a seeded model to the default graph and returns a dictionary:

  train    the operation of a training step
  fetches  {name: tensor} to watch at every step
  after    {name: tensor} to evaluate when training is over; may be left out
  feed     a function from the number of a step to its feed dictionary
  steps    how many steps to run

The code here runs under Python 3.7 as well.
"""

import hashlib

import numpy as np

_MOST_ELEMENTS = 4096  # of variables that are recorded as they are


def run_program(tf, module, threads=1, watch=None):
    """What a program does, as arrays by name:

      graph          the GraphDef's bytes
      initial.NAME   a digest of the variable's initial value
      FETCH          its values step by step, or its value after training
      NAME           the variable's final value, if it is small

    `watch(program, initializer)` is called once the graph is complete.
    """
    arrays = {}
    with tf.Graph().as_default() as graph:
        program = module.build(tf)
        initializer = tf.global_variables_initializer()
        arrays["graph"] = np.frombuffer(graph.as_graph_def().SerializeToString(), np.uint8)
        if watch is not None:
            watch(program, initializer)
        config = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=1)
        with tf.Session(config=config) as session:
            session.run(initializer)
            variables = {variable.op.name.replace("/", "."): variable for variable in tf.global_variables()}
            for name, value in session.run(variables).items():
                arrays["initial." + name] = digest(value)
            history = [
                session.run([program["train"], program["fetches"]], program["feed"](step))[1]
                for step in range(program["steps"])
            ]
            for name in program["fetches"]:
                arrays[name] = np.array([values[name] for values in history])
            arrays.update(session.run(program.get("after", {})))
            for name, value in session.run(variables).items():
                if value.size <= _MOST_ELEMENTS:
                    arrays[name] = value
    return arrays


def digest(value):
    """32 bytes that stand for an array's type, shape and bits."""
    value = np.ascontiguousarray(value)
    header = "{} {}".format(value.dtype, value.shape).encode()
    return np.frombuffer(hashlib.sha256(header + value.tobytes()).digest(), np.uint8)

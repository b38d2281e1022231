"""Whole TensorFlow 1 programs, written once and run by both TensorFlow and stillflow.

Each module has a function `build(tf)` that adds a seeded model to the default graph and returns a dictionary:

  train    the operation of a training step
  fetches  {name: tensor} to watch
  feed     a function from the number of a step to its feed dictionary
  steps    how many steps to run

The code here runs under Python 3.7 as well.
"""

import numpy as np


def run_program(tf, module, threads=1):
    """{"graph": GraphDef bytes, fetch: its values step by step, variable name: its final value}."""
    arrays = {}
    with tf.Graph().as_default() as graph:
        program = module.build(tf)
        initializer = tf.global_variables_initializer()
        arrays["graph"] = np.frombuffer(graph.as_graph_def().SerializeToString(), np.uint8)
        config = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=1)
        with tf.Session(config=config) as session:
            session.run(initializer)
            history = [
                session.run([program["train"], program["fetches"]], program["feed"](step))[1]
                for step in range(program["steps"])
            ]
            for name in program["fetches"]:
                arrays[name] = np.array([values[name] for values in history])
            for variable in tf.global_variables():
                value = session.run(variable)
                if value.size <= 4096:
                    arrays[variable.op.name.replace("/", ".")] = value
    return arrays

"""Records what TensorFlow 1.15.5 makes of the programs and snippets in tests/programs, as files in tests/golden.

Run with a Python 3.7 that has tensorflow==1.15.5, protobuf==3.20.3 and numpy==1.18.5 (and for keras_pictures scipy
and Pillow):

    python tools/record_golden.py [name ...]

A snippet is a function that builds a small graph and may return tensors to evaluate, in a list, or in a tuple of
lists that are evaluated one after the other; a program is a module with a function `build` (see
tests/programs/__init__.py). Recorded are the GraphDef and the values. A module of
tests/programs/values has single ops over many types; recorded are the values, or the errors ("values/cast" is
the name of one); of a module of tests/programs/refusals the errors ("refusals/layer_base"). "eager_snippets" and
"eager_values" are what comes of them when operations run when they are called.

Modules that TensorFlow's wheel lacks, as some of contrib, are looked for in the folder of its sources that the
variable TENSORFLOW_SOURCES names; the messages among them are to be compiled there.
"""

import importlib
import os
import subprocess
import sys
import types
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests")
sys.path.insert(0, TESTS)


if os.environ.get("TENSORFLOW_SOURCES"):
    from upstream_child import FolderFinder

    sys.meta_path.append(FolderFinder(os.environ["TENSORFLOW_SOURCES"]))


# File in tests/golden and module with a function `outcomes`.
OUTCOMES = (
    ("assertions", "test_cases.assertion_cases"),
    ("contrib_boosted_trees", "contrib.boosted_trees.tree_scenarios"),
    ("contrib_learn", "contrib.learn_scenarios"),
    ("contrib_learn_recurrent", "contrib.recurrent_learn_scenarios"),
    ("contrib_small_libraries", "contrib.small_library_scenarios"),
    ("contrib_tpu", "contrib.tpu_scenarios"),
    ("contrib_training", "contrib.contrib_training_scenarios"),
    ("boosted_trees", "canned.boosted_trees.tree_scenarios"),
    ("boosted_trees_ops", "canned.boosted_trees.ensemble_scenarios"),
    ("canned_models", "canned.canned_scenarios"),
    ("distribution_graphs", "contrib.distributions.graph_scenarios"),
    ("estimators", "estimator.estimator_scenarios"),
    ("factorization", "contrib.factorization.factorization_scenarios"),
    ("feature_columns", "feature_columns.column_cases"),
    ("graph_differences", "test_cases.graph_def_cases"),
    ("inner_modules", "names.inner_module_scenarios"),
    ("keras_boards", "keras_cases.board_scenarios"),
    ("keras_data", "keras_cases.data_cases"),
    ("keras_eager", "keras_cases.eager_scenarios"),
    ("keras_feedings", "keras_cases.feeding_scenarios"),
    ("keras_layer_trainings", "keras_cases.layer_trainings"),
    ("keras_networks", "keras_cases.network_cases"),
    ("keras_pictures", "keras_cases.picture_cases"),
    ("keras_seeded_trainings", "keras_cases.seeded_trainings"),
    ("keras_trainings", "keras_cases.training_scenarios"),
    ("monitored_sessions", "training_loop.scenarios"),
    ("parallel_for", "parallel_for.pfor_cases"),
    ("profiles", "profiler.profile_scenarios"),
    ("quantized_graphs", "contrib.quantize.quantize_scenarios"),
    ("slim", "contrib.slim_scenarios"),
    ("tensor_forest", "contrib.tensor_forest.forest_scenarios"),
    ("supervisors", "training_loop.supervisor_scenarios"),
    ("timeseries", "contrib.timeseries.series_scenarios"),
    ("warm_starts", "saver.warm_start_cases"),
    ("written_summaries", "summary.writing_scenarios"),
)


def graph_bytes(graph):
    return np.frombuffer(graph.as_graph_def().SerializeToString(), np.uint8)


def save(kind, name, arrays):
    path = os.path.join(TESTS, "golden", kind, name + ".npz")
    np.savez_compressed(path, **arrays)
    print(kind, name, len(arrays), os.path.getsize(path))


def record_snippets(area):
    module = importlib.import_module("programs.snippets." + area)
    arrays = {}
    for name, function in sorted(vars(module).items()):
        if not isinstance(function, types.FunctionType) or name.startswith("_"):
            continue
        with tf.Graph().as_default() as graph:
            tensors = function(tf) or []
            arrays[name] = graph_bytes(graph)
            config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
            with tf.Session(config=config) as session:
                for variables, initializer in (
                    (tf.global_variables, tf.global_variables_initializer),
                    (tf.local_variables, tf.local_variables_initializer),
                ):
                    if tensors and variables():
                        session.run(initializer())
                runs = tensors if isinstance(tensors, tuple) else (tensors,)
                values = [value for fetches in runs for value in session.run(list(fetches))]
                for i, value in enumerate(values):
                    arrays["{}.{}".format(name, i)] = np.asarray(value)
    save("snippets", area, arrays)


def record_program(name):
    from programs import run_program

    module = importlib.import_module("programs." + name)
    if hasattr(module, "write_meta_graph"):
        module.write_meta_graph(tf)
    arrays = run_program(tf, module)
    save("programs", name, arrays)


def record_values(area):
    from programs.values import evaluate

    arrays = {}
    for name, case in sorted(importlib.import_module("programs.values." + area).cases(tf).items()):
        value = evaluate(tf, case)
        if isinstance(value, str):
            arrays[name + "@error"] = np.array(value)
        elif value.dtype == tf.bfloat16.as_numpy_dtype:
            arrays[name + "@bfloat16"] = np.asarray(value).view(np.uint16)
        else:
            arrays[name] = np.asarray(value)
    save("values", area, arrays)


def record_refusals(area):
    import json

    from programs.refusals import outcome

    cases = importlib.import_module("programs.refusals." + area).cases(tf)
    outcomes = {name: outcome(tf, case) for name, case in cases.items()}
    path = os.path.join(TESTS, "golden", "refusals", area + ".json")
    with open(path, "w") as file:
        json.dump(outcomes, file, indent=1, sort_keys=True)
        file.write("\n")
    print("refusals", area, len(outcomes), os.path.getsize(path))


def record_graph_util():
    import graph_util_cases

    arrays = graph_util_cases.record(tf)
    path = os.path.join(TESTS, "golden", "graph_util.npz")
    np.savez_compressed(path, **arrays)
    print("graph_util", len(arrays), os.path.getsize(path))


def record_outcomes(name, module):
    import json

    outcomes = importlib.import_module(module).outcomes(tf)
    path = os.path.join(TESTS, "golden", name + ".json")
    with open(path, "w") as file:
        json.dump(outcomes, file, indent=1, sort_keys=True)
        file.write("\n")
    print(name, len(outcomes), os.path.getsize(path))


def record_eager(kind):
    """What is done when operations run when they are called; before TensorFlow has been used in this process."""
    import json

    from eager_runs import recording

    outcomes = recording.record(tf, kind)
    path = os.path.join(TESTS, "golden", "eager", kind + ".json")
    with open(path, "w") as file:
        lines = ["{}: {}".format(json.dumps(name), json.dumps(outcomes[name])) for name in sorted(outcomes)]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    print("eager", kind, len(outcomes), os.path.getsize(path))


def record_functions():
    import function_cases

    arrays = function_cases.record(tf)
    path = os.path.join(TESTS, "golden", "functions.npz")
    np.savez_compressed(path, **arrays)
    print("functions", len(arrays), os.path.getsize(path))


def record_calls():
    import json

    from eager_runs import recording, wrong_calls
    from tensorflow.python.eager import context

    for name, record in (("wrong_calls", wrong_calls.outcomes), ("more_calls", recording.record_more_calls)):
        path = os.path.join(TESTS, "golden", "eager", name + ".json")
        with context.eager_mode(), open(path, "w") as file:
            json.dump(record(tf), file, indent=1, sort_keys=True)
            file.write("\n")
        print(name, os.path.getsize(path))


def record_transcripts():
    """What the snippets of tests/programs/transcripts show with eager execution enabled."""
    from programs import transcripts
    from tensorflow.python.eager import context

    tf.logging.set_verbosity(tf.logging.FATAL)
    for name in transcripts.NAMES:
        path = os.path.join(TESTS, "golden", "eager", name + ".txt")
        with context.eager_mode(), open(path, "w") as file:
            file.write(transcripts.transcript(name, tf))
        print("eager", name, os.path.getsize(path))
    environment = dict(os.environ, PYTHONPATH=TESTS)
    path = os.path.join(TESTS, "golden", "keras_v2_behavior.json")
    subprocess.check_call([sys.executable, "-m", "keras_cases.v2_behavior", "tensorflow", path], env=environment)
    path = os.path.join(TESTS, "golden", "eager", transcripts.V2_BEHAVIOR + ".txt")
    program = "import sys, tensorflow as tf; from programs import transcripts; "
    program += "transcripts.write_with_v2_behavior(tf, sys.argv[1])"
    subprocess.check_call([sys.executable, "-c", program, path], env=environment)


def main(names):
    for kind in ("snippets", "values"):
        if not names or "eager_" + kind in names:
            record_eager(kind)
    if not names or "eager_calls" in names:
        record_calls()
    if not names or "transcripts" in names:
        record_transcripts()
    for name, module in OUTCOMES:
        if not names or name in names:
            record_outcomes(name, module)
    if not names or "graph_util" in names:
        record_graph_util()
    if not names or "functions" in names:
        record_functions()
    programs = os.path.join(TESTS, "programs")
    for file in sorted(os.listdir(os.path.join(programs, "refusals"))):
        area = file[:-3]
        if file.endswith(".py") and not file.startswith("_") and (not names or "refusals/" + area in names):
            record_refusals(area)
    for file in sorted(os.listdir(os.path.join(programs, "values"))):
        area = file[:-3]
        if file.endswith(".py") and not file.startswith("_") and (not names or "values/" + area in names):
            record_values(area)
    for file in sorted(os.listdir(os.path.join(programs, "snippets"))):
        area = file[:-3]
        if file.endswith(".py") and not file.startswith("_") and (not names or area in names):
            record_snippets(area)
    for file in sorted(os.listdir(programs)):
        name = file[:-3]
        if file.endswith(".py") and not file.startswith(("_", "test_")) and (not names or name in names):
            record_program(name)


if __name__ == "__main__":
    main(sys.argv[1:])

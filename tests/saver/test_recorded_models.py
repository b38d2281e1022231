"""Models saved by other versions of TensorFlow and by its users: values, graphs, and what comes out of them."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf

FORMATS = Path(__file__).parent.parent / "data" / "formats"
VERSIONS = FORMATS / "other_versions"
OBJECTS = FORMATS / "objects" / "checkpoint_graph_mode"
# Models of users, which have no licence and so are no part of the project.
REAL = Path(os.environ.get("STILLFLOW_MODELS_OF_USERS", "nowhere"))


def real_runs():
    for path in sorted(REAL.glob("*/expected.json")):
        for run in json.loads(path.read_text()).get("runs", ()):
            if "ckpt" in run:
                yield pytest.param(path.parent, run, id=path.parent.name)


def ramp(feed):
    if "value" in feed:
        return np.asarray(feed["value"], feed["dtype"])
    values = 37 * np.arange(int(np.prod(feed["shape"]))) % 101
    values = values / 101.0 if feed["dtype"] == "float32" else values % 50
    return values.astype(feed["dtype"]).reshape(feed["shape"])


@pytest.mark.parametrize("folder", sorted({case.values[0] for case in real_runs()}), ids=lambda path: path.name)
def test_checkpoints_of_users_have_the_values_that_tensorflow_reads(folder):
    for name, variables in json.loads((folder / "expected.json").read_text())["checkpoints"].items():
        reader = tf.train.NewCheckpointReader(str(folder / name))
        shapes = reader.get_variable_to_shape_map()
        assert sorted(shapes) == sorted(variables)
        for key, expected in variables.items():
            value = reader.get_tensor(key)
            assert shapes[key] == expected["shape"]
            assert hashlib.sha256(value.tobytes()).hexdigest() == expected["sha256_little_endian"]


@pytest.mark.parametrize(("folder", "run"), list(real_runs()))
def test_models_of_users_give_what_tensorflow_gets(folder, run):
    try:
        saver = tf.train.import_meta_graph(str(folder / run["meta"]), clear_devices=True)
    except tf.errors.NotFoundError as error:
        pytest.skip(error.message)  # an op that there is not
    with tf.Session() as session:
        saver.restore(session, str(folder / run["ckpt"]))
        feeds = {key: ramp(feed) for key, feed in run["feed"].items()}
        for key in run["fetch"]:
            value = session.run(key, feeds)
            expected = run["results"][key]
            first = np.asarray(value).reshape(-1)[: len(expected["first"])]
            np.testing.assert_allclose(first, expected["first"], rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("version", ["tf_1.1.0", "tf_1.4.1", "tf_2.21.0"])
def test_other_versions(version):
    folder = VERSIONS / version
    expected = json.loads((folder / "expected.json").read_text())
    reader = tf.train.NewCheckpointReader(str(folder / "model-3"))
    for key, tensor in expected["tensors"].items():
        value = np.asarray(reader.get_tensor(key)).reshape(-1)
        values = [item.decode() for item in value] if tensor["dtype"] == "string" else value.tolist()
        assert values == tensor["values"]
    assert tf.train.latest_checkpoint(str(folder)) == str(folder / "model-3")


def test_checkpoints_of_objects_are_restored_by_the_names_of_variables(caplog):
    expected = json.loads((OBJECTS / "expected.json").read_text())
    graph = expected["object_graph"]["nodes"]
    keys = {a["full_name"]: a["checkpoint_key"] for node in graph for a in node.get("attributes", ())}
    made = {}
    for name, key in keys.items():
        tensor = expected["tensors"][key]
        made[key] = tf.Variable(np.zeros(tensor["shape"], tensor["dtype"]), name=name)
    with tf.Session() as session:
        tf.train.Saver().restore(session, str(OBJECTS / "ckpt-2"))
        for key, variable in made.items():
            value = np.asarray(session.run(variable)).reshape(-1)
            np.testing.assert_array_equal(value, expected["tensors"][key]["values"])
    assert "Restoring an object-based checkpoint using a name-based saver" in caplog.text
    tf.Variable(1.0, name="zzz")
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="not in the checkpoint: zzz"):
        tf.train.Saver().restore(session, str(OBJECTS / "ckpt-2"))

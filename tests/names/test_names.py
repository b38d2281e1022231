"""Public names: each comes from one mark, means something, and is found by people and by tools."""

import importlib
import inspect
import json
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest
from stillflow.names.table import NAMES

import stillflow as tf
from stillflow.names import inner, namespace

ROOT = Path(__file__).parents[2]
INSTALLED = Path(tf.__file__).parent


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    yield importlib.import_module("make_tables")
    for name in ("make_tables", "make_stubs"):
        sys.modules.pop(name, None)


def test_the_table_says_what_the_sources_say(tool):
    marks = tool.public_names()
    assert {name: f"{module}:{attribute}" for name, (module, attribute, _) in marks.items()} == NAMES


def test_a_name_that_is_marked_twice_is_refused(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "SOURCE", tmp_path)
    for module in ("a", "b"):
        (tmp_path / f"{module}.py").write_text('@public("nn.twice")\ndef f():\n    pass\n')
    with pytest.raises(ValueError, match=r"tf\.nn\.twice is marked in a and in b"):
        tool.public_names()


def test_each_kind_of_mark_is_read(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "SOURCE", tmp_path)
    (tmp_path / "ops.py").write_text(
        'public_module("room")\n'
        '@public("f", "nn.f")\ndef f():\n    pass\n'
        '@public("C")\nclass C:\n    pass\n'
        'X = public("x")(3)\n'
        'add = wrap(define_op("Add()", public="add math.add", doc=""))\n'
        'NAMES = public_names({"Message": "Message train.Message"})\n'
    )
    found = {name: attribute for name, (_, attribute, _) in tool.public_names().items()}
    assert found == {
        "room": "", "f": "f", "nn.f": "f", "C": "C", "x": "X", "add": "add", "math.add": "add", "Message": "Message",
        "train.Message": "Message",
    }  # fmt: skip


def test_each_name_means_something():
    for name in NAMES:
        found = tf
        for part in name.split("."):
            found = getattr(found, part)
        assert found is namespace.find(name), name


def test_no_module_of_ours_hides_a_public_name():
    """`import stillflow.random.shuffle` would set tf.random.shuffle to a module."""
    modules = {".".join(p.relative_to(INSTALLED).with_suffix("").parts) for p in INSTALLED.rglob("*.py")}
    packages = {name.removesuffix(".__init__") for name in modules if name.endswith(".__init__")}
    public_modules = {name for name, target in NAMES.items() if target.endswith(":")}
    hidden = (modules | packages) & set(NAMES) - public_modules
    assert not hidden


def test_completion_offers_the_names():
    assert {"constant", "nn", "Session", "float32", "errors", "contrib"} <= set(dir(tf))
    assert {"dropout", "relu", "nce_loss"} <= set(dir(tf.nn))
    assert {"gfile", "read_file"} <= set(dir(tf.io))
    assert {"MatMul", "Add"} <= set(dir(tf.raw_ops))


def test_help_shows_signature_and_text():
    shown = pydoc.plain(pydoc.render_doc(tf.nn.dropout))
    assert "dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None)" in shown
    assert "Random elements of x set to 0" in shown
    assert "relu(features, name=None)" in pydoc.plain(pydoc.render_doc(tf.nn.relu))
    assert tf.nn.relu.__name__ == "relu"


def test_a_missing_name_is_an_attribute_error():
    for module, name in ((tf, "nothing"), (tf.nn, "nothing"), (tf.io.gfile, "nothing")):
        with pytest.raises(AttributeError, match=rf"module '{module.__name__}' has no attribute '{name}'"):
            getattr(module, name)


def test_namespaces_are_modules():
    program = (
        "import stillflow.nn, stillflow.io.gfile as gfile\n"
        "from stillflow.random import uniform\n"
        "from stillflow.compat import v1\n"
        "import stillflow as tf\n"
        "assert stillflow.nn is tf.nn and gfile is tf.io.gfile and uniform is tf.random_uniform and v1 is tf\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_importing_loads_nothing_that_is_not_needed():
    program = (
        "import sys, stillflow; "
        "print([m for m in ('numpy', 'google.protobuf', 'absl', 'ml_dtypes', 'tqdm') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_layers_load_no_planner_and_no_ragged_tensors():
    program = (
        "import sys, stillflow as tf; x = tf.placeholder(tf.float32, [None, 8, 8, 3]);"
        "tf.contrib.slim.conv2d(x, 4, 3); tf.keras.layers.Dense(3)(x);"
        "print([m for m in ('stillflow.plan', 'stillflow.session.session', 'stillflow.ragged') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


# ---- TensorFlow's inner modules -------------------------------------------------------------------------------


def test_inner_modules_have_what_tensorflow_keeps_there():
    missing = []
    for module, names in inner._locations().items():
        if module.startswith("contrib") and not namespace.is_namespace(module.partition(".python")[0]):
            continue
        for name, public in names.items():
            if public in NAMES and getattr(importlib.import_module(f"stillflow.{module}"), name, None) is None:
                missing.append(f"{module}.{name}")
    assert not missing


def test_inner_names_are_the_same_objects():
    from stillflow.python.framework import dtypes, errors_impl
    from stillflow.python.ops import array_ops, gen_math_ops, math_ops

    assert array_ops.squeeze is tf.squeeze and math_ops.reduce_sum is tf.reduce_sum
    assert dtypes.float32 is tf.float32 and errors_impl.NotFoundError is tf.errors.NotFoundError
    assert gen_math_ops.mat_mul(tf.ones([2, 3]), tf.ones([3, 4])).op.type == "MatMul"


def test_modules_of_messages():
    from stillflow.core.framework import graph_pb2, types_pb2

    assert graph_pb2.GraphDef is tf.GraphDef
    assert types_pb2.DT_FLOAT == 1 and types_pb2.DataType.Name(1) == "DT_FLOAT"


# ---- raw_ops --------------------------------------------------------------------------------------------------


def test_raw_ops_are_those_of_tensorflow():
    recorded = json.loads((ROOT / "tests" / "data" / "signatures.json").read_text())
    theirs = {name.removeprefix("tf.raw_ops.") for name in recorded if name.startswith("tf.raw_ops.")}
    assert len(dir(tf.raw_ops)) > 600 and set(dir(tf.raw_ops)) <= theirs
    assert all(callable(getattr(tf.raw_ops, name)) for name in dir(tf.raw_ops))


def test_raw_ops_whose_shapes_need_not_be_told():
    queue = tf.raw_ops.FIFOQueueV2(component_types=[tf.int32])
    put = tf.raw_ops.QueueEnqueueV2(handle=queue, components=[7])
    taken = tf.raw_ops.QueueDequeueV2(handle=queue, component_types=[tf.int32])
    with tf.Session() as sess:
        sess.run(put)
        assert queue.op.get_attr("shapes") == [] and sess.run(taken) == [7]


def test_raw_ops_take_arguments_by_name_alone():
    total = tf.raw_ops.Add(x=1.0, y=[2.0, 3.0], name="total")
    assert total.op.type == "Add" and total.name == "total:0"
    with pytest.raises(TypeError):
        tf.raw_ops.Add(1.0, 2.0)
    assert [*inspect.signature(tf.raw_ops.MatMul).parameters] == ["a", "b", "transpose_a", "transpose_b", "name"]


# ---- Stubs ----------------------------------------------------------------------------------------------------


def test_type_checkers_know_the_names(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import stillflow as tf\n"
        "x = tf.placeholder(tf.float32, [None, 3])\n"
        "y = tf.nn.relu(tf.matmul(x, tf.zeros([3, 2]), transpose_b=False))\n"
        "train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(y))\n"
        "with tf.Session() as session:\n"
        "    session.run(train, {x: [[1.0, 2.0, 3.0]]})\n"
        "tf.nn.rellu(x)\n"
        "tf.matmul(x, y, transpose_c=True)\n"
    )
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(program)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    lines = [line for line in result.stdout.splitlines() if "error:" in line]
    assert len(lines) == 2, result.stdout + result.stderr
    assert 'program.py:7: error: Module has no attribute "rellu"' in lines[0]
    assert 'program.py:8: error: Unexpected keyword argument "transpose_c" for "matmul"' in lines[1]

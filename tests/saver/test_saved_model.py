"""SavedModels: written and loaded here and by TensorFlow, and what is said when something is wrong."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from real_tensorflow import PEERS, run_tensorflow
from saver import peer_saved_model

import stillflow as tf
from stillflow.formats import protobuf

GOLDEN = Path(__file__).parent.parent / "data" / "formats" / "objects" / "saved_model"
KINDS = ["simple", "builder", "text", "resource"]
EXPECTED_Y = (peer_saved_model.FEED @ [[0.5], [-0.25], [2.0]] + 1).tolist()


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run_peer(name, *arguments):
    run_tensorflow(name, peer_saved_model.__file__, *arguments)


def check(results, kind):
    assert results["method"] == "tensorflow/serving/predict"
    np.testing.assert_allclose(results["y"], EXPECTED_Y, rtol=1e-6)
    if kind != "simple":
        np.testing.assert_allclose(results["z"], [[3.75], [8.0]])
        np.testing.assert_allclose(results["scoped"], EXPECTED_Y, rtol=1e-6)
        assert results["asset"] == "one two"
        assert results["asset_name"] == results["scoped_asset"] == "model/assets/words.txt"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_loaded(kind, tmp_path):
    peer_saved_model.main(tf, "write", str(tmp_path), kind)
    check(peer_saved_model.main(tf, "read", str(tmp_path), kind), kind)
    found = sorted(str(path.relative_to(tmp_path / "model")) for path in (tmp_path / "model").rglob("*.*"))
    assets = [] if kind == "simple" else ["assets/words.txt"]
    file = "saved_model.pbtxt" if kind == "text" else "saved_model.pb"
    assert found == [*assets, file, "variables/variables.data-00000-of-00001", "variables/variables.index"]


@pytest.mark.peer
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("kind", KINDS)
def test_tensorflow_loads_what_is_written_here(kind, peer, tmp_path):
    peer_saved_model.main(tf, "write", str(tmp_path), kind)
    run_peer(peer, "read", tmp_path, kind)
    check(json.loads((tmp_path / "results.json").read_text()), kind)


@pytest.mark.peer
@pytest.mark.parametrize("kind", KINDS)
def test_what_tensorflow_wrote_is_loaded_here(kind, tmp_path):
    run_peer("tf1", "write", tmp_path, kind)
    check(peer_saved_model.main(tf, "read", str(tmp_path), kind), kind)


@pytest.mark.peer
@pytest.mark.parametrize("kind", KINDS)
def test_the_messages_are_those_of_tensorflow(kind, tmp_path):
    from stillflow.saver.saved_model.loader import read_saved_model

    folders = [tmp_path / name for name in ("ours", "theirs")]
    for folder in folders:
        folder.mkdir()
    peer_saved_model.main(tf, "write", str(folders[0]), kind)
    run_peer("tf1", "write", folders[1], kind)
    ours, theirs = (read_saved_model(folder / "model") for folder in folders)
    assert ours.saved_model_schema_version == theirs.saved_model_schema_version == 1
    assert len(ours.meta_graphs) == len(theirs.meta_graphs)
    for mine, other in zip(ours.meta_graphs, theirs.meta_graphs, strict=True):
        assert [(n.name, n.op, n.input) for n in mine.graph_def.node] == [
            (n.name, n.op, n.input) for n in other.graph_def.node
        ]
        assert mine.signature_def == other.signature_def
        assert mine.saver_def == other.saver_def
        assert mine.collection_def == other.collection_def
        assert mine.meta_info_def.tags == other.meta_info_def.tags
        assert mine.meta_info_def.stripped_default_attrs == other.meta_info_def.stripped_default_attrs
        assert mine.asset_file_def == other.asset_file_def


@pytest.mark.parametrize("name", ["saved_model.pb", "saved_model.pbtxt"])
def test_a_recorded_model_is_read(name, tmp_path):
    from stillflow.saver.saved_model import loader

    expected = json.loads((GOLDEN / "expected.json").read_text())
    (tmp_path / name).write_bytes((GOLDEN / name).read_bytes())
    model = loader.read_saved_model(tmp_path)
    assert model.saved_model_schema_version == expected["schema_version"]
    assert loader.tag_sets(tmp_path) == [graph["tags"] for graph in expected["meta_graphs"]]
    graph = model.meta_graphs[0]
    assert len(graph.graph_def.node) == expected["meta_graphs"][0]["node_count"]
    assert set(graph.signature_def) == {"lookup", "serving_default"}
    assert loader.asset_paths(graph, "m", "s") == {"s/vocab_file:0": b"m/assets/vocab.txt"}
    for name, entry in expected["tensors"].items():
        value = tf.train.load_variable(str(GOLDEN / "variables" / "variables"), name)
        assert value.ravel().tolist() == entry["values"]


# ---- The builder --------------------------------------------------------------------------------------------------


def session_with_variable():
    tf.Variable([1.0, 2.0], name="v")
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def test_a_folder_that_is_not_empty_is_refused():
    Path("full").mkdir()
    Path("full/file").touch()
    with pytest.raises(AssertionError, match="Export directory already exists, and isn't empty.*: full"):
        tf.saved_model.Builder("full")
    Path("empty").mkdir()
    tf.saved_model.Builder("empty")
    with pytest.raises(tf.errors.OpError):
        tf.saved_model.Builder("full/file/below")


def test_the_order_of_calls_is_checked():
    with session_with_variable() as session:
        builder = tf.saved_model.Builder("m")
        with pytest.raises(AssertionError, match="Graph state .* has not been saved yet"):
            builder.add_meta_graph(["more"])
        builder.add_meta_graph_and_variables(session, ["serve"])
        with pytest.raises(AssertionError, match="Graph state .* has already been saved"):
            builder.add_meta_graph_and_variables(session, ["serve"])
        assert not tf.saved_model.contains_saved_model("m")
        assert builder.save() == b"m/saved_model.pb"
        assert tf.saved_model.contains_saved_model("m")


def test_signatures_are_checked():
    with session_with_variable() as session:
        builder = tf.saved_model.Builder("m")
        kind = protobuf.message("TensorInfo")
        for info, message in (
            (kind(name="v:0"), "must have the dtype field set"),
            (kind(dtype=1), "must have one of the 'encoding' fields"),
        ):
            signature = tf.saved_model.build_signature_def({"x": info})
            with pytest.raises(AssertionError, match=message):
                builder.add_meta_graph_and_variables(session, ["serve"], {"s": signature})
        for key, purpose in (("init", "initialization"), ("train", "the train op")):
            key = f"__saved_model_{key}_op"
            with pytest.raises(KeyError, match=f'"{key}.*" is reserved for {purpose}. Please use a different key.'):
                builder.add_meta_graph_and_variables(session, ["serve"], {key: protobuf.message("SignatureDef")()})


def test_main_ops_are_checked():
    with session_with_variable() as session:
        builder = tf.saved_model.Builder("m")
        with pytest.raises(TypeError, match="main_op needs to be an Operation: 3"):
            builder.add_meta_graph_and_variables(session, ["serve"], main_op=3)
        tf.add_to_collection("legacy_init_op", tf.no_op())
        with pytest.raises(ValueError, match="already contains one or more main ops under the collection legacy"):
            builder.add_meta_graph_and_variables(session, ["serve"], main_op=tf.no_op())


@pytest.mark.parametrize(
    "asset, message",
    [
        ("words.txt", "must be a Tensor."),
        (lambda: tf.identity("words.txt"), "must be of type constant."),
        (lambda: tf.constant(3), "must be of dtype string."),
        (lambda: tf.constant(["a", "b"]), "must be a scalar."),
        (lambda: tf.constant(""), "Invalid asset filepath tensor"),
        (lambda: tf.constant("none"), "none"),
    ],
)
def test_assets_are_checked(asset, message):
    with session_with_variable() as session:
        builder = tf.saved_model.Builder("m")
        with pytest.raises((TypeError, ValueError, tf.errors.NotFoundError), match=message):
            builder.add_meta_graph_and_variables(
                session, ["serve"], assets_collection=[asset() if callable(asset) else asset]
            )


def test_assets_of_one_name_are_kept_apart():
    for folder, text in (("a", "one"), ("b", "two"), ("c", "one"), ("d", "four")):
        Path(folder).mkdir()
        Path(folder, "f.txt").write_text(text)
    assets = [tf.constant(f"{folder}/f.txt", name=folder) for folder in "aabcd"]
    with session_with_variable() as session:
        builder = tf.saved_model.Builder("m")
        builder.add_meta_graph_and_variables(session, ["serve"], assets_collection=assets)
        builder.save()
    texts = {path.name: path.read_text() for path in Path("m/assets").iterdir()}
    assert texts == {"f.txt": "one", "f.txt_1": "two", "f.txt_2": "four"}


def test_a_model_without_variables():
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.multiply(x, 2.0, name="y")
    with tf.Session() as session:
        tf.saved_model.simple_save(session, "m", {"x": x}, {"y": y})
    assert list(Path("m/variables").iterdir()) == []
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["serve"], "m")
        assert session.run("y:0", {"x:0": 4.0}) == 8.0


def test_an_uninitialized_variable_is_named():
    tf.Variable(1.0, name="never")
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value never"):
        tf.saved_model.simple_save(session, "m", {"x": x}, {"y": x + 1.0})


def test_main_op_initializes_everything():
    v = tf.Variable(3.0)
    local = tf.Variable(4.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    with tf.Session() as session:
        session.run(tf.saved_model.main_op.main_op())
        assert session.run([v, local]) == [3.0, 4.0]
        restore = tf.assign(v, 5.0).op
        session.run(tf.saved_model.main_op.main_op_with_restore(restore))
        assert session.run(v) == 5.0


# ---- The loader ---------------------------------------------------------------------------------------------------


def test_what_is_not_there_is_named():
    with tf.Session() as session:
        message = r"SavedModel file does not exist at: nope/\{saved_model.pbtxt\|saved_model.pb\}"
        with pytest.raises(OSError, match=message):
            tf.saved_model.load(session, ["serve"], "nope")
        with session_with_variable() as other:
            x = tf.placeholder(tf.float32, name="x")
            tf.saved_model.simple_save(other, "m", {"x": x}, {"y": x})
        message = r"MetaGraphDef associated with tags 'zzz' could not be found(?s:.*)available_tags: \[\{'serve'\}\]"
        with pytest.raises(RuntimeError, match=message):
            tf.saved_model.load(session, ["zzz"], "m")


@pytest.mark.parametrize("name, data", [("saved_model.pb", b"\xff" * 9), ("saved_model.pbtxt", b"{"),
                                        ("saved_model.pbtxt", b"\xff")])  # fmt: skip
def test_damaged_files_are_named(name, data):
    Path("m").mkdir()
    Path("m", name).write_bytes(data)
    with tf.Session() as session, pytest.raises(OSError, match=f"Cannot parse file m/{name}"):
        tf.saved_model.load(session, ["serve"], "m")


def test_every_cut_of_a_model_is_an_error():
    x = tf.placeholder(tf.float32, name="x")
    with session_with_variable() as session:
        tf.saved_model.simple_save(session, "m", {"x": x}, {"y": x})
    data = Path("m/saved_model.pb").read_bytes()
    for size in range(0, len(data), 53):
        Path("m/saved_model.pb").write_bytes(data[:size])
        with tf.Graph().as_default(), tf.Session() as session, pytest.raises((OSError, RuntimeError)):
            tf.saved_model.load(session, ["serve"], "m")


def test_two_main_ops_are_an_error():
    from stillflow.saver.saved_model import loader

    with session_with_variable() as session:
        builder = tf.saved_model.Builder("m")
        for name in "ab":
            tf.add_to_collection("legacy_init_op", tf.no_op(name=name))
        builder.add_meta_graph_and_variables(session, ["serve"])
        builder.save()
    assert len(loader.read_saved_model("m").meta_graphs) == 1
    message = "Expected exactly one SavedModel init op. Found:"
    with tf.Graph().as_default(), tf.Session() as session, pytest.raises(RuntimeError, match=message):
        tf.saved_model.load(session, ["serve"], "m")


def test_init_ops_in_signatures_and_asset_files_in_the_message_are_known():
    """As builders of TensorFlow 2 write them."""
    Path("f.txt").write_text("content")
    asset = tf.constant("f.txt", name="asset")
    shown = tf.Variable("", name="shown")
    with session_with_variable() as session:
        init = tf.assign(shown, asset, name="init_it").op
        session.run(shown.initializer)
        builder = tf.saved_model.Builder("m")
        builder.add_meta_graph_and_variables(session, ["serve"])
        info = protobuf.message("TensorInfo")(name=init.name)
        meta_graph = builder._saved_model.meta_graphs[0]
        signature = tf.saved_model.build_signature_def(outputs={"__saved_model_init_op": info})
        meta_graph.signature_def["__saved_model_init_op"].CopyFrom(signature)
        meta_graph.asset_file_def.add(filename="f.txt").tensor_info.name = asset.name
        builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["serve"], "m", import_scope="s")
        assert session.run("s/shown:0") == b"m/assets/f.txt"


# ---- Signatures ---------------------------------------------------------------------------------------------------


def test_signatures_say_what_is_wrong():
    text, number = tf.placeholder(tf.string), tf.placeholder(tf.float32)
    utils = tf.saved_model.signature_def_utils
    for call, message in (
        (lambda: utils.predict_signature_def({}, {"y": number}), "Prediction inputs cannot be None or empty."),
        (lambda: utils.predict_signature_def({"x": number}, None), "Prediction outputs cannot be None or empty."),
        (lambda: utils.regression_signature_def(None, number), "Regression examples cannot be None."),
        (lambda: utils.regression_signature_def(number, number), "Regression examples must be a string Tensor."),
        (lambda: utils.regression_signature_def("x", number), "Regression examples must be a string Tensor."),
        (lambda: utils.regression_signature_def(text, None), "Regression predictions cannot be None."),
        (lambda: utils.regression_signature_def(text, text), "Regression output must be a float Tensor."),
        (lambda: utils.classification_signature_def(None, text, number), "Classification examples cannot be None."),
        (lambda: utils.classification_signature_def(text, None, None), "classes and scores cannot both be None."),
        (lambda: utils.classification_signature_def(text, number, None), "classes must be a string Tensor."),
        (lambda: utils.classification_signature_def(text, text, text), "scores must be a float Tensor."),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_valid_signatures_are_told_from_others():
    text, number = tf.placeholder(tf.string), tf.placeholder(tf.float32)
    utils = tf.saved_model.signature_def_utils
    for signature in (
        utils.predict_signature_def({"a": number}, {"b": text}),
        utils.regression_signature_def(text, number),
        utils.classification_signature_def(text, text, number),
        utils.classification_signature_def(text, None, number),
    ):
        assert utils.is_valid_signature(signature)
        signature.method_name = "other"
        assert not utils.is_valid_signature(signature)
    assert not utils.is_valid_signature(None)
    info = tf.saved_model.build_tensor_info(number)
    for method in ("predict", "regress", "classify"):
        assert not utils.is_valid_signature(utils.build_signature_def({}, {}, f"tensorflow/serving/{method}"))
    for method in ("regress", "classify"):
        signature = utils.build_signature_def({"inputs": info}, {"outputs": info}, f"tensorflow/serving/{method}")
        assert not utils.is_valid_signature(signature)


def test_tensor_infos_find_their_tensors():
    v = tf.Variable(tf.zeros([3, 2]), name="v")
    sparse = tf.sparse_placeholder(tf.int64, name="sparse")
    unknown = tf.placeholder(tf.float32, name="unknown")
    for value in (v, unknown):
        info = tf.saved_model.build_tensor_info(value)
        assert tf.saved_model.get_tensor_from_tensor_info(info).name == value.name
    assert info.tensor_shape.unknown_rank
    info = tf.saved_model.build_tensor_info(sparse)
    assert tf.saved_model.get_tensor_from_tensor_info(info).values is sparse.values
    with pytest.raises(KeyError):
        tf.saved_model.get_tensor_from_tensor_info(info, graph=tf.Graph())
    with pytest.raises(KeyError):
        tf.saved_model.get_tensor_from_tensor_info(info, import_scope="none")
    with pytest.raises(ValueError, match="Invalid TensorInfo.encoding: None"):
        tf.saved_model.get_tensor_from_tensor_info(protobuf.message("TensorInfo")())


def test_spelling_is_that_of_tensorflow():
    assert tf.saved_model.SERVING == tf.saved_model.tag_constants.SERVING == "serve"
    constants = tf.saved_model.signature_constants
    assert constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY == "serving_default"
    assert tf.saved_model.builder.SavedModelBuilder is tf.saved_model.Builder
    signatures = {
        tf.saved_model.load: "(sess, tags, export_dir, import_scope=None, **saver_kwargs)",
        tf.saved_model.simple_save: "(session, export_dir, inputs, outputs, legacy_init_op=None)",
        tf.saved_model.build_signature_def: "(inputs=None, outputs=None, method_name=None)",
        tf.saved_model.Builder.save: "(self, as_text=False)",
        tf.saved_model.Builder.add_meta_graph: "(self, tags, signature_def_map=None, assets_collection=None, "
        "legacy_init_op=None, clear_devices=False, main_op=None, strip_default_attrs=False, saver=None)",
    }
    for function, signature in signatures.items():
        assert str(inspect.signature(function)) == signature

"""`stillflow ckpt`: what it prints, its exit codes, and files that go from one kind to another and back."""

import builtins
import shutil
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf
from stillflow.command_line import main

DATA = Path(__file__).parent.parent / "data" / "formats"
CHECKPOINTS = DATA / "checkpoints"
ALL_TYPES = CHECKPOINTS / "v2_all_dtypes" / "all"


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ckpt(capsys):
    """Runs `stillflow ckpt` and returns its exit code and what it printed; on stderr only if it failed."""

    def run(*arguments):
        code = main(["ckpt", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert bool(err) == (code != 0 and not out)
        return code, out + err

    return run


def save(path="./m", **values):
    with tf.Graph().as_default(), tf.Session() as session:
        variables = [tf.Variable(value, name=name) for name, value in values.items()]
        session.run(tf.global_variables_initializer())
        return tf.train.Saver(variables).save(session, path)


# ---- Looking ------------------------------------------------------------------------------------------------------


def test_names_types_and_shapes_are_listed(ckpt):
    save(weights=np.zeros([2, 3], np.float32), step=np.int64(7), text=["a", "b"])
    for path in ("m", "m.index", "m.data-00000-of-00001", "./m", "."):
        code, out = ckpt("ls", path)
        assert code == 0
        assert out.splitlines() == [
            "checkpoint, format V2: 3 tensors, 32 bytes",
            "step     int64    []",
            "text     string   [2]",
            "weights  float32  [2, 3]",
        ]


@pytest.mark.parametrize("name", [path.name for path in CHECKPOINTS.iterdir() if path.name != "v2_variant"])
def test_recorded_checkpoints_are_listed_shown_and_whole(name, ckpt):
    prefixes = {path.name.removesuffix(".index") for path in (CHECKPOINTS / name).glob("*.index")}
    prefixes = (
        prefixes or {"v1_saver": ["old-2"], "v1_sharded": ["osh-?????-of-00002"], "v1_single": ["all.v1"]}[name]
    )
    for prefix in prefixes:
        for action in ("ls", "show", "verify"):
            code, out = ckpt(action, CHECKPOINTS / name / prefix)
            assert code == 0, out
        assert "nothing is damaged" in out


def test_parts_are_told(ckpt):
    assert "emb is stored in " in ckpt("ls", CHECKPOINTS / "v2_partitioned" / "pv")[1]


def test_statistics_say_what_there_is(ckpt):
    save(
        f=np.array([1, -3, np.nan, np.inf, 0], np.float32), h=np.array([1, 2], np.float16), i=np.array([3, -4, 0]),
        b=np.array([True, False, True]), c=np.array([3 + 4j], np.complex64), t=["a", "bcd"], e=np.zeros([0, 2]),
        n=np.array([np.nan]), u=np.array([2**63 + 5], np.uint64),
    )  # fmt: skip
    _, out = ckpt("show", "m")
    found = {line.split()[0]: line.split(None, 2)[2].split("]", 1)[1].strip() for line in out.splitlines()}
    assert found == {
        "b": "true 2 of 3",
        "c": "largest magnitude 5, zeros 0",
        "e": "no elements",
        "f": "min -3, max 1, mean -0.666667, std 1.69967, zeros 1, nan 1, infinite 1",
        "h": "min 1, max 2, mean 1.5, std 0.5, zeros 0",
        "i": "min -4, max 3, mean -0.333333, zeros 1",
        "n": "zeros 0, nan 1, infinite 0",
        "t": "1 to 3 bytes each",
        "u": f"min {2**63 + 5}, max {2**63 + 5}, mean 9.22337e+18, zeros 0",
    }


def test_values_are_shown(ckpt):
    save(w=np.arange(2000, dtype=np.float32), text=["a", "b"], scalar=np.float64(2.5))
    assert "2.000e+00 ... 1.997e+03" in ckpt("show", "m", "w")[1]
    assert "1.000e+03" in ckpt("show", "m", "w", "--all")[1]
    code, out = ckpt("show", "m", "scalar", "text")
    assert code == 0
    assert out.splitlines() == [
        "scalar  float64  []  min 2.5, max 2.5, mean 2.5, std 0, zeros 0", "2.5",
        "text  string  [2]  1 to 1 bytes each", "[b'a' b'b']",
    ]  # fmt: skip
    code, out = ckpt("show", "m", "scalr")
    assert (code, out) == (2, "stillflow ckpt: There is no scalr. Is scalar meant?\n")


def test_all_types_are_shown(ckpt):
    code, out = ckpt("show", ALL_TYPES, *(f"{dtype}/mat" for dtype in ("bfloat16", "qint8", "float16", "complex128")))
    assert code == 0 and "bfloat16/mat  bfloat16  [" in out


def test_graphs_are_listed_and_their_nodes_shown(ckpt):
    save(w=np.zeros([2, 3], np.float32))
    code, out = ckpt("ls", "m.meta")
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == ["MetaGraph: 1 tensors, 24 bytes", "w  float32  [2, 3]"]
    assert "collection variables: 1" in lines
    code, out = ckpt("show", "m.meta", "w", "save/filename/input")
    assert code == 0 and 'op: "VariableV2"' in out and "b'model'" in out
    assert ckpt("show", "m.meta")[1] == "w  float32  [2, 3]  no value\n"
    assert ckpt("verify", "m.meta")[0] == 0
    assert ckpt("diff", "m.meta", "m.meta") == (0, "")


def saved_model(variables=True):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        y = tf.matmul(x, tf.Variable(tf.ones([3, 2]), name="w")) if variables else x
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, "model", {"x": x}, {"y": y})


def test_saved_models_are_listed(ckpt):
    saved_model()
    for path in ("model", "model/saved_model.pb"):
        code, out = ckpt("ls", path)
        assert code == 0
        lines = out.splitlines()
        assert lines[:2] == ["SavedModel: 1 tensors, 24 bytes", "w  float32  [3, 2]"]
        assert "  tags: serve" in lines
        assert "  signature serving_default: tensorflow/serving/predict" in lines
        assert "    input x: x:0 float32 [?, 3]" in lines
    assert "mean 1," in ckpt("show", "model", "w")[1]
    assert ckpt("verify", "model")[0] == 0
    shutil.rmtree("model/variables")
    code, out = ckpt("verify", "model")
    assert code == 1 and "variables/variables.index is not there" in out


def test_saved_models_without_variables_are_whole(ckpt):
    saved_model(variables=False)
    assert ckpt("ls", "model")[1].startswith("SavedModel: 0 tensors, 0 bytes\ngraph 0:\n")
    assert ckpt("verify", "model")[0] == 0


def test_the_recorded_saved_model_is_listed(ckpt):
    code, out = ckpt("ls", DATA / "objects" / "saved_model")
    assert code == 0 and "signature lookup: custom/method" in out and "tags: train, gpu" in out


# ---- Comparing ----------------------------------------------------------------------------------------------------


def test_differences_are_told(ckpt):
    save("./a", same=1.0, gone=1.0, kind=1.0, dims=[1.0], v=[1.0, 2.0, 3.0], t=["x", "y"], n=[np.nan], z=[0.0])
    save("./b", same=1.0, new=1.0, kind=1, dims=[1.0, 2.0], v=[1.0, 2.5, 2.0], t=["x", "z"], n=[np.nan], z=[-0.0])
    code, out = ckpt("diff", "a", "b")
    assert code == 1
    assert out.splitlines() == [
        "dims: [1] and [2]",
        "gone: only in the first",
        "kind: float32 and int32",
        "new: only in the second",
        "t: 1 of 2 strings differ",
        "v: 2 of 3 elements differ, by 1 at most",
        "z: 1 of 1 elements differ, by 0 at most",
    ]
    assert ckpt("diff", "a", "a.index") == (0, "")
    for dtype in ("bfloat16", "qint8", "complex64", "bool"):
        assert ckpt("diff", ALL_TYPES, ALL_TYPES) == (0, ""), dtype


def test_a_partitioned_variable_is_one_in_a_graph_as_in_a_checkpoint(ckpt):
    v = tf.get_variable("v", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    w = tf.get_variable("w", [3])  # with a random initial value, so that a checkpoint has the state of random numbers
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver([v, w]).save(session, "./m")
        tf.train.Saver().save(session, "./n")
    assert ckpt("diff", "m", "m.meta") == (0, "")
    assert ckpt("diff", "n", "n.meta") == ckpt("diff", "n.meta", "n") == (0, "")
    assert "only in the second" in ckpt("diff", "m", "n")[1]


# ---- Damage -------------------------------------------------------------------------------------------------------


def test_damage_is_named(ckpt):
    save(a=np.arange(100.0), b=np.arange(100.0), c=["one", "two"])
    assert ckpt("verify", "m") == (0, "m: checkpoint, format V2, 3 tensors, nothing is damaged\n")
    data = Path("m.data-00000-of-00001")
    whole = data.read_bytes()
    data.write_bytes(whole[:900] + b"!" + whole[901:])
    code, out = ckpt("verify", "m")
    assert code == 1 and out.startswith("b: ") and "hecksum" in out and len(out.splitlines()) == 1
    assert ckpt("show", "m", "a")[0] == 0
    assert ckpt("show", "m", "b")[0] == 1
    data.write_bytes(whole[:-2])
    assert ckpt("verify", "m")[1].startswith("c: ")
    data.unlink()
    assert len(ckpt("verify", "m")[1].splitlines()) == 3


def test_every_flipped_byte_of_an_index_is_noticed(ckpt):
    save(a=[1.0], b=[2.0])
    whole = Path("m.index").read_bytes()
    # An empty block that nobody reads, and the padding of the footer.
    offset, size = whole[-48], whole[-47]
    unused = {*range(offset, offset + size + 5), *range(len(whole) - 48, len(whole) - 8)}
    for position in range(len(whole)):
        Path("m.index").write_bytes(whole[:position] + bytes([whole[position] ^ 0x10]) + whole[position + 1 :])
        code, out = ckpt("verify", "m")
        assert code == 1 or position in unused, (position, out)


@pytest.mark.parametrize("name, data", [("m.meta", b"\xff\xff"), ("x.npz", b"no zip"), ("m.index", b"nothing")])
def test_files_that_are_no_such_files_are_damaged(name, data, ckpt):
    Path(name).write_bytes(data)
    for action in ("ls", "show", "verify"):
        code, out = ckpt(action, name)
        assert code == 1 and out.startswith("stillflow ckpt: ") and len(out.splitlines()) == 1


def test_what_is_not_there_is_said_in_a_sentence(ckpt):
    Path("empty").mkdir()
    Path("bad").mkdir()
    Path("bad/checkpoint").write_text("{")
    save(a=1.0)
    for arguments, message in (
        (["ls", "nope"], "There is no checkpoint nope."),
        (["show", "no/such/folder"], "There is no checkpoint no/such/folder."),
        (
            ["verify", "empty"],
            "The folder empty has neither a SavedModel nor a file that names its newest checkpoint.",
        ),
        (["ls", "bad"], "The folder bad has neither a SavedModel nor a file that names its newest checkpoint."),
        (["diff", "m", "nope"], "There is no checkpoint nope."),
        (["convert", "nope", "x.npz"], "There is no checkpoint nope."),
        (["convert", "m", "no/x.npz"], "There is no folder no."),
        (["convert", "m", "no/x"], "There is no folder no."),
        (["convert", "m", "m"], "m.index is there already; --overwrite writes over it."),
        (["convert", "m.meta", "x"], "A MetaGraph has no values to convert: name its checkpoint."),
        (["convert", "m", "x", "--rename", "(", ""], "The pattern '(' is no regular expression: "),
        (["convert", "m", "x", "--rename", "a", r"\3"], r"The replacement '\\3' does not fit its pattern: "),
        (["convert", "m", "x", "--rename", "a", ""], "a would have no name left."),
    ):
        code, out = ckpt(*arguments)
        assert code == 2 and out.startswith(f"stillflow ckpt: {message}") and len(out.splitlines()) == 1, out
    for arguments in ([], ["ls"], ["frobnicate", "m"]):
        with pytest.raises(SystemExit) as error:
            main(["ckpt", *arguments])
        assert error.value.code == 2
    assert sorted(path.name for path in Path().iterdir() if path.name.startswith("x")) == []


# ---- Converting ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["v2_all_dtypes/all", "v1_single/all.v1", "v2_strings/str", "v2_partitioned/pv",
                                    "v2_big_endian/hm"])  # fmt: skip
def test_checkpoints_are_copied_to_the_last_bit(source, ckpt):
    source = CHECKPOINTS / source
    assert ckpt("convert", source, "copy")[0] == 0
    assert ckpt("diff", source, "copy") == (0, "")
    assert ckpt("verify", "copy")[0] == 0


def test_all_types_go_to_npz_and_back(ckpt):
    assert ckpt("convert", ALL_TYPES, "all.npz")[0] == 0
    with np.load("all.npz") as arrays:
        np.testing.assert_array_equal(arrays["float32/vec"], tf.train.load_variable(str(ALL_TYPES), "float32/vec"))
        assert arrays["bfloat16/vec"].dtype == np.uint16
    assert ckpt("diff", ALL_TYPES, "all.npz") == (0, "")
    assert ckpt("convert", "all.npz", "back")[0] == 0
    assert ckpt("diff", ALL_TYPES, "back") == (0, "")
    assert ckpt("verify", "all.npz")[0] == 0
    data = bytearray(Path("all.npz").read_bytes())
    data[len(data) // 3] ^= 1
    Path("all.npz").write_bytes(data)
    assert ckpt("verify", "all.npz")[0] == 1


def test_arrays_of_numpy_become_checkpoints(ckpt):
    np.savez("x.npz", a=np.arange(6.0).reshape(2, 3).T, text=np.array(["é", "b"]), big=np.array([1, 2], ">i4"))
    assert ckpt("convert", "x.npz", "y")[0] == 0
    np.testing.assert_array_equal(tf.train.load_variable("y", "a"), np.arange(6.0).reshape(2, 3).T)
    np.testing.assert_array_equal(tf.train.load_variable("y", "big"), [1, 2])
    assert tf.train.load_variable("y", "text").tolist() == ["é".encode(), b"b"]
    np.savez("o.npz", a=np.array([{}], object))
    assert ckpt("ls", "o.npz")[0] == 1


def test_strings_that_numpy_would_cut_come_back(ckpt):
    save(text=["a\0", "", "bb"], plain=["c"])
    assert ckpt("convert", "m", "x.npz")[0] == 0
    assert ckpt("diff", "m", "x.npz") == (0, "")
    with np.load("x.npz") as arrays:
        assert arrays["plain"].tolist() == [b"c"]


def test_tensors_go_to_safetensors_and_back(ckpt):
    library = pytest.importorskip("safetensors.numpy")
    types = "float64 float32 float16 int64 int32 int16 int8 uint8 bool complex64".split()
    save(**{dtype: np.arange(6).reshape(2, 3).astype(dtype) for dtype in types})
    assert ckpt("convert", "m", "x.safetensors")[0] == 0
    np.testing.assert_array_equal(library.load_file("x.safetensors")["int16"], [[0, 1, 2], [3, 4, 5]])
    assert ckpt("diff", "m", "x.safetensors") == (0, "")
    assert ckpt("convert", "x.safetensors", "back")[0] == 0
    assert ckpt("diff", "m", "back") == (0, "")
    assert ckpt("verify", "x.safetensors")[0] == 0
    Path("x.safetensors").write_bytes(Path("x.safetensors").read_bytes()[:-3])
    assert ckpt("ls", "x.safetensors")[0] == 1
    save("./t", text="a")
    code, out = ckpt("convert", "t", "y.safetensors")
    assert code == 2 and "text is of the type string, which .safetensors cannot hold." in out


def test_a_missing_extra_is_named(ckpt, monkeypatch):
    save(a=1.0)
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("safetensors"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    code, out = ckpt("convert", "m", "x.safetensors")
    assert (code, out) == (2, "stillflow ckpt: Files .safetensors need the extra 'safetensors': pip install "
                              "stillflow[safetensors]\n")  # fmt: skip


def test_names_are_rewritten(ckpt):
    save(**{"old/w": 1.0, "old/b": 2.0, "other": 3.0})
    assert ckpt("convert", "m", "x", "--rename", "^old/(.)$", r"new/\1_", "--rename", "_$", "!")[0] == 0
    assert [name for name, _ in tf.train.list_variables("x")] == ["new/b!", "new/w!", "other"]
    code, out = ckpt("convert", "m", "y", "--rename", ".*/", "", "--rename", "[wb]", "z")
    assert code == 2 and "old/b and old/w would both be called z." in out
    assert ckpt("convert", "x", "m", "--overwrite")[0] == 0
    assert ckpt("diff", "x", "m") == (0, "")


def test_renamed_objects_are_found_by_their_new_keys(ckpt):
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint = tf.train.Checkpoint(v=tf.Variable(4.0))
        session.run(tf.global_variables_initializer())
        path = checkpoint.save("./o", session)
    assert ckpt("convert", path, "x", "--rename", "VARIABLE_VALUE", "V")[0] == 0
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with tf.Session() as session:
        checkpoint.restore("./x").assert_consumed().run_restore_ops(session)
        assert session.run(checkpoint.v) == 4.0
    assert ckpt("convert", path, "x.npz")[0] == 0
    assert ckpt("convert", "x.npz", "z")[0] == 0
    assert ckpt("diff", path, "z") == (0, "")


GPT2 = {
    "wte": [7, 4],
    "wpe": [5, 4],
    "ln_f/g": [4],
    "h0/ln_1/b": [4],
    "h0/attn/c_attn/w": [1, 4, 12],
    "h0/mlp/c_fc/b": [16],
}
BERT = {
    "bert/embeddings/word_embeddings": [7, 4],
    "bert/embeddings/LayerNorm/gamma": [4],
    "bert/encoder/layer_11/attention/self/query/kernel": [4, 6],
    "bert/encoder/layer_11/attention/self/query/bias": [6],
    "bert/encoder/layer_11/attention/self/query/kernel/adam_m": [4, 6],
    "cls/predictions/output_bias": [7],
    "cls/seq_relationship/output_weights": [2, 4],
}


def test_gpt2_and_bert_go_to_the_names_of_hugging_face(ckpt):
    library = pytest.importorskip("safetensors.numpy")
    for model, shapes in (("gpt2", {f"model/{name}": dims for name, dims in GPT2.items()}), ("bert", BERT)):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.train.create_global_step()
            variables = {
                name: tf.get_variable(name, dims, initializer=tf.random_normal_initializer(seed=1))
                for name, dims in shapes.items()
            }
            session.run(tf.global_variables_initializer())
            tf.train.Saver().save(session, model, write_meta_graph=False)
            values = session.run(variables)
        code, out = ckpt("convert", "--names", model, model, f"{model}.safetensors")
        assert code == 0
        assert "left out, because it is no tensor of a model: global_step" in out
        found = library.load_file(f"{model}.safetensors")
        if model == "gpt2":
            assert sorted(found) == [
                "h.0.attn.c_attn.weight",
                "h.0.ln_1.bias",
                "h.0.mlp.c_fc.bias",
                "ln_f.weight",
                "wpe.weight",
                "wte.weight",
            ]
            np.testing.assert_array_equal(found["h.0.attn.c_attn.weight"], values["model/h0/attn/c_attn/w"][0])
        else:
            assert sorted(found) == [
                "bert.embeddings.LayerNorm.weight",
                "bert.embeddings.word_embeddings.weight",
                "bert.encoder.layer.11.attention.self.query.bias",
                "bert.encoder.layer.11.attention.self.query.weight",
                "cls.predictions.bias",
                "cls.seq_relationship.weight",
            ]
            query = "bert/encoder/layer_11/attention/self/query/kernel"
            np.testing.assert_array_equal(found["bert.encoder.layer.11.attention.self.query.weight"], values[query].T)
    assert ckpt("convert", "--names", "bert", "gpt2", "none.safetensors")[0] == 2
    assert ckpt("convert", "--names", "gpt2", "gpt2", "gpt2.npz")[0] == 2

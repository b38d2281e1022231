"""`stillflow convert` writes checkpoints of GPT-2 and BERT under the names that Hugging Face's Transformers read."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.command_line import main
from stillflow.conversion import hugging_face
from stillflow.inspection.sources import InputError

library = pytest.importorskip("safetensors.numpy")


def _checkpoint(path, shapes):
    """A checkpoint of variables [name, shape]; returns their values."""
    generator = np.random.default_rng(2)
    values = {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in values.items():
            tf.get_variable(name, initializer=value)
        tf.train.get_or_create_global_step()
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(path), write_meta_graph=False)
    return values


GPT2 = {
    "model/wte": ([11, 4], "wte.weight"),
    "model/wpe": ([6, 4], "wpe.weight"),
    "model/h0/ln_1/g": ([4], "h.0.ln_1.weight"),
    "model/h10/ln_2/b": ([4], "h.10.ln_2.bias"),
    "model/h0/attn/c_attn/w": ([1, 4, 12], "h.0.attn.c_attn.weight"),
    "model/h0/attn/c_proj/b": ([4], "h.0.attn.c_proj.bias"),
    "model/h10/mlp/c_fc/w": ([1, 4, 16], "h.10.mlp.c_fc.weight"),
    "model/ln_f/g": ([4], "ln_f.weight"),
    "model/ln_f/b": ([4], "ln_f.bias"),
}


def test_gpt2(tmp_path):
    values = _checkpoint(tmp_path / "model.ckpt", {name: shape for name, (shape, _) in GPT2.items()})
    target = str(tmp_path / "model.safetensors")
    assert main(["convert", str(tmp_path / "model.ckpt"), target, "--names", "gpt2"]) == 0
    found = library.load_file(target)
    assert set(found) == {name for _, name in GPT2.values()}
    for name, (_, new_name) in GPT2.items():
        value = values[name]
        np.testing.assert_array_equal(found[new_name], value[0] if value.ndim == 3 else value)


# Name in the checkpoint, name there, whether it is transposed.
BERT = [
    ("bert/embeddings/word_embeddings", "bert.embeddings.word_embeddings.weight", False),
    ("bert/embeddings/token_type_embeddings", "bert.embeddings.token_type_embeddings.weight", False),
    ("bert/embeddings/LayerNorm/gamma", "bert.embeddings.LayerNorm.weight", False),
    ("bert/encoder/layer_3/attention/self/query/kernel", "bert.encoder.layer.3.attention.self.query.weight", True),
    ("bert/encoder/layer_3/attention/output/dense/bias", "bert.encoder.layer.3.attention.output.dense.bias", False),
    (
        "bert/encoder/layer_11/attention/output/LayerNorm/beta",
        "bert.encoder.layer.11.attention.output.LayerNorm.bias",
        False,
    ),
    ("bert/encoder/layer_11/intermediate/dense/kernel", "bert.encoder.layer.11.intermediate.dense.weight", True),
    ("bert/encoder/layer_0/output/dense/kernel", "bert.encoder.layer.0.output.dense.weight", True),
    ("bert/encoder/layer_0/output/LayerNorm/gamma", "bert.encoder.layer.0.output.LayerNorm.weight", False),
    ("bert/pooler/dense/kernel", "bert.pooler.dense.weight", True),
    ("cls/predictions/transform/dense/kernel", "cls.predictions.transform.dense.weight", True),
    ("cls/predictions/transform/LayerNorm/beta", "cls.predictions.transform.LayerNorm.bias", False),
    ("cls/predictions/output_bias", "cls.predictions.bias", False),
    ("cls/seq_relationship/output_weights", "cls.seq_relationship.weight", False),
    ("output_weights", "classifier.weight", False),
    ("cls/squad/output_bias", "qa_outputs.bias", False),
]


def test_bert(tmp_path, capsys):
    shapes = {name: [3, 4] if name.endswith(("kernel", "weights", "embeddings")) else [4] for name, _, _ in BERT}
    shapes["bert/pooler/dense/kernel/adam_m"] = [3, 4]
    values = _checkpoint(tmp_path / "bert_model.ckpt", shapes)
    target = str(tmp_path / "model.safetensors")
    assert main(["convert", str(tmp_path / "bert_model.ckpt"), target, "--names", "bert"]) == 0
    said = capsys.readouterr().out
    assert f"{len(BERT)} tensors" in said
    for left_out in ("bert/pooler/dense/kernel/adam_m", "global_step"):
        assert f"only training needs it: {left_out}\n" in said
    found = library.load_file(target)
    assert len(found) == len(BERT)
    for name, new_name, is_transposed in BERT:
        np.testing.assert_array_equal(found[new_name], values[name].T if is_transposed else values[name])


def test_other_variables_are_named(tmp_path, capsys):
    _checkpoint(tmp_path / "model.ckpt", {"model/wte": [2, 2], "mine": [1]})
    target = str(tmp_path / "model.safetensors")
    assert main(["convert", str(tmp_path / "model.ckpt"), target, "--names", "gpt2"]) == 2
    assert "mine is no variable of gpt2" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "model.ckpt"), target]) == 0
    assert set(library.load_file(target)) == {"model/wte", "mine", "global_step"}
    assert main(["convert", str(tmp_path / "model.ckpt"), str(tmp_path / "model.bin")]) == 2
    assert "must be a file .onnx or .safetensors" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["global_step", "a/Adam", "a/Adam_1", "beta1_power", "x/adam_v", "w/Momentum"])
def test_what_only_training_needs(name):
    assert hugging_face.renamed("bert", name) is None


def test_a_name_that_a_model_does_not_have():
    with pytest.raises(InputError, match="bert/other is no variable of bert"):
        hugging_face.renamed("bert", "bert/other")

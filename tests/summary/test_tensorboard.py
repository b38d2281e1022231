"""TensorBoard shows what was written: asked for its data, and looked at in a browser.

TensorBoard is that of the Python that STILLFLOW_TENSORBOARD names, or of the environment that tools/make_peers.py
makes; the pages need Chromium.
STILLFLOW_ARTIFACTS names a directory to keep the pictures of the pages in.
"""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf
from stillflow.command_line import main

PYTHON = Path(
    os.environ.get("STILLFLOW_TENSORBOARD", Path(__file__).parents[2] / ".venv-tensorboard" / "bin" / "python")
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.peer, pytest.mark.skipif(not PYTHON.exists(), reason="TensorBoard is not installed")]


def write_summaries(directory):
    """One of each kind of summary, by the ops."""
    with tf.Graph().as_default() as graph, tf.name_scope("shown"):
        values = np.random.RandomState(0).randn(100).astype(np.float32)
        tf.summary.histogram("histogram", tf.constant(values))
        tf.summary.image("picture", tf.constant(values.reshape(1, 10, 10, 1)), max_outputs=1)
        tf.summary.audio("sound", tf.constant(np.sin(np.arange(8000) / 9.0)[None].astype(np.float32)), 8000.0, 1)
        tf.summary.text("words", tf.constant("*written*"))
        tf.summary.scalar("number", tf.constant(1.5))
        with tf.summary.FileWriter(directory, graph) as writer, tf.Session() as session:
            for step in range(3):
                writer.add_summary(session.run(tf.summary.merge_all()), step)


def write_training(directory):
    """A run of `stillflow word2vec`."""
    directory.mkdir(parents=True)
    corpus = directory.parent / "text.txt"
    corpus.write_text(
        " ".join(np.random.RandomState(0).choice("the cat sat on a mat and dog lay by door".split(), 9000))
    )
    options = "--dim 8 --batch 64 --negatives 5 --min-count 1 --epochs 4 --plot-words 0".split()
    assert main(["word2vec", "--corpus", str(corpus), "--out", str(directory), *options]) == 0


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """The address of a TensorBoard over both."""
    logs = tmp_path_factory.mktemp("logs")
    write_summaries(logs / "summaries")
    write_training(logs / "word2vec")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [PYTHON, "-m", "tensorboard.main", "--logdir", str(logs), "--port", str(port), "--load_fast", "false"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    try:
        address = f"http://localhost:{port}"
        wait_for(lambda: len(get(address, "/data/runs")) == 2)
        wait_for(lambda: get(address, "/data/plugin/scalars/tags").get("word2vec"))
        yield address
    finally:
        server.terminate()
        server.communicate(timeout=30)


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        assert time.monotonic() < end
        time.sleep(0.5)


def fetch(address, path):
    with urllib.request.urlopen(address + path, timeout=30) as answer:
        return answer.read()


def get(address, path):
    return json.loads(fetch(address, path))


def test_scalars_and_histograms(board):
    assert set(get(board, "/data/plugin/scalars/tags")["word2vec"]) == {"loss", "words_per_second"}
    points = get(board, "/data/plugin/scalars/scalars?run=summaries&tag=shown/number")
    assert [point[1:] for point in points] == [[0, 1.5], [1, 1.5], [2, 1.5]]
    for plugin in ("histograms", "distributions"):
        tags = get(board, f"/data/plugin/{plugin}/tags")
        assert "shown/histogram" in tags["summaries"] and "vectors" in tags["word2vec"]
    steps = get(board, "/data/plugin/histograms/histograms?run=summaries&tag=shown/histogram")
    assert len(steps) == 3 and sum(bucket[2] for bucket in steps[0][2]) == 100


def test_images_sounds_and_texts(board):
    images = get(board, "/data/plugin/images/images?run=summaries&tag=shown/picture/image&sample=0")
    assert [image["step"] for image in images] == [0, 1, 2]
    picture = fetch(board, "/data/plugin/images/individualImage?" + images[0]["query"])
    assert picture.startswith(b"\x89PNG")
    sounds = get(board, "/data/plugin/audio/audio?run=summaries&tag=shown/sound/audio&sample=0")
    assert len(sounds) == 3 and fetch(board, "/data/plugin/audio/individualAudio?" + sounds[0]["query"]).startswith(
        b"RIFF"
    )
    texts = get(board, "/data/plugin/text/text?run=summaries&tag=shown/words")
    assert "<em>written</em>" in texts[0]["text"]


def test_the_graph_with_its_shapes_and_times(board):
    runs = get(board, "/data/plugin/graphs/info")
    assert runs["summaries"]["run_graph"] and runs["word2vec"]["run_graph"]
    graph = fetch(board, "/data/plugin/graphs/graph?run=word2vec").decode()
    assert 'name: "nce_loss/' in graph and '"_output_shapes"' in graph
    assert runs["word2vec"]["tags"]["step 100"]["profile"]
    assert b"node_stats" in fetch(board, "/data/plugin/graphs/run_metadata?run=word2vec&tag=step+100")


def test_vectors_in_the_projector(board):
    assert get(board, "/data/plugin/projector/runs") == ["word2vec"]
    (embedding,) = get(board, "/data/plugin/projector/info?run=word2vec")["embeddings"]
    assert embedding["tensorShape"] == [11, 8]
    assert len(fetch(board, "/data/plugin/projector/tensor?run=word2vec&name=vectors")) == 11 * 8 * 4
    assert b"mat" in fetch(board, "/data/plugin/projector/metadata?run=word2vec&name=vectors")


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
@pytest.mark.parametrize("page", ["timeseries", "scalars", "images", "graphs", "histograms", "text", "projector"])
def test_pages(board, page, tmp_path):
    picture = tmp_path / f"tensorboard_{page}.png"
    look = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader",
        f"--user-data-dir={tmp_path}", "--window-size=1400,1000", "--virtual-time-budget=20000", "--timeout=60000",
    ]  # fmt: skip
    subprocess.run(
        [*look, f"--screenshot={picture}", f"{board}/#{page}"], check=True, timeout=300, capture_output=True
    )
    if artifacts := os.environ.get("STILLFLOW_ARTIFACTS"):
        shutil.copy(picture, Path(artifacts) / picture.name)
    with tf.Session() as session:
        pixels = session.run(tf.image.decode_png(picture.read_bytes(), channels=3))
    colors = np.unique(pixels.reshape(-1, 3), axis=0)
    assert pixels.shape == (1000, 1400, 3) and len(colors) > 50  # no empty page
    if page == "timeseries":
        document = subprocess.run(
            [*look, "--dump-dom", f"{board}/#{page}"], timeout=300, capture_output=True
        ).stdout.decode()
        assert "words_per_second" in document and "shown" in document

"""The worked examples of CONTRIBUTING.md do what they say, and what documents name is there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_the_op_the_name_and_the_fusion_work():
    op, name, fusion = blocks("python")
    program = op + name + fusion + (
        "import os\n"
        "from stillflow.plan import fusions\n"
        "import stillflow as tf\n"
        "x = tf.placeholder(tf.float32, [3, 4])\n"
        "y = halve(x, name='y')\n"
        "assert y.op.type == 'Halve' and y.shape.as_list() == [3, 4], y\n"
        "assert tf.gradients(y, x)[0].shape.as_list() == [3, 4]\n"
        "assert tf.Session().run(twice(3.0)) == 6 and TWO == 2\n"
        "assert halve.__doc__.startswith('Half of each element.\\n\\nOp: Halve(x: T) -> (y: T)'), halve.__doc__\n"
        "fusions.FUSIONS['not_equal'] = lambda plan, reduce: fuse_not_equal(plan)\n"
        "def run():\n"
        "    session, differs = tf.Session(), tf.logical_not(tf.equal(x, [1, 2, 3, float('nan')]))\n"
        "    found = session.run(differs, {x: [[1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 3, float('nan')]]})\n"
        "    return found.tolist(), list(session._requests.values())[-1].plans[0].text\n"
        "on, text = run()\n"
        "os.environ['STILLFLOW_WITHOUT_FUSIONS'] = 'not_equal'\n"
        "off, other_text = run()\n"
        "assert on == off and 'not_equal' in text and 'not_equal' not in other_text, (on, off, text, other_text)\n"
    )  # fmt: skip
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_marks_are_read(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import make_tables

    monkeypatch.setattr(make_tables, "SOURCE", tmp_path)
    op, name, _ = blocks("python")
    (tmp_path / "halve.py").write_text(op + name)
    assert set(make_tables.public_names()) == {"halve", "math.halve", "nn.twice", "math.twice", "TWO"}


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no compiler")
def test_the_kernel_compiles(tmp_path):
    (tmp_path / "halve.cc").write_text(blocks("cpp")[0])
    command = ["c++", "-std=gnu++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'csrc'}"]
    flags = ["-Wno-missing-field-initializers", '-DSTILLFLOW_ISA="test"']
    result = subprocess.run(
        [*command, *flags, str(tmp_path / "halve.cc")], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "README.md", "docs/architecture.md", "bench/README.md"])
def test_the_files_a_document_names_are_there(document):
    text = (ROOT / document).read_text()
    for path in re.findall(r"`((?:src|tests|tools|csrc|docs|bench)/[\w./]+)`", text):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"\]\(([\w./]+)\)", text):
        assert ((ROOT / document).parent / path).exists(), path

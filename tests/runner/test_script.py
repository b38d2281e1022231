"""`stillflow run` does what `python script.py` does, with a tensorflow to import."""

import re
import signal
import subprocess
import sys
import textwrap

import pytest


def execute(command, cwd, **options):
    return subprocess.run([sys.executable, *command], cwd=cwd, capture_output=True, text=True, timeout=120, **options)


@pytest.fixture
def program(tmp_path):
    def write(text, name="program.py"):
        (tmp_path / name).write_text(textwrap.dedent(text))
        return tmp_path

    return write


def run(cwd, *arguments):
    return execute(["-m", "stillflow", "run", "program.py", *arguments], cwd)


def test_a_program_trains_unmodified(program):
    cwd = program(
        """
        import tensorflow as tf
        x = tf.placeholder(tf.float32, [None])
        w = tf.Variable(0.0)
        loss = tf.reduce_mean(tf.square(w * x - 3.0 * x))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(50):
                sess.run(step, {x: [1.0, 2.0]})
            print("%.3f" % sess.run(w))
        """
    )
    result = run(cwd)
    assert (result.stdout, result.stderr, result.returncode) == ("3.000\n", "", 0)


def test_a_notice_says_whose_tensorflow_it_is(program):
    cwd = program("import sys; print(sys.argv)")
    result = execute(["-m", "stillflow", "run", "--notice", "program.py", "--notice"], cwd)
    assert result.stdout == "['program.py', '--notice']\n"
    assert re.fullmatch(r"stillflow: import tensorflow is stillflow [\d.]+\S* here\.\n", result.stderr)


def test_a_library_may_be_told_of_a_later_version(program):
    """Libraries for TensorFlow 2's compat.v1 ask which version it is, and call what then left `experimental`."""
    text = """
import sys
import tensorflow.compat.v1 as tf
print(tf.__version__, tf.VERSION, tf.config.list_physical_devices("GPU"), sys.argv[1:])
"""
    cwd = program(text)
    options = ["--tensorflow-version", "2.7.0", "--notice"]
    result = execute(["-m", "stillflow", "run", *options, "program.py", "--notice"], cwd)
    assert result.stdout == "2.7.0 2.7.0 [] ['--notice']\n"
    assert "stillflow" in result.stderr


def test_a_program_may_have_a_flag_that_logging_has(program):
    """As before TensorFlow 1.14, whose absl refuses `--log_dir`."""
    cwd = program(
        """
        import tensorflow as tf
        tf.flags.DEFINE_string("log_dir", "logs", "where summaries go")
        def main(_):
            tf.logging.warning("w")
            print(tf.flags.FLAGS.log_dir)
            try:
                tf.flags.DEFINE_string("log_dir", "twice", "")
            except Exception as error:
                print(type(error).__name__)
        tf.app.run()
        """
    )
    result = execute(["-m", "stillflow", "run", "program.py", "--log_dir=there"], cwd)
    assert (result.stdout, result.returncode) == ("there\nDuplicateFlagError\n", 0)
    assert "the flag --log_dir is the program's" in result.stderr


def test_a_program_may_set_a_flag_that_it_has_not_defined(program):
    """As before TensorFlow 1.5, whose absl refuses it."""
    cwd = program(
        """
        import tensorflow as tf
        tf.flags.DEFINE_integer("size", 2, "")
        FLAGS = tf.flags.FLAGS
        FLAGS.before = [1]
        def main(_):
            FLAGS.after = FLAGS.size + 1
            FLAGS.after = "text"
            print(FLAGS.before, FLAGS.size, FLAGS.after, "after" in FLAGS)
        tf.app.run()
        """
    )
    result = execute(["-m", "stillflow", "run", "program.py", "--size=5"], cwd)
    assert (result.stdout, result.returncode) == ("[1] 5 text True\n", 0)
    assert result.stderr.count("is set but not defined") == 1


def test_a_flag_may_have_a_default_of_another_type(program):
    """As before TensorFlow 1.5, whose absl refuses it."""
    cwd = program(
        """
        import numpy as np
        import tensorflow as tf
        tf.flags.DEFINE_integer("train_size", np.inf, "")
        tf.flags.DEFINE_string("gpu", default_value=0, docstring="")
        tf.flags.DEFINE_integer("steps", 1e3, "")
        FLAGS = tf.flags.FLAGS
        print(FLAGS.train_size, FLAGS.gpu, FLAGS.steps)
        """
    )
    result = execute(["-m", "stillflow", "run", "program.py", "--steps=5"], cwd)
    assert (result.stdout, result.returncode) == ("inf 0 5\n", 0)
    assert result.stderr.count("has a default of another type") == 1


def test_numpy_takes_abstract_dtypes(program):
    cwd = program(
        """
        import numpy as np
        import tensorflow as tf
        print(np.empty(2, dtype=np.integer).dtype, np.zeros(2, np.floating).dtype)
        print(np.array([1], dtype=np.number).dtype, np.asarray([1], np.complexfloating).dtype)
        try:
            np.zeros(2, dtype="nothing")
        except TypeError as error:
            print(error)
        """
    )
    assert run(cwd).stdout == "int64 float64\nfloat64 complex128\ndata type 'nothing' not understood\n"


@pytest.mark.parametrize("command", [["-m", "stillflow", "run"], ["-m", "stillflow"]])
def test_arguments_module_and_path_are_those_of_plain_python(program, command):
    text = """
        import sys, helper, __main__
        print(sys.argv, __name__, __file__, __package__, __spec__, __doc__, sorted(vars()), helper.VALUE)
        print(sys.path[0], __main__.__dict__ is globals())
        """
    cwd = program(text)
    program("VALUE = 3", "helper.py")
    ours = execute([*command, "program.py", "--steps", "3", "-h", "--", "x"], cwd)
    plain = execute(["program.py", "--steps", "3", "-h", "--", "x"], cwd)
    assert ours.stderr == plain.stderr == ""
    assert ours.stdout == plain.stdout


@pytest.mark.parametrize(
    "ending",
    [
        "raise SystemExit(7)",
        "raise SystemExit('a sentence')",
        "sys.exit()",
        "sys.exit(None)",
        "os._exit(5)",
        "def f():\n    raise ValueError('wrong')\nf()",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise KeyError('x')",
        "print 'python 2'",
        "raise KeyboardInterrupt",
        "import nothing_of_that_name",
        "sys.excepthook = lambda kind, value, trace: print('hook', kind, trace.tb_lineno)\n1 / 0",
        "import atexit\natexit.register(print, 'goodbye')\nraise ValueError(1)",
    ],
)
def test_endings_are_those_of_plain_python(program, ending):
    cwd = program(f"import os, sys\nprint('begins', flush=True)\n{ending}\n")
    ours = run(cwd)
    plain = execute(["program.py"], cwd)
    assert ours.stderr == plain.stderr
    assert ours.stdout == plain.stdout
    assert ours.returncode == plain.returncode


def test_ctrl_c_ends_a_program_as_in_plain_python(program):
    cwd = program("import time, os, signal\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(30)\n")
    assert run(cwd).returncode == execute(["program.py"], cwd).returncode == -signal.SIGINT


def test_a_file_that_is_not_there(tmp_path):
    result = execute(["-m", "stillflow", "run", "none.py"], tmp_path)
    assert result.returncode == 2
    assert f"can't open file {str(tmp_path / 'none.py')!r}: [Errno 2] No such file or directory" in result.stderr


def test_old_numpy_names_are_there_and_told_once(program):
    cwd = program(
        """
        import numpy as np
        print(np.zeros(2, np.int).dtype.kind, np.float is float, np.NaN != np.NaN, np.product([2, 3]))
        print(np.asscalar(np.array(4)), np.math.pi == np.pi, np.asfarray([1]).dtype, np.bool8 is np.bool_)
        print(np.reshape(np.arange(4), newshape=[2, -1]).tolist(), issubclass(np.RankWarning, Warning))
        print(np.cast[np.float32]([1, 2]).dtype, np.cast["int32"](2.5) == 2)
        print([type(f([1], [2])) for f in (np.meshgrid, np.broadcast_arrays, np.atleast_1d)], np.atleast_2d(1).shape)
        try:
            np.nothing
        except AttributeError as error:
            print("AttributeError", "nothing" in str(error))
        """
    )
    result = run(cwd)
    assert result.stdout == (
        "i True True 6\n4 True float64 True\n[[0, 1], [2, 3]] True\nfloat32 True\n"
        "[<class 'list'>, <class 'list'>, <class 'list'>] (1, 1)\nAttributeError True\n"
    )
    assert result.stderr.count("no longer part of numpy") == 1
    assert len(result.stderr.splitlines()) == 1


def test_numbers_print_as_with_old_numpy(program):
    result = run(
        program("import numpy as np; print([np.float32(1.5), np.int64(2)], {1: np.bool_(True)}, repr(np.uint8(3)))")
    )
    assert (result.stdout, result.returncode) == ("[1.5, 2] {1: True} 3\n", 0)


def test_small_integers_that_overflow_are_told_of_once(program):
    text = "import numpy as np\nfor i in (100, 101):\n    print(np.uint8(200) + i)\n"
    result = run(program(text))
    assert result.returncode == 0 and "overflow encountered in scalar add" in result.stderr
    assert result.stderr.count("numpy 1 widened it") == 1
    result = run(program("import numpy as np\nnp.uint8(200) * 1000"))
    assert result.returncode == 1 and result.stderr.count("numpy 1 widened it") == 1


def test_what_came_with_tensorflow_is_named_where_it_is_missing(program):
    hidden = "import sys\nsys.modules['h5py'] = None\n"
    text = (
        hidden
        + "try:\n    import h5py\nexcept ImportError as error:\n    raise ModuleNotFoundError('', name='h5py.x')\n"
    )
    result = run(program(text))
    assert result.returncode == 1 and "pip install stillflow[programs]" in result.stderr
    assert "stillflow[programs]" not in run(program("import no_such_module")).stderr


def test_old_names_of_python_are_there(program):
    (
        cwd := program(
            """
        import base64, collections, fractions, inspect, threading, time
        from collections import Mapping, Iterable
        import imp
        def f(a, b=2, *c, **d): pass
        print(isinstance({}, Mapping), collections.Sequence is collections.abc.Sequence, inspect.getargspec(f))
        print(inspect.formatargspec(*inspect.getargspec(f)), fractions.gcd(12, 18), time.clock() >= 0)
        print(base64.decodestring(base64.encodestring(b"ab")), threading.Thread().isAlive())
        print(imp.load_source("other", "other.py").X)
        try:
            collections.nothing
        except AttributeError as error:
            print(error)
        """
        )
    ).joinpath("other.py").write_text("X = 5\n")
    assert run(cwd).stdout.splitlines() == [
        "True True ArgSpec(args=['a', 'b'], varargs='c', keywords='d', defaults=(2,))", "(a, b=2, *c, **d) 6 True",
        "b'ab' False", "5", "module 'collections' has no attribute 'nothing'",
    ]  # fmt: skip


def test_old_calls_of_python_do_what_they_did(program):
    cwd = program(
        """
        import configparser, html.parser, io, json, os, random, unittest, urllib
        import numpy as np
        import xml.etree.cElementTree as ET
        print(json.loads("[1]", encoding="utf-8"), json.load(io.StringIO("{}"), encoding="utf-8"), os.errno.EEXIST)
        random.seed(1)
        x = list(range(10))
        random.shuffle(x, random.Random(2).random)
        print(sorted(random.sample({1, 2, 3}, 3)), random.sample(range(100), 5), random.randint(1.0, 10.0), x)
        print(random.sample({4: 5}.keys(), 1), json.dumps({"loss": sum([np.float32(0.5)]) / 2, "none": None}))
        with open("u.txt", "wb") as file:
            file.write(b"a\\r\\nb")
        print(open("u.txt", "rU").readlines(), open("u.txt", "U").read() == open("u.txt").read())
        print(ET.fromstring("<a><b>1</b></a>").find("b").text, html.parser.HTMLParser().unescape("&lt;"))
        settings = configparser.SafeConfigParser()
        settings.readfp(io.StringIO("[a]\\nb=1"))
        print(settings.getint("a", "b"), urllib.parse.quote("a b"), urllib.request.url2pathname("a"))
        case = unittest.TestCase()
        case.assertEquals(1, 1), case.assertRaisesRegexp(ValueError, "x", int, "x"), unittest.mock.Mock()
        for fails in (lambda: urllib.nothing, lambda: random.sample(3, 1), lambda: open("u.txt", "q")):
            try:
                fails()
            except (AttributeError, TypeError, ValueError) as error:
                print(type(error).__name__)
        """
    )
    assert run(cwd).stdout.splitlines() == [
        "[1] {} 17", "[1, 2, 3] [15, 63, 97, 57, 60] 7 [4, 1, 6, 2, 3, 5, 7, 0, 8, 9]",
        '[4] {"loss": 0.25, "none": null}', "['a\\n', 'b'] True", "1 <", "1 a%20b a", "AttributeError", "TypeError",
        "ValueError",
    ]  # fmt: skip


def test_arrays_of_rows_of_any_length_are_arrays_of_lists(program):
    cwd = program(
        """
        import numpy as np
        import tensorflow as tf
        rows = np.array([[1, 2], [3]])
        print(rows.dtype, rows.tolist(), np.asarray([[1], []]).shape, np.ndim([[1], []]), np.shape([[1], [2, 3], []]))
        for fails in (lambda: np.array([[1, 2], [3]], np.int32), lambda: tf.constant([[1, 2], [3]])):
            try:
                fails()
            except ValueError as error:
                print("ValueError")
        """
    )
    assert run(cwd).stdout.splitlines() == ["object [[1, 2], [3]] (2,) 1 (3,)", "ValueError", "ValueError"]


def test_old_calls_of_numpy_do_what_they_did(program):
    cwd = program(
        """
        import numpy as np
        values, loss = np.zeros((2, 2)), np.array([1.5])
        values[0, 1] = loss
        values[1] = np.array([[2.5]])
        print(values.tolist(), float(loss), int(np.array([[3]])), "%d %.2f" % (np.array([7]), loss))
        print(np.fromstring(np.array([1, 2], np.int16).tostring(), np.int16), np.fromstring("1 2", sep=" "))
        print(np.float32(1).tostring(), np.arange(4).ptp(), np.array([1], np.uint16).newbyteorder(">"))
        values.itemset(3, 9.0)
        values.itemset((0, 0), 8.0)
        print(values.tolist(), np.array([300, -1], dtype=np.uint8), np.array([1], dtype=float, copy=False))
        print(np.sum(i for i in range(4)), np.vstack(np.ones(1) * i for i in range(2)).tolist())
        print([np.issubdtype(t, kind) for t in (np.float32, np.int32) for kind in (np.float, int, np.uint8, "i4")])
        print(np.histogram([1, 2, 2], bins=2, normed=True)[0], np.cast[np.float32](1).dtype, np.sctypes["float"][1])
        for fails in (lambda: float(np.zeros(2)), lambda: int(np.zeros(0)), lambda: np.array([300], np.uint8) + 300):
            try:
                fails()
            except (TypeError, OverflowError) as error:
                print(type(error).__name__)
        """
    )
    result = run(cwd)
    assert result.stdout.splitlines() == [
        "[[0.0, 1.5], [2.5, 2.5]] 1.5 3 7 1.50", "[1 2] [1. 2.]", "b'\\x00\\x00\\x80?' 3 [256]",
        "[[8.0, 1.5], [2.5, 9.0]] [ 44 255] [1.]", "6 [[0.0], [1.0]]",
        "[True, False, False, False, False, True, False, True]",
        "[0.66666667 1.33333333] float32 <class 'numpy.float32'>",
        "TypeError", "TypeError", "OverflowError",
    ]  # fmt: skip
    assert result.stderr.count("stillflow: numpy no longer takes an array of one element for a number") <= 1


def test_arrays_decide_over_the_type_of_a_result(program):
    """Types are those of numpy 1.18."""
    cwd = program(
        """
        import numpy as np
        import stillflow
        numbers = [np.float64(0.5), np.float64(1e39), np.float64("inf"), np.int64(3), np.int64(100000), np.int32(-1)]
        for kind in ("f4", "f8", "c8", "i4", "u1"):
            array = np.ones(2, kind)
            with np.errstate(all="ignore"):
                print(kind, *((array * number).dtype.str[1:] for number in numbers[: 6 if kind != "u1" else 4]))
        array, number = np.full(2, 6, np.float32), np.float64(4)
        for result in (array + number, number - array, array * number, number / array, array // number, 2.0 * array):
            print(result.dtype, result.tolist())
        print((array * np.array(0.5)).dtype, (array * np.ones(1)).dtype, type(number * np.int64(2)), 3 - number)
        times = np.array([2], "m8[s]")
        print(times * np.int64(3), np.timedelta64(1, "s") + times, number * np.int32(2))
        """
    )
    assert run(cwd).stdout.splitlines() == [
        "f4 f4 f8 f4 f4 f8 f4", "f8 f8 f8 f8 f8 f8 f8", "c8 c8 c16 c8 c8 c16 c8",
        "i4 f8 f8 f8 i4 i4 i4", "u1 f8 f8 f8 u1",
        "float32 [10.0, 10.0]", "float32 [-2.0, -2.0]", "float32 [24.0, 24.0]",
        "float32 [0.6666666865348816, 0.6666666865348816]", "float32 [1.0, 1.0]", "float32 [12.0, 12.0]",
        "float32 float64 <class 'numpy.float64'> -1.0", "[6] [3] 8.0",
    ]  # fmt: skip


def test_old_modules_of_scipy_are_there(program):
    cwd = program(
        """
        from scipy import misc
        import scipy.misc
        from scipy.sparse.linalg.eigen.arpack import eigsh
        import scipy.sparse.linalg, numpy as np
        print(scipy.misc.imresize(np.zeros((4, 4)), 0.5).shape, misc.comb(5, 2), eigsh is scipy.sparse.linalg.eigsh)
        """
    )
    assert run(cwd).stdout == "(2, 2) 10.0 True\n"


def test_old_names_of_libraries_are_there(program):
    cwd = program(
        """
        import h5py, numpy as np
        from PIL import Image
        print(Image.ANTIALIAS == Image.LANCZOS)
        with h5py.File("a.h5", "w") as file:
            file["x"] = np.arange(3)
            file.attrs["text"] = "a b"
            file.attrs["texts"] = ["a", "bc"]
            print([text.decode() for text in file.attrs["texts"]])
            print(file["x"].value, file.attrs["text"].decode("utf-8"), file.attrs.get("text") == "a b")
        with h5py.File("new.h5") as file:
            print(file.mode, file.fid == file.id)
        """
    )
    pytest.importorskip("h5py")
    assert run(cwd).stdout == "True\n['a', 'bc']\n[0 1 2] a b True\nr+ True\n"


def test_programs_for_gpus_run_on_processors_and_are_told_once(program):
    cwd = program(
        """
        import tensorflow as tf
        with tf.device("/gpu:1"):
            x = tf.constant(2.0) * 3.0
        print(tf.Session().run(x + 0), tf.Session().run(x + 1))
        try:
            with tf.device("/job:ps/task:0"):
                tf.Session().run(tf.constant(1.0))
        except tf.errors.InvalidArgumentError:
            print("refused")
        """
    )
    result = run(cwd)
    assert result.stdout == "6.0 7.0\nrefused\n"
    assert result.stderr.count("here it runs on the processor") == len(result.stderr.splitlines()) == 1


def test_star_imports_all_public_names(program):
    cwd = program(
        """
        import builtins
        from tensorflow import *
        from tensorflow.compat.v1 import *
        builtins.print(constant([1, 2]).shape, nn.relu, estimator.Estimator, contrib.layers)
        """
    )
    result = run(cwd)
    assert result.returncode == 0 and result.stdout.startswith("(2,) <function ")


def test_old_numpy_names_stay_away_elsewhere():
    command = "import stillflow, numpy as np; stillflow.install_as_tensorflow(); print(hasattr(np, 'float'))"
    assert execute(["-c", command], None).stdout == "False\n"


def test_flags_and_app_run(program):
    cwd = program(
        """
        import tensorflow as tf
        flags = tf.app.flags
        flags.DEFINE_integer("steps", 10, "How many.")
        flags.DEFINE_boolean("fast", False, docstring="Whether.")
        FLAGS = flags.FLAGS

        def main(argv):
            print(FLAGS.steps + 1, FLAGS.fast, argv[1:])
            return 4

        if __name__ == "__main__":
            tf.app.run()
        """
    )
    result = run(cwd, "--steps=5", "--fast", "--unknown=1", "rest")
    assert result.stdout == "6 True ['--unknown=1', 'rest']\n"
    assert result.returncode == 4
    result = run(cwd, "--steps=many")
    assert result.returncode == 1
    assert "flag --steps=many" in result.stderr
    assert "How many." in run(cwd, "--help").stdout


def test_the_command_explains_itself(tmp_path):
    assert "run a program" in execute(["-m", "stillflow", "--help"], tmp_path).stdout
    result = execute(["-m", "stillflow", "run", "--help"], tmp_path)
    assert result.returncode == 0
    assert "exit code" in result.stdout
    assert execute(["-m", "stillflow", "run"], tmp_path).returncode == 2


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_that_a_program_starts_find_tensorflow(program, method):
    cwd = program(
        f"""
        import multiprocessing
        import tensorflow as tf
        from tensorflow.python.client import timeline

        def work(x):
            import tensorflow.python.framework.ops as ops
            with tf.Graph().as_default(), tf.Session() as session:
                return int(session.run(tf.constant(x) * 2)), tf.__name__, ops.Graph is tf.Graph

        if __name__ == "__main__":
            with multiprocessing.get_context({method!r}).Pool(1) as pool:
                print(pool.map(work, [1, 2]), hasattr(timeline, "Timeline"))
        """
    )
    result = run(cwd)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[(2, 'stillflow', True), (4, 'stillflow', True)] True"


def test_a_module_runs_as_in_plain_python(program):
    text = """
        import sys
        print(sys.argv[1:], __name__, __package__, __file__.rpartition("/")[2], sys.path[0] == ".")
        sys.exit(3)
        """
    cwd = program(text, "module_to_run.py")
    ours = execute(["-m", "stillflow", "run", "-m", "module_to_run", "-x", "1"], cwd)
    plain = execute(["-m", "module_to_run", "-x", "1"], cwd)
    assert (ours.stdout, ours.stderr, ours.returncode) == (plain.stdout, plain.stderr, 3)
    (cwd / "package").mkdir()
    (cwd / "package" / "__main__.py").write_text("import tensorflow as tf; print(tf.__version__)")
    assert execute(["-m", "stillflow", "run", "-m", "package"], cwd).stdout == "1.15.5\n"


def test_a_module_that_is_not_there(tmp_path):
    for name in ("no_such_module", "tensorflow.no.such", "tensorflow.nn"):
        result = execute(["-m", "stillflow", "run", "-m", name], tmp_path)
        assert (result.stderr, result.returncode) == (f"stillflow: No module named {name}\n", 1)


def test_an_error_in_a_module_is_its_own(program):
    cwd = program("import nothing_of_that_name", "module_to_run.py")
    result = execute(["-m", "stillflow", "run", "-m", "module_to_run"], cwd)
    assert "No module named 'nothing_of_that_name'" in result.stderr
    assert result.returncode == 1

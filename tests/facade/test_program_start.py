"""tf.flags, tf.logging, tf.compat, tf.version."""

import logging
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import stillflow as tf


def execute(program, *arguments):
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60)


def test_flags_are_parsed_when_one_is_read():
    program = (
        "import stillflow as tf\n"
        "tf.flags.DEFINE_string('name', 'x', 'Help.')\n"
        "tf.flags.DEFINE_float(flag_name='rate', default_value=0.5, docstring='Help.')\n"
        "tf.flags.DEFINE_bool('on', True, 'Help.')\n"
        "tf.flags.DEFINE_list('items', 'a,b', 'Help.')\n"
        "tf.flags.DEFINE_enum('kind', 'p', ['p', 'q'], 'Help.')\n"
        "F = tf.app.flags.FLAGS\n"
        "print(F.name, F.rate, F.on, F.items, F.kind)\n"
        "F.name = 'z'\n"
        "print(F.name, 'rate' in F, F['rate'].value, F.flag_values_dict()['on'], F is tf.flags.FLAGS)\n"
    )
    result = execute(program, "--name=y", "--rate", "0.25", "--noon", "--items=c,d", "--kind=q")
    assert result.stdout == "y 0.25 False ['c', 'd'] q\nz True 0.25 False True\n", result.stderr
    result = execute(program, "--kind=r")
    assert "IllegalFlagValueError" in result.stderr
    assert "UnrecognizedFlagError" in execute(program, "--nothing=1").stderr


def test_flags_as_programs_of_before_absl_read_them():
    program = (
        "import stillflow as tf\n"
        "tf.flags.DEFINE_integer('size', 3, 'Help.')\n"
        "FLAGS = tf.flags.FLAGS\n"
        "FLAGS._parse_flags()\n"
        "print('size' in FLAGS.__flags, FLAGS.__flags['size'].value, hasattr(FLAGS, '__wrapped__'))\n"
    )
    assert execute(program, "--size=5").stdout == "True 5 False\n"


def test_defaults_may_be_numbers_of_numpy():
    program = (
        "import numpy as np, stillflow as tf\n"
        "tf.flags.DEFINE_integer('size', np.power(2, 9), 'Help.')\n"
        "tf.flags.DEFINE_float('rate', default_value=np.float32(0.5), docstring='Help.')\n"
        "print(repr(tf.flags.FLAGS.size), repr(tf.flags.FLAGS.rate))\n"
    )
    assert execute(program).stdout == "512 0.5\n"


def test_required_flags():
    program = (
        "import stillflow as tf\n"
        "tf.flags.DEFINE_string('data', None, 'Help.')\n"
        "tf.flags.mark_flag_as_required('data')\n"
        "tf.app.run(lambda argv: print(tf.flags.FLAGS.data))\n"
    )
    assert execute(program, "--data=x").stdout == "x\n"
    assert "Flag --data must have a value other than None" in execute(program).stderr


def test_a_flag_that_is_not_there():
    program = "import stillflow as tf\ntf.flags.FLAGS.nothing\n"
    assert "AttributeError: nothing" in execute(program).stderr


LOGGING = """
import stillflow as tf
log = tf.logging
log.info("hidden %d", 1)
log.warn("shown %d", 2)
log.set_verbosity(log.INFO)
log.info("info")
for i in range(5):
    log.log_every_n(log.WARN, "every %d", 2, i)
    log.log_first_n(log.ERROR, "first %d", 2, i)
    log.log_if(log.FATAL, "if %d", i == 3, i)
log.debug("hidden")
log.vlog(log.INFO, "vlog")
log.flush()
print(log.get_verbosity(), log.DEBUG, log.INFO, log.WARN, log.ERROR, log.FATAL)
"""


def test_logging_writes_what_tensorflow_writes():
    result = execute(LOGGING)
    assert result.stdout == "20 10 20 30 40 50\n"
    assert result.stderr.splitlines() == [
        "WARNING:tensorflow:shown 2",
        "INFO:tensorflow:info",
        "WARNING:tensorflow:every 0",
        "ERROR:tensorflow:first 0",
        "ERROR:tensorflow:first 1",
        "WARNING:tensorflow:every 2",
        "CRITICAL:tensorflow:if 3",
        "WARNING:tensorflow:every 4",
        "INFO:tensorflow:vlog",
    ]


def test_a_program_with_handlers_of_its_own_gets_each_message_once():
    program = (
        "import logging, stillflow as tf\n"
        "tf.logging.warn('before')\n"
        "logging.basicConfig(format='%(filename)s %(lineno)d %(message)s')\n"
        "tf.logging.error('after')\n"
    )
    assert execute(program).stderr == "WARNING:tensorflow:before\n<string> 4 after\n"


def test_text_and_bytes():
    compat = tf.compat
    assert compat.as_bytes("é") == compat.as_bytes(bytearray(b"\xc3\xa9")) == b"\xc3\xa9"
    assert compat.as_text(b"\xc3\xa9") == compat.as_str("é") == "é"
    assert compat.as_str_any(3) == "3"
    assert compat.as_str_any(b"x") == "x"
    assert compat.path_to_str(pathlib.Path("a/b")) == "a/b"
    for function in (compat.as_bytes, compat.as_text):
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            function(3)


def test_the_rest_of_compat():
    assert tf.compat.v1 is tf
    assert tf.compat.forward_compatible(2019, 1, 1)
    assert not tf.compat.forward_compatible(2030, 1, 1)
    assert isinstance(np.int32(1), tf.compat.integral_types)
    assert isinstance(np.float32(1), tf.compat.real_types)
    assert tf.compat.dimension_value(tf.Dimension(3)) == 3
    assert tf.compat.dimension_value(None) is None
    assert tf.compat.dimension_at_index(tf.TensorShape([2, 3]), 1).value == 3
    assert tf.compat.dimension_at_index(tf.TensorShape(None), 1).value is None


def test_versions():
    assert tf.VERSION == tf.__version__ == tf.version.VERSION == "1.15.5"
    assert tf.GIT_VERSION == tf.version.GIT_VERSION
    assert [int(part) for part in tf.__version__.split(".")] >= [1, 0, 0]


def test_the_logger_of_all_messages_is_pythons():
    assert tf.get_logger() is logging.getLogger("tensorflow")
    tf.logging.set_verbosity(tf.logging.WARN)
    assert tf.get_logger().level == logging.WARN


def test_a_horizon_of_compatibility_ends_with_its_context():
    with tf.compat.forward_compatibility_horizon(2019, 12, 1):
        assert tf.compat.forward_compatible(2019, 11, 30)
        assert not tf.compat.forward_compatible(2019, 12, 1)
    assert not tf.compat.forward_compatible(2019, 11, 30)


def test_files_beside_a_program_are_found():
    here = pathlib.Path(__file__).parent
    assert tf.resource_loader.get_data_files_path() == str(here)
    assert tf.resource_loader.get_path_to_datafile("data.csv") == str(here / "data.csv")
    assert tf.resource_loader.readahead_file_path("a") == "a"

"""tensorflow.python.eager.monitoring, and the values of attributes of tensorflow.python.eager.execute."""

import pytest
from stillflow.python.eager import execute, monitoring

import stillflow as tf


def test_metrics_keep_values_by_labels():
    counter = monitoring.Counter("/test/calls", "how often", "method")
    counter.get_cell("fit").increase_by(2)
    counter.get_cell("fit").increase_by(3)
    assert (counter.get_cell("fit").value(), counter.get_cell("predict").value()) == (5, 0)
    with pytest.raises(ValueError, match="The Counter expects taking 1 labels"):
        counter.get_cell()
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another metric with the same name already exists"):
        monitoring.BoolGauge("/test/calls", "again")
    with pytest.raises(ValueError, match="Cannot create Counter metric with label >= 3"):
        monitoring.Counter("/test/more", "", "a", "b", "c")


@pytest.mark.parametrize(
    ("kind", "initial", "value"), [("IntGauge", 0, 7), ("StringGauge", "", "seven"), ("BoolGauge", False, True)]
)
def test_gauges_are_set(kind, initial, value):
    gauge = getattr(monitoring, kind)(f"/test/{kind}", "a gauge")
    assert gauge.get_cell().value() == initial
    gauge.get_cell().set(value)
    assert gauge.get_cell().value() == value
    del gauge
    getattr(monitoring, kind)(f"/test/{kind}", "the name is free again")


def test_values_of_attributes():
    assert (execute.make_int(3.7, "n"), execute.make_float(2, "x"), execute.make_str("a", "s")) == (3, 2.0, b"a")
    assert (execute.make_bool(True, "b"), execute.make_type(tf.int32, "T")) == (True, 3)
    assert (execute.make_shape([2, None], "shape"), execute.make_shape(None, "shape")) == ([2, None], None)
    for make, value, text in (
        (execute.make_int, "3", "Expected int for argument 'a' not '3'."),
        (execute.make_float, "x", "Expected float for argument 'a' not 'x'."),
        (execute.make_str, 3, "Expected string for argument 'a' not 3."),
        (execute.make_bool, 1, "Expected bool for argument 'a' not 1."),
        (execute.make_type, "nothing", "Expected DataType for argument 'a' not 'nothing'."),
        (execute.make_shape, 1.5, "Error converting a to a TensorShape: "),
    ):
        with pytest.raises((TypeError, ValueError)) as error:
            make(value, "a")
        assert str(error.value).startswith(text)

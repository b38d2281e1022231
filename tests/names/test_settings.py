"""Names of inner modules that are settings: they say what is chosen, and programs choose by setting them."""

from unittest import mock

import pytest
from stillflow.python.keras.engine import base_layer_utils
from stillflow.python.ops import control_flow_util

import stillflow as tf


@pytest.fixture(autouse=True)
def switched_off_again():
    yield
    tf.disable_control_flow_v2()


def test_name_follows_the_switch():
    assert not control_flow_util.ENABLE_CONTROL_FLOW_V2
    tf.enable_control_flow_v2()
    assert control_flow_util.ENABLE_CONTROL_FLOW_V2


def test_setting_the_name_switches():
    control_flow_util.ENABLE_CONTROL_FLOW_V2 = True
    assert tf.cond(tf.constant(True), lambda: 1, lambda: 2).op.inputs[0].op.type == "StatelessIf"
    control_flow_util.ENABLE_CONTROL_FLOW_V2 = False
    assert tf.cond(tf.constant(True), lambda: 1, lambda: 2).op.type == "Merge"


def test_setting_can_be_patched():
    with mock.patch.object(control_flow_util, "ENABLE_CONTROL_FLOW_V2", True):
        assert tf.control_flow_v2_enabled()
    assert not tf.control_flow_v2_enabled()


def test_types_of_layers_follow_their_setting():
    with mock.patch.object(base_layer_utils, "V2_DTYPE_BEHAVIOR", True):
        assert tf.keras.layers.Dense(2).dtype == "float32"
    assert tf.keras.layers.Dense(2).dtype is None

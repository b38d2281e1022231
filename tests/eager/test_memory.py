"""Programs that run for long need no more memory than short ones."""

import gc
import weakref

import numpy as np

import stillflow as tf


def test_seeds_that_are_drawn_leave_no_states(new_graph):
    tf.set_random_seed(1)
    first = [tf.random_uniform([2]).numpy().tolist() for _ in range(3)]
    states = len(new_graph.compiled.core.random_states())
    for _ in range(20):
        tf.random_uniform([2])
    assert len(new_graph.compiled.core.random_states()) == states
    assert len(new_graph.compiled._by_key) < 20
    tf.set_random_seed(1)
    assert [tf.random_uniform([2]).numpy().tolist() for _ in range(3)] == first


def test_seeds_that_are_given_go_on(new_graph):
    tf.set_random_seed(1)
    drawn = [tf.random_uniform([2], seed=3).numpy().tolist() for _ in range(2)]
    assert drawn[0] != drawn[1]
    expected = np.float32([[0.7787856, 0.80119777], [0.24208665, 0.8160603]])
    np.testing.assert_allclose(drawn, expected, rtol=1e-6)


def test_variables_take_the_places_of_those_that_are_gone():
    places = set()
    for value in range(20):
        variable = tf.Variable([float(value), 0.0], name=f"v{value}")
        assert variable.assign_add([1.0, 1.0]).numpy().tolist() == [value + 1.0, 1.0]
        places.add(variable.handle._op._attrs["shared_name"])
        del variable
        gc.collect()
    assert len(places) < 5


def test_variables_that_are_there_have_places_of_their_own():
    variables = [tf.Variable(float(value)) for value in range(5)]
    del variables[2]
    variables.append(tf.Variable(9.0))
    assert [variable.numpy() for variable in variables] == [0.0, 1.0, 3.0, 4.0, 9.0]


def test_a_handle_keeps_its_place():
    variable = tf.Variable(1.0)
    handle = variable.handle
    del variable
    other = tf.Variable(2.0)
    assert other.handle._op._attrs["shared_name"] != handle._op._attrs["shared_name"]


def test_variables_go_with_the_checkpoint_that_holds_them(tmp_path):
    gc.disable()
    try:
        for save in (
            lambda root: root.save(str(tmp_path / "model")),
            lambda root: tf.saved_model.save(root, str(tmp_path / "saved")),
        ):
            variable = tf.Variable(1.0)
            root = tf.train.Checkpoint(v=variable)
            save(root)
            reference = weakref.ref(variable)
            del root, variable
            assert reference() is None
    finally:
        gc.enable()

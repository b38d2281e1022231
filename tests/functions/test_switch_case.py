"""Functions chosen by their numbers."""

import pytest

import stillflow as tf


@pytest.mark.parametrize(
    ("number", "expected"), [(0, [6.0, 2.0]), (1, [9.0, 6.0]), (2, [-3.0, -1.0]), (-5, [-3.0, -1.0])]
)
def test_a_function_is_chosen_when_the_graph_runs_and_gradients_go_through_it(number, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        x, index = tf.constant(3.0), tf.placeholder(tf.int32)
        functions = {1: lambda: x * x, 0: lambda: 2.0 * x}
        y = tf.switch_case(index, functions, default=lambda: -x)
        found = session.run([y, *tf.gradients(y, x)], {index: number})
    assert found == expected


def test_without_a_default_the_last_function_is_taken_for_other_numbers():
    with tf.Graph().as_default(), tf.Session() as session:
        functions = [lambda: tf.constant(10), lambda: tf.constant(20)]
        values = [tf.switch_case(tf.constant(number), functions) for number in (-1, 0, 1, 2)]
        assert session.run(values) == [20, 10, 20, 20]


@pytest.mark.parametrize(
    ("index", "functions", "error", "text"),
    [
        (1, [abs], TypeError, "branch_index must a Tensor, got <class 'int'>"),
        (1.5, [abs], TypeError, "branch_index must an integer Tensor"),
        (1, [], ValueError, "Must provide at least one item in branch_fns"),
        (1, abs, TypeError, "branch_fns must be a list, tuple, or dict"),
        (1, [(0, abs), abs], TypeError, "Each entry in branch_fns must be a 2-tuple"),
        (1, {"a": abs}, TypeError, "key must be a Python `int`, got <class 'str'>"),
        (1, {0: 1}, TypeError, "fn for key 0 must be callable"),
        (1, {0: abs, 2: abs}, ValueError, r"contiguous range of \[0 to 2\) but found \{0,2\}"),
    ],
)
def test_errors_are_those_of_tensorflow(index, functions, error, text):
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        is_tensor = "got <class 'int'>" not in text
        tf.switch_case(tf.constant(index) if is_tensor else index, functions)


def nodes_and_functions(graph):
    definition = graph.as_graph_def()
    nodes = [(node.name, node.op, *node.input) for node in definition.node]
    return nodes, sorted([node.op for node in function.node_def] for function in definition.library.function)


def test_the_graph_is_that_of_tensorflow(new_graph):
    index, x = tf.placeholder(tf.int32, [], name="i"), tf.constant(3.0, name="x")
    tf.switch_case(index, [lambda: x * x, lambda: tf.sin(x), lambda: x + 1.0])
    nodes, functions = nodes_and_functions(new_graph)
    assert nodes == [
        ("i", "Placeholder"),
        ("x", "Const"),
        ("switch_case/indexed_case", "Case", "i", "x"),
        ("switch_case/indexed_case/Identity", "Identity", "switch_case/indexed_case"),
    ]
    assert functions == [["Const", "AddV2"], ["Mul"], ["Sin"]]


def test_a_graph_def_can_be_imported(new_graph):
    index, x = tf.placeholder(tf.int32, [], name="i"), tf.constant(3.0)
    y = tf.identity(tf.switch_case(index, [lambda: x * x, lambda: x + 1.0]), name="y")
    tf.gradients(y, x, name="g")
    definition = new_graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(definition, name="")
        assert [session.run("y:0", {"i:0": number}) for number in range(3)] == [9.0, 4.0, 4.0]


def test_second_derivatives_by_tapes_too(new_graph):
    index, x = tf.placeholder(tf.int32, []), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.switch_case(index, [lambda: x * x, lambda: tf.switch_case(index - 1, [lambda: x**3])])
    by_tape = tape.gradient(y, x)
    first = tf.gradients(y, x)
    with tf.Session() as session:
        fetches = [by_tape, *first, *tf.gradients(first, x)]
        assert [session.run(fetches, {index: number}) for number in range(2)] == [[4.0, 4.0, 2.0], [12.0, 12.0, 12.0]]


def test_branches_read_and_change_variables(new_graph):
    index = tf.placeholder(tf.int32, [])
    of_reference = tf.get_variable("v", initializer=2.0, use_resource=False)
    of_resource = tf.get_variable("r", initializer=5.0, use_resource=True)
    branches = [
        lambda: of_reference * of_resource,
        lambda: of_resource * of_resource * of_reference,
        lambda: of_resource.assign_sub(1.0) * of_reference,
    ]
    y = tf.switch_case(index, branches)
    fetches = [y, *tf.gradients(y, [of_resource])]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(fetches, {index: number}) for number in (0, 1, 2, 0)]
    assert found == [[10.0, 2.0], [50.0, 20.0], [8.0, 2.0], [8.0, 2.0]]


def test_in_a_loop_with_gradients(new_graph):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())

    def each(row):
        number = tf.cast(row[0], tf.int32) - 1
        return tf.switch_case(number, [lambda: tf.reduce_sum(w) * row, lambda: row, lambda: -row * w[0]])

    y = tf.map_fn(each, x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [value.tolist() for value in session.run([y, *tf.gradients(y, [x, w])])]
    assert found == [[[4.0, 8.0], [-3.0, -4.0]], [[4.0, 4.0], [-1.0, -1.0]], [[0.0, -1.0], [3.0, 3.0]]]


def test_random_numbers_of_a_branch_go_on(new_graph):
    index = tf.placeholder(tf.int32, [])
    chosen = tf.switch_case(index, [lambda: tf.random_uniform([2], seed=1), lambda: tf.zeros([2])])
    with tf.Session() as session:
        found = [session.run(chosen, {index: number}).tolist() for number in (0, 1, 0)]
    assert found == [[0.2390373945236206, 0.92039954662323], [0.0, 0.0], [0.3430497646331787, 0.1896193027496338]]


def test_branches_that_return_what_differs_are_refused(new_graph):
    with pytest.raises(TypeError, match=r"^branches\[0\] and branches\[2\] arguments to tf\.switch_case must have"):
        tf.switch_case(tf.constant(0), [lambda: 1.0, lambda: 2.0, lambda: 1])

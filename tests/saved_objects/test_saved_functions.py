"""Functions of SavedModels that call others, and objects that train themselves."""

import shutil

import stillflow as tf


class Trained(tf.Module):
    """A model with its step of training."""

    def __init__(self):
        super().__init__()
        self.layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
        self.optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def __call__(self, x):
        return self.layer(x)

    @tf.function
    def train(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.abs(y - self(x)))
        variables = self.layer.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))


def saved_and_loaded(value, folder):
    tf.saved_model.save(value, str(folder))
    return tf.saved_model.load_v2(str(folder))


def test_a_step_of_training_is_saved_with_the_state_of_its_optimizer(tmp_path):
    made = Trained()
    data = {"x": tf.constant([[1.0]]), "y": tf.constant([[2.0]])}
    made.train(**data)
    loaded = saved_and_loaded(made, tmp_path)
    for model in (made, loaded):
        model.train(**data)
    assert loaded.optimizer.learning_rate.numpy() == made.optimizer.learning_rate.numpy()
    assert loaded(data["x"]).numpy() == made(data["x"]).numpy() > 1.0


def test_functions_that_call_others_by_name_are_loaded(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def inner(x):
        return x + 1.0

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def outer(x):
        return inner(x) * inner(2.0 * x)

    root = tf.train.Checkpoint(outer=outer)
    again = saved_and_loaded(saved_and_loaded(root, tmp_path / "first"), tmp_path / "second")
    assert again.outer(2.0).numpy() == 15.0


def test_ragged_tensors_go_in_and_out(tmp_path):
    @tf.function
    def doubled(x):
        return 2 * x

    rows = tf.ragged.constant([[1, 2], [3]])
    doubled(rows)
    loaded = saved_and_loaded(tf.train.Checkpoint(doubled=doubled), tmp_path)
    assert loaded.doubled(rows).to_list() == [[2, 4], [6]]


def test_a_model_of_sessions_with_a_table_is_saved_again_and_again(tmp_path):
    vocabulary = tmp_path / "vocabulary.txt"
    vocabulary.write_text("alpha\nbeta\ngamma\n")
    with tf.Graph().as_default(), tf.Session() as session:
        key, line = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
        words = tf.lookup.TextFileInitializer(str(vocabulary), tf.string, key, tf.int64, line)
        table, start = tf.lookup.StaticHashTable(words, -1), tf.placeholder(tf.string, None)
        session.run(tf.tables_initializer())
        inputs, outputs = {"start": start}, {"output": table.lookup(start)}
        init_op = tf.tables_initializer()
        tf.saved_model.simple_save(session, str(tmp_path / "0"), inputs, outputs, legacy_init_op=init_op)
    vocabulary.unlink()
    for number in range(3):
        before = tmp_path / str(number)
        model = tf.compat.v2.saved_model.load(str(before))
        found = model.signatures["serving_default"](start=tf.constant(["gamma", "alpha", "x"]))
        assert found["output"].numpy().tolist() == [2, 0, -1]
        tf.saved_model.save(model, str(tmp_path / str(number + 1)), signatures=model.signatures)
        shutil.rmtree(before)

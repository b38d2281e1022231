"""A SavedModel of objects that is written and loaded; runs here and under a real TensorFlow.

python peer_models.py save FOLDER       writes the model
python peer_models.py load FOLDER       calls what was loaded; writes FOLDER/results.json
python peer_models.py again FOLDER      loads the model and writes it anew
"""

import json
import os
import shutil
import sys


def model(tf, folder):
    """An object with variables, containers, tables, a file, constants, nested functions and signatures."""
    vocabulary = os.path.join(folder, "words.txt")
    with open(vocabulary, "w") as file:
        file.write("a\nb\nc\n")

    class Model(tf.Module):
        def __init__(self):
            super(Model, self).__init__()
            self.scale = tf.Variable(3.0)
            self.parts = [tf.Variable(1.0, trainable=False), tf.Variable([2.0, 3.0])]
            self.named = {"count": tf.Variable(5)}
            index = tf.lookup.TextFileIndex
            words = tf.lookup.TextFileInitializer(
                vocabulary, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
            )
            self.numbers = tf.lookup.StaticHashTable(words, -1)
            pairs = tf.lookup.KeyValueTensorInitializer(["x", "y"], [1.0, 2.0])
            self.weights = tf.lookup.StaticHashTable(pairs, -1.0)
            self.constant = tf.constant([1.0] * 200)  # too large for a copy in each function

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def scaled(self, x):
            return x * self.scale

        @tf.function
        def nested(self, x, times=2):
            return {"sum": self.scaled(tf.reduce_sum(x)) + float(times), "pair": (x, self.parts[1] * x)}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def look_up(self, keys):
            return self.numbers.lookup(keys), self.weights.lookup(keys)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def choose(self, x):
            if x > 1.0:
                x = x + self.constant
            else:
                x = x - self.constant
            return tf.reduce_sum(x)

    made = Model()
    made.nested(tf.constant(1.0))
    made.nested(tf.constant([1.0]), times=3)
    return made


def call_all(tf, loaded):
    """What the functions of a loaded model return, and their gradients."""

    def floats(*tensors):
        return [tensor.numpy().tolist() for tensor in tensors]

    results = {
        "variables": floats(loaded.scale, *list(loaded.parts)) + floats(loaded.named["count"]),
        "trainable": [loaded.scale.trainable, loaded.parts[0].trainable],
        "scaled": floats(loaded.scaled(2.0)),
        "choose": floats(loaded.choose(2.0), loaded.choose(0.5)),
        "look_up": floats(*loaded.look_up(tf.constant(["a", "c", "x", "?"]))),
        "signatures": sorted(loaded.signatures),
        "signature": floats(loaded.signatures["look_up"](tf.constant(["c", "y"]))["output_1"]),
    }
    with tf.GradientTape() as tape:
        found = loaded.nested(tf.constant(2.0))
        total = found["sum"] * 3.0 + tf.reduce_sum(found["pair"][1])
    results["nested"] = floats(found["sum"], *found["pair"])
    results["gradients"] = floats(*tape.gradient(total, [loaded.scale, loaded.parts[1]]))
    results["vector"] = floats(loaded.nested(tf.constant([2.0]), 3)["sum"])
    loaded.scale.assign(7.0)
    results["assigned"] = floats(loaded.nested(tf.constant(1.0))["sum"])
    try:
        loaded.nested(1.0, times=9)
    except ValueError as error:
        results["no match"] = str(error).split("\n\n")[0]
    return results


def run_signature(tf, folder):
    """What a session computes by a signature of the model."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta_graph = tf.compat.v1.saved_model.load(session, ["serve"], folder)
        results = {}
        for name, value in (("look_up", ["b", "?"]), ("scaled", 2.0)):
            signature = meta_graph.signature_def[name]
            (argument,) = signature.inputs.values()
            found = session.run(signature.outputs["output_0"].name, {argument.name: value})
            results[name] = found.tolist()
        return results


def main(tf, task, folder):
    path = os.path.join(folder, "model")
    if task == "save":
        made = model(tf, folder)
        signatures = {"scaled": made.scaled, "look_up": made.look_up}
        tf.compat.v1.saved_model.save(made, path, signatures=signatures)
        os.remove(os.path.join(folder, "words.txt"))  # the model has a copy
        return None
    if task == "again":
        shutil.rmtree(path + "_before", ignore_errors=True)
        os.rename(path, path + "_before")
        loaded = tf.compat.v2.saved_model.load(path + "_before")
        tf.compat.v1.saved_model.save(loaded, path, signatures=loaded.signatures)
        return None
    loaded = tf.compat.v2.saved_model.load(path)
    return {"calls": call_all(tf, loaded), "session": run_signature(tf, path)}


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.enable_eager_execution()
    found = main(tensorflow, *sys.argv[1:])
    with open(os.path.join(sys.argv[2], "results.json"), "w") as results_file:
        json.dump(found, results_file)

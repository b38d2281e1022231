"""A small model that is written as a SavedModel and loaded; runs here and under a real TensorFlow.

    python peer_saved_model.py write FOLDER KIND    writes FOLDER/model
    python peer_saved_model.py read FOLDER KIND     loads it and writes what it computes to FOLDER/results.json

Kinds: simple (simple_save), builder (two graphs, assets, a main op, signatures), text, resource.
"""

import json
import os
import sys

import numpy as np

FEED = (np.arange(6, dtype=np.float32).reshape(2, 3) - 2.0) / 4.0


def build(tf, kind):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    sparse = tf.sparse_placeholder(tf.float32, name="sparse")
    with tf.variable_scope("model", use_resource=kind == "resource"):
        w = tf.get_variable("w", initializer=tf.constant([[0.5], [-0.25], [2.0]]))
        b = tf.get_variable("b", [1], initializer=tf.ones_initializer())
        local = tf.get_variable("local", initializer=tf.constant(4.0), collections=[tf.GraphKeys.LOCAL_VARIABLES])
    y = tf.identity(tf.matmul(x, w) + b, name="y")
    z = tf.identity(tf.sparse_tensor_dense_matmul(sparse, w) + local, name="z")
    path = tf.constant("", name="no_asset")
    return x, sparse, y, z, path


def write(tf, folder, kind):
    x, sparse, y, z, _ = build(tf, kind)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.get_default_graph().get_tensor_by_name("model/w/read:0") if kind == "simple" else y, {x: FEED})
        if kind == "simple":
            tf.saved_model.simple_save(session, folder + "/model", {"x": x}, {"y": y})
            return
        with open(folder + "/words.txt", "w") as file:
            file.write("one two")
        asset = tf.constant(folder + "/words.txt", name="asset")
        shown = tf.Variable("", name="shown", collections=[tf.GraphKeys.LOCAL_VARIABLES])
        main = tf.group(tf.local_variables_initializer(), name="main")
        with tf.control_dependencies([main]):
            main = tf.group(tf.assign(shown, asset), name="main_with_asset")
        builder = tf.saved_model.builder.SavedModelBuilder(folder + "/model")
        utils = tf.saved_model.signature_def_utils
        signatures = {
            "serving_default": utils.predict_signature_def({"x": x}, {"y": y}),
            "sparse": utils.build_signature_def(
                {"s": tf.saved_model.utils.build_tensor_info(sparse)},
                {"z": tf.saved_model.utils.build_tensor_info(z)},
                "custom/method",
            ),
        }
        builder.add_meta_graph_and_variables(
            session,
            [tf.saved_model.tag_constants.SERVING],
            signature_def_map=signatures,
            assets_collection=[asset],
            main_op=main,
            strip_default_attrs=True,
        )
        tf.get_default_graph().clear_collection("saved_model_main_op")
        builder.add_meta_graph([tf.saved_model.tag_constants.TRAINING, "more"], legacy_init_op=main)
        builder.save(as_text=kind == "text")


def read(tf, folder, kind):
    results = {}
    with tf.Session() as session:
        model = tf.saved_model.loader.load(session, ["serve"], folder + "/model")
        signature = model.signature_def["serving_default"]
        results["y"] = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: FEED}).tolist()
        results["method"] = signature.method_name
        if kind == "simple":
            return results
        signature = model.signature_def["sparse"]
        s = tf.saved_model.utils.get_tensor_from_tensor_info(signature.inputs["s"])
        z = tf.saved_model.utils.get_tensor_from_tensor_info(signature.outputs["z"])
        value = tf.SparseTensorValue([[0, 1], [1, 2]], [1.0, 2.0], [2, 3])
        results["z"] = session.run(z, {s: value}).tolist()
        with open(session.run("shown:0")) as file:
            results["asset"] = file.read()
        results["asset_name"] = os.path.relpath(session.run("shown:0").decode(), folder)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["more", "train"], folder + "/model", import_scope="inside/it")
        results["scoped"] = session.run("inside/it/y:0", {"inside/it/x:0": FEED}).tolist()
        results["scoped_asset"] = os.path.relpath(session.run("inside/it/shown:0").decode(), folder)
    return results


def main(tf, task, folder, kind):
    with tf.Graph().as_default():
        if task == "write":
            return write(tf, folder, kind)
        results = read(tf, folder, kind)
        with open(folder + "/results.json", "w") as file:
            json.dump(results, file)
        return results


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow

    if not tensorflow.__version__.startswith("1."):
        import tensorflow.compat.v1 as tensorflow

        tensorflow.disable_v2_behavior()
    main(tensorflow, *sys.argv[1:])

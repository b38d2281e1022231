"""What TensorFlow's inner modules do for programs that use them: recorded in tests/golden/inner_modules.json.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import importlib
import tempfile
from pathlib import Path


def inner(tf, name):
    """The module tensorflow.python.NAME, of TensorFlow or of what serves for it."""
    return importlib.import_module(f"{tf.__name__}.python.{name}")


def _small_model(tf):
    with tf.name_scope("outer"):
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.name_scope("part"):
            w = tf.Variable([1.0, 2.0], name="w")
            tf.add_to_collection("ends", tf.multiply(x, w, name="end"))
    return w


def scoped_meta_graphs(tf):
    meta_graph = inner(tf, "framework.meta_graph")
    _small_model(tf)
    proto, variables = meta_graph.export_scoped_meta_graph(export_scope="outer/part")
    found = {
        "nodes": [node.name for node in proto.graph_def.node],
        "inputs": [list(node.input) for node in proto.graph_def.node],
        "collections": sorted(proto.collection_def),
        "variables": sorted(variables),
    }
    with tf.Graph().as_default() as graph:
        y = tf.constant([3.0, 4.0], name="y")
        try:
            meta_graph.import_scoped_meta_graph(proto, import_scope="new")
        except ValueError as error:
            found["unbound"] = str(error)
        variables = meta_graph.import_scoped_meta_graph(
            proto, import_scope="new", input_map={"$unbound_inputs_outer/x": y}
        )
        found["imported"] = {key: variable.name for key, variable in variables.items()}
        with tf.name_scope("alone"):
            tf.Variable(1.0, name="v")
        variables = meta_graph.copy_scoped_meta_graph("alone", "copied")
        found["copied"] = {key: variable.name for key, variable in variables.items()}
        with tf.Session(graph=graph) as session:
            session.run(tf.global_variables_initializer())
            found["ends"] = [session.run(end).tolist() for end in tf.get_collection("ends")]
    return found


def saved_models_in_steps(tf):
    folder = tempfile.mkdtemp() + "/model"
    builder = inner(tf, "saved_model.builder")._SavedModelBuilder(folder)
    asset = tempfile.mkdtemp() + "/words.txt"
    with open(asset, "w") as file:
        file.write("a")
    with tf.Graph().as_default(), tf.Session() as session:
        w = _small_model(tf)
        path = tf.constant(asset, name="asset")
        session.run(w.initializer)
        init_op = tf.group(w.assign([5.0, 6.0]), name="init")
        builder.add_meta_graph_and_variables(session, ["t"], assets_list=[path], init_op=init_op, train_op=w.op)
        builder.save()
    loader = inner(tf, "saved_model.loader_impl").SavedModelLoader(folder)
    proto = loader.get_meta_graph_def_from_tags(["t"])
    found = {
        "signatures": {key: sorted(value.outputs) for key, value in proto.signature_def.items()},
        "assets": [(asset.filename, asset.tensor_info.name) for asset in proto.asset_file_def],
        "files": sorted(path.name for path in Path(folder).iterdir()),
    }
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        saver, elements = loader.load_graph(graph, ["t"], return_elements=["outer/part/w:0"])
        loader.restore_variables(session, saver)
        found["restored"] = session.run(elements[0]).tolist()
        loader.run_init_ops(session, ["t"])
        found["initialized"] = session.run(elements[0]).tolist()
        found["train_op"] = inner(tf, "saved_model.loader_impl").get_train_op(proto).name
    try:
        loader.get_meta_graph_def_from_tags(["other"])
    except RuntimeError as error:
        found["other"] = str(error)
    return found


def device_specs(tf):
    module, device = inner(tf, "framework.device_spec"), inner(tf, "framework.device")
    found = {}
    for kind in (module.DeviceSpecV1, module.DeviceSpecV2):
        spec = kind(job="j", device_type="gpu")
        merged = spec.make_merged_spec(kind.from_string("/task:2/cpu:1"))
        texts = [spec.to_string(), merged.to_string(), spec.replace(job=None).to_string()]
        texts.append(spec.parse_from_string("/replica:3").to_string())
        try:
            spec.task = 7
            texts.append(spec.to_string())
        except AttributeError:
            texts.append("unchangeable")
        found[kind.__name__ if kind is module.DeviceSpecV2 else "DeviceSpecV1"] = texts
    for text in ("/job:a/replica:x", "/bar:muu/baz:2", "/cpu:0/device:GPU:2"):
        try:
            device.check_valid(text)
        except ValueError as error:
            found[text] = str(error)
    with tf.device(device.merge_device("/device:CPU:0")), tf.device(device.merge_device("/job:ps")):
        found["merged"] = tf.constant(1).device
    return found


def values_of_tensors(tf):
    module, common_shapes = inner(tf, "framework.tensor_util"), inner(tf, "framework.common_shapes")
    unknown = tf.placeholder(tf.int32, [2])
    shapes = {
        "constant": tf.constant([2, -1, 3]),
        "shape": tf.shape(tf.zeros([2, 3])),
        "stacked": tf.stack([16, tf.placeholder(tf.int32, []), 37]),
        "joined": tf.concat([[16, 37], unknown, [48]], 0),
        "any": tf.constant(-1),
        "placeholder": unknown,
    }
    found = {name: str(module.constant_value_as_shape(tensor)) for name, tensor in shapes.items()}
    try:
        module.constant_value_as_shape(tf.constant(3))
    except ValueError as error:
        found["scalar"] = str(error)
    found["text"] = module.constant_value("a")
    found["variable"] = module.constant_value(tf.Variable(1.0))
    found["equal"] = module.constant_value(tf.equal([[0, 1]], [[0], [1]])).tolist()
    found["not_equal"] = module.constant_value(tf.not_equal([0, 1], 1)).tolist()
    pairs = (([2, 1], [3]), ([2, None], [3]), ([2], [3]), ([2], None))
    for a, b in pairs:
        a, b = tf.TensorShape(a), tf.TensorShape(b)
        key = f"{a} {b}"
        found[key] = [common_shapes.is_broadcast_compatible(a, b)]
        try:
            found[key].append(str(common_shapes.broadcast_shape(a, b)))
        except ValueError as error:
            found[key].append(str(error))
    for other in ("a string", ["1"]):
        found[f"shape {other}"] = [tf.TensorShape([1]) == other, tf.TensorShape([1]) != other]
    try:
        6 / tf.Dimension(2)
    except TypeError as error:
        found["division"] = str(error)
    return found


def plugin_assets(tf):
    module = inner(tf, "summary.plugin_asset")

    class Words(module.PluginAsset):
        plugin_name = "words"

        def assets(self):
            return {"a.txt": "one"}

    class OtherWords(Words):
        pass

    first = module.get_plugin_asset(Words)
    found = {"same": module.get_plugin_asset(Words) is first, "all": len(module.get_all_plugin_assets())}
    try:
        module.get_plugin_asset(OtherWords)
    except ValueError as error:
        found["collision"] = str(error)
    folder = tempfile.mkdtemp()
    tf.summary.FileWriter(folder, tf.get_default_graph()).close()
    with open(folder + "/plugins/words/a.txt") as file:
        found["file"] = file.read()
    return found


def sessions_in_layers(tf):
    module = inner(tf, "training.monitored_session")
    calls = []

    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            calls.append("before")
            return tf.train.SessionRunArgs("c:0")

        def after_run(self, run_context, run_values):
            calls.append(int(run_values.results))
            run_context.request_stop()

    c = tf.constant(3, name="c")
    coord = tf.train.Coordinator()
    with tf.Session() as session:
        layered = module._CoordinatedSession(module._HookedSession(session, [Hook()]), coord)
        result = int(layered.run(c))
        stops = [layered.should_stop()]
        try:
            layered.run(c)
        except RuntimeError as error:
            calls.append(str(error))
        layered.close()
        stops += [layered.should_stop(), coord.should_stop()]
        creator = module.ChiefSessionCreator()
        recoverable = module._RecoverableSession(creator)
        text = repr(recoverable.sess_str)
        recoverable.close()
    return {"result": result, "calls": calls, "stops": stops, "sess_str": text}


def registries(tf):
    registry = inner(tf, "framework.registry").Registry("things")
    registry.register(registries)
    registry.register(1, "one")
    found = {"names": sorted(registry.list()), "one": registry.lookup("one")}
    for action in (lambda: registry.register(2, "one"), lambda: registry.lookup("two")):
        try:
            action()
        except LookupError as error:
            found[type(error).__name__] = str(error).partition(" (Previous")[0].strip("'\"")
    return found


def error_classes(tf):
    module = inner(tf, "framework.errors_impl")
    return {
        "known": type(module._make_specific_exception(None, None, "m", 5)).__name__,
        "unknown": type(module._make_specific_exception(None, None, "m", 99)).__name__,
        "code": module.error_code_from_exception_type(tf.errors.NotFoundError),
        "no class": type(module.error_code_from_exception_type("x")).__name__,
    }


SCENARIOS = (
    scoped_meta_graphs, saved_models_in_steps, device_specs, values_of_tensors, plugin_assets, sessions_in_layers,
    registries, error_classes,
)  # fmt: skip


def outcomes(tf):
    """{scenario: what it returns}."""
    found = {}
    for scenario in SCENARIOS:
        with tf.Graph().as_default():
            found[scenario.__name__] = scenario(tf)
    return found

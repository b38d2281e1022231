"""What tests of exported graphs compare: MetaGraphs, whose collections hold serialized messages."""

from __future__ import annotations

from stillflow.graph import collection_protos
from stillflow.names import public
from stillflow.test_cases.graph_def_difference import assert_equal_graph_def


@public("python.framework.test_util.assert_meta_graph_protos_equal")
def assert_meta_graph_protos_equal(tester, a, b):
    """Checks with a TestCase that two MetaGraphDef messages are equal.

    Collections that hold messages are compared message by message, nodes by name and in any order. Both messages lose
    their nodes and collections.
    """
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key in a.collection_def:
        first, second = a.collection_def[key], b.collection_def[key]
        registered = collection_protos.find(key)
        if registered is None:
            tester.assertEqual(first, second)
            continue
        tester.assertEqual(len(first.bytes_list.value), len(second.bytes_list.value))
        parse = registered.kind.FromString
        for one, other in zip(first.bytes_list.value, second.bytes_list.value, strict=True):
            tester.assertProtoEquals(parse(one), parse(other))
    assert_equal_graph_def(a.graph_def, b.graph_def, checkpoint_v2=True)
    tester.assertProtoEquals(a.graph_def.versions, b.graph_def.versions)
    for message in (a, b):
        message.ClearField("collection_def")
        message.ClearField("graph_def")
    tester.assertProtoEquals(a, b)

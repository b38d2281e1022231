"""From messages to graphs: GraphDefs added to the default graph, and the tools of tf.graph_util."""

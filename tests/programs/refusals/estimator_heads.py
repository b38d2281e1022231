"""tf.estimator's and tf.contrib.estimator's heads, and ready-made Estimators."""


def cases(tf):
    est, contrib = tf.estimator, tf.contrib.estimator
    price = tf.feature_column.numeric_column("price")

    def spec(head, labels, logits=None, mode="train", features=None, **more):
        def case():
            tf.train.get_or_create_global_step()
            made = tf.constant([[1.0]] * 2) if logits is None else logits()
            given = labels() if callable(labels) else labels
            features_now = features() if features else {}
            head.create_estimator_spec(features_now, mode, made, given, **more)

        return case

    def trained(estimator, features=None):
        def case():
            tf.train.get_or_create_global_step()
            made = estimator()
            made.model_fn(
                features() if features else {"price": tf.constant([[1.0]])}, tf.constant([[1]]), "train", None
            )

        return case

    def sparse():
        return tf.SparseTensor([[0, 0]], [1], [2, 1])

    one = lambda: tf.constant([[1]] * 2)  # noqa: E731
    found = {}
    for kind, binary, multi, regression, labels_head, several in (
        (
            "contrib", contrib.binary_classification_head, contrib.multi_class_head, contrib.regression_head,
            contrib.multi_label_head, contrib.multi_head,
        ),
        ("core", est.BinaryClassHead, est.MultiClassHead, est.RegressionHead, est.MultiLabelHead, est.MultiHead),
    ):  # fmt: skip
        cases_of_kind = {
            "no_labels": spec(binary(), None),
            "sparse_labels": spec(binary(), sparse),
            "labels_of_other_size": spec(binary(), lambda: tf.constant([[1, 0]] * 2)),
            "labels_of_other_batch": spec(binary(), lambda: tf.constant([[1]] * 3)),
            "scalar_labels": spec(binary(), lambda: tf.constant(1)),
            "logits_of_other_size": spec(binary(), one, lambda: tf.constant([[1.0, 2.0]])),
            "logits_of_rank_1": spec(binary(), one, lambda: tf.constant([1.0, 2.0])),
            "labels_out_of_range": spec(binary(), lambda: tf.constant([[2]] * 2)),
            "thresholds": lambda binary=binary: binary(thresholds=[0.5, 1.0]),
            "vocabulary": lambda binary=binary: binary(label_vocabulary="ab"),
            "reduction": lambda binary=binary: binary(loss_reduction="none"),
            "loss_fn_without_labels": lambda binary=binary: binary(loss_fn=lambda logits: logits),
            "loss_fn_with_others": lambda binary=binary: binary(loss_fn=lambda labels, logits, other: logits),
            "no_optimizer": spec(binary(), one),
            "both_optimizers": spec(binary(), one, optimizer=1, train_op_fn=lambda loss: loss),
            "n_classes": lambda multi=multi: multi(2),
            "n_classes_none": lambda multi=multi: multi(None),
            "float_labels": spec(multi(3), lambda: tf.constant([[1.0]] * 2), lambda: tf.ones([2, 3])),
            "numbers_for_names": spec(multi(3, label_vocabulary=["a", "b", "c"]), one, lambda: tf.ones([2, 3])),
            "label_dimension": lambda regression=regression: regression(label_dimension=0),
            "weights_of_other_shape": spec(
                regression(weight_column="w"), one, features=lambda: {"w": tf.constant([[1.0, 2.0, 3.0]] * 2)}
            ),
            "words_as_weights": spec(
                regression(weight_column="w"), one, features=lambda: {"w": tf.constant([["a"], ["b"]])}
            ),
            "labels_of_one_class": lambda labels_head=labels_head: labels_head(1),
            "labels_vocabulary": lambda labels_head=labels_head: labels_head(3, label_vocabulary=["a"]),
            "classes_for_metrics": lambda labels_head=labels_head: labels_head(
                3, classes_for_class_based_metrics=[3]
            ),
            "names_for_metrics": lambda labels_head=labels_head: labels_head(
                3, classes_for_class_based_metrics=["a"]
            ),
            "no_heads": lambda several=several: several([]),
            "heads_and_weights": lambda several=several, binary=binary: several([binary(name="a")], [1.0, 2.0]),
            "logits_of_heads": spec(
                several([binary(name="a"), binary(name="b")]),
                lambda: {"a": one(), "b": one()},
                lambda: tf.ones([2, 3]),
            ),
            "labels_of_heads": spec(several([binary(name="a"), binary(name="b")]), one, lambda: tf.ones([2, 2])),
        }
        found.update({"{}.{}".format(kind, name): case for name, case in cases_of_kind.items()})
    found.update(
        {
            "prediction_keys": lambda: est.MultiClassHead(3).predictions(tf.ones([2, 3]), ["logistic"]),
            "optimizer_of_graphs": spec(est.BinaryClassHead(), one, optimizer="Adam"),
            "variables": spec(est.BinaryClassHead(), one, optimizer=tf.keras.optimizers.SGD()),
            "update_ops": spec(est.BinaryClassHead(), one, train_op_fn=lambda loss: tf.no_op(), update_ops=1),
            "optimizer_name": trained(lambda: est.DNNClassifier([2], [price], optimizer="Adm")),
            "optimizer_object": trained(lambda: est.DNNClassifier([2], [price], optimizer=lambda: 3)),
            "features": trained(lambda: est.LinearClassifier([price]), lambda: "features"),
            "no_columns": lambda: est.DNNLinearCombinedClassifier(),
            "no_hidden_units": trained(lambda: est.DNNLinearCombinedClassifier(dnn_feature_columns=[price])),
            "label_key": lambda: est.classifier_parse_example_spec([price], "price"),
            "weight_key": lambda: est.regressor_parse_example_spec([price], "label", weight_column="price"),
            "weight_object": lambda: est.regressor_parse_example_spec([price], "label", weight_column=3).keys(),
            "logit_units": lambda: est.experimental.dnn_logit_fn_builder(1.5, [2], [price], None, None, None, False),
            "forward_type": lambda: contrib.forward_features(None, 3),
            "forward_keys": lambda: contrib.forward_features(None, [3]),
        }
    )  # fmt: skip
    return found

"""LibRecommender's Wide & Deep and DIN on four thousand made-up clicks."""

import numpy as np
import pandas as pd
import tensorflow as tf
from libreco.algorithms import DIN, WideDeep
from libreco.data import DatasetFeat, random_split

random = np.random.default_rng(0)
users, items = random.integers(0, 200, 4000), random.integers(0, 100, 4000)
data = pd.DataFrame(
    {
        "user": users, "item": items, "label": (users % 7 > items % 5).astype(int), "sex": users % 2,
        "age": users % 7, "genre": items % 5,
    }
)  # fmt: skip
train, test = random_split(data, test_size=0.2, seed=1)
train_data, info = DatasetFeat.build_trainset(
    train, ["sex", "age"], ["genre"], ["sex", "genre"], ["age"], shuffle=False
)
test_data = DatasetFeat.build_testset(test)

for kind, options in ((WideDeep, {"lr": {"wide": 0.01, "deep": 1e-3}}), (DIN, {"lr": 1e-3, "recent_num": 10})):
    tf.compat.v1.reset_default_graph()
    model = kind("ranking", info, embed_size=16, n_epochs=5, batch_size=64, hidden_units="64,32", seed=42, **options)
    model.fit(train_data, verbose=2, shuffle=True, eval_data=test_data, metrics=["roc_auc"])
    likes = [float(np.squeeze(model.predict(user=user, item=10))) for user in (6, 0)]
    print(kind.__name__, "of users who like and dislike item 10:", likes, model.recommend_user(user=6, n_rec=3))
    assert likes[0] > likes[1] + 0.2

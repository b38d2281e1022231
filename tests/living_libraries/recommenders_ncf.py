"""Microsoft Recommenders' NCF (NeuMF) on made-up tastes: each of four groups of users likes every fourth item."""

import os
import tempfile

import numpy as np
import pandas as pd
from recommenders.models.ncf.dataset import Dataset
from recommenders.models.ncf.ncf_singlenode import NCF

random = np.random.default_rng(0)
rows = [(user, item, 1.0) for user in range(100) for item in range(user % 4, 40, 4) if random.random() < 0.8]
ratings = pd.DataFrame(rows, columns=["userID", "itemID", "rating"])
test = ratings.groupby("userID").nth(2)

with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "train.csv")
    ratings.drop(test.index).to_csv(file, index=False)
    data = Dataset(train_file=file, seed=42)
    settings = {"model_type": "NeuMF", "n_factors": 4, "layer_sizes": [16, 8, 4], "batch_size": 256, "seed": 42}
    model = NCF(n_users=data.n_users, n_items=data.n_items, n_epochs=30, learning_rate=5e-3, verbose=10, **settings)
    model.fit(data)
    model.save(os.path.join(folder, "model"))

liked = model.predict(test.userID.tolist(), test.itemID.tolist(), is_list=True)
others = model.predict(test.userID.tolist(), ((test.itemID + 1) % 40).tolist(), is_list=True)
share = np.mean(np.array(liked) > np.array(others))
print(f"users with the item they like before another: {share:.0%}")
assert share > 0.9

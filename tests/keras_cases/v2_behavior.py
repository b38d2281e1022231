"""The trainings of eager_scenarios with TensorFlow 2's behavior, which a process cannot take back.

python -m keras_cases.v2_behavior MODULE FILE writes what comes of them; MODULE is tensorflow or stillflow.
"""

import importlib
import json
import sys

from keras_cases import eager_scenarios


def main(module, path):
    tf = importlib.import_module(module)
    tf.enable_v2_behavior()
    found = {name: eager_scenarios.outcome(tf, function) for name, function in eager_scenarios.SCENARIOS.items()}
    with open(path, "w") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

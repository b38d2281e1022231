"""tf.contrib.training.HParams."""


def cases(tf):
    training = tf.contrib.training

    def made():
        return training.HParams(rate=0.5, units=3, sizes=[1, 2], name="x", flag=True)

    def parsed(text):
        return lambda: made().parse(text)

    texts = [
        "rate=x", "units=1.5", "sizes=[1,x]", "flag=maybe", "other=1", "rate", "rate=1,rate=2", "sizes=[1],sizes=[2]",
        "sizes[0]=[1]", "sizes[0]=1,sizes[0]=2", "sizes=[1],sizes[0]=2", "units=[1,2]", "sizes=3", "flag=[x]",
    ]  # fmt: skip
    return {
        **{text: parsed(text) for text in texts},
        "reserved": lambda: made().add_hparam("rate", 1.0),
        "a method": lambda: training.HParams(values=1),
        "empty": lambda: training.HParams(sizes=[]),
        "bool for a float": lambda: made().set_hparam("rate", True),
        "float for an integer": lambda: made().set_hparam("units", 1.5),
        "number for a text": lambda: made().set_hparam("name", 1),
        "unknown": lambda: made().set_hparam("other", 1),
        "default of another type": lambda: made().get("units", "x"),
        "default list": lambda: made().get("units", [1]),
        "default of a list": lambda: made().get("sizes", [1.5]),
        "json": lambda: made().parse_json('{"rate": "x"}'),
    }

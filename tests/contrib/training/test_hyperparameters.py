"""HParams: values by attribute, text, dictionary and JSON."""

import pytest

import stillflow as tf

HParams = tf.contrib.training.HParams


@pytest.fixture
def hparams():
    return HParams(rate=0.5, units=3, sizes=[1, 2], name="x", flag=True)


def test_values_are_attributes(hparams):
    assert (hparams.rate, hparams.sizes, "rate" in hparams, "other" in hparams) == (0.5, [1, 2], True, False)
    assert hparams.values() == {"rate": 0.5, "units": 3, "sizes": [1, 2], "name": "x", "flag": True}
    assert str(hparams) == "rate=0.5,units=3,sizes=[1, 2],name=x,flag=True"
    assert repr(HParams(b=1, a="c")) == "HParams([('a', 'c'), ('b', 1)])"
    assert (hparams.get("other"), hparams.get("other", 3), hparams.get("units", 4)) == (None, 3, 3)


def test_text_keeps_types(hparams):
    assert hparams.parse("rate=1, units=7,sizes=[3,4, 5],name=relu,flag=false") is hparams
    assert hparams.values() == {"rate": 1.0, "units": 7, "sizes": [3, 4, 5], "name": "relu", "flag": False}
    assert isinstance(hparams.rate, float)


def test_parse_values():
    parse = tf.contrib.training.parse_values
    assert parse("a=1,b[2]=3,b[0]=4,c=[]", {"a": int, "b": float, "c": str}) == {
        "a": 1,
        "b": {2: 3.0, 0: 4.0},
        "c": [],
    }
    assert parse("a=1,x=2", {"a": int}, ignore_unknown=True) == {"a": 1}


def test_json_and_dictionaries(hparams):
    other = HParams(**hparams.values()).parse_json('{"units": 9}')
    assert other.override_from_dict({"rate": 2}).to_json(sort_keys=True) == (
        '{"flag": true, "name": "x", "rate": 2.0, "sizes": [1, 2], "units": 9}'
    )


def test_add_and_delete(hparams):
    hparams.add_hparam("depth", None)
    hparams.set_hparam("depth", 4)
    hparams.del_hparam("rate")
    assert hparams.depth == 4
    assert not hasattr(hparams, "rate")


def test_values_become_a_message_and_come_back(hparams):
    message = hparams.to_proto()
    assert message.hparam["sizes"].int64_list.value == [1, 2]
    assert (message.hparam["name"].bytes_value, message.hparam["flag"].bool_value) == (b"x", True)
    assert HParams.from_proto(message).values() == hparams.values()
    with pytest.raises(AssertionError):
        HParams(hparam_def=1)
    with pytest.raises(ValueError, match="Unsupported parameter type"):
        HParams(x=None).to_proto()

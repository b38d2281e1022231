"""What tf.keras makes of pictures: TensorFlow 1.15.5 and stillflow do the same."""

import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
from keras_cases.data_cases import _error, _plain

PICTURES = (np.sin(np.arange(6 * 7 * 5 * 3)) * 100 + 120).reshape(6, 7, 5, 3).astype("float32").round()
CLASSES = np.array([0, 1, 0, 1, 1, 0])


def _digest(value):
    """A few numbers that tell arrays apart."""
    if isinstance(value, (tuple, list)):
        return [_digest(each) for each in value]
    if isinstance(value, np.ndarray):
        flat = np.asarray(value, np.float64).ravel()
        weights = np.cos(np.arange(flat.size))
        return [str(value.dtype), list(value.shape), float(flat.sum()), float((flat * weights).sum())]
    return _plain(value)


def single_pictures(tf, folder):
    image = tf.keras.preprocessing.image
    paths = [str(Path(folder) / name) for name in ("a.png", "b.bmp")]
    image.save_img(paths[0], PICTURES[0])
    image.save_img(paths[1], PICTURES[1][:, :, :1], scale=False)
    loaded = [
        image.load_img(paths[0]), image.load_img(paths[0], color_mode="grayscale"),
        image.load_img(paths[0], color_mode="rgba", target_size=(4, 3)), image.load_img(paths[1], target_size=(3, 9)),
        image.load_img(paths[0], target_size=(14, 10), interpolation="bilinear"),
    ]  # fmt: skip
    return [
        [_digest(image.img_to_array(each)) for each in loaded],
        _digest(image.img_to_array(loaded[1], "channels_first", "uint8")),
        _digest(image.img_to_array(image.array_to_img(PICTURES[2].transpose(2, 0, 1), "channels_first"))),
        _error(image.array_to_img, PICTURES), _error(image.load_img, paths[0], color_mode="x"),
        _error(image.array_to_img, PICTURES[0][:, :, :2]), _error(image.img_to_array, np.zeros(3)),
        _error(image.load_img, paths[0], target_size=(2, 2), interpolation="x"),
    ]  # fmt: skip


def transformations(tf, folder):
    image = tf.keras.preprocessing.image
    np.random.seed(7)
    x = PICTURES[0]
    first = x.transpose(2, 0, 1)
    outcomes = [
        image.apply_affine_transform(x, theta=30, tx=1, ty=-2, shear=10, zx=0.8, zy=1.2),
        image.apply_affine_transform(x, shear=20, fill_mode="constant", cval=3.0, order=0),
        image.apply_affine_transform(x, tx=2, fill_mode="reflect"),
        image.random_rotation(first, 40), image.random_shift(first, 0.4, 0.2, fill_mode="wrap"),
        image.random_shear(first, 30), image.random_zoom(first, (0.6, 1.4)), image.random_channel_shift(first, 40),
        image.apply_channel_shift(x, 20, channel_axis=2), image.random_brightness(x, (0.5, 1.5)),
        image.apply_affine_transform(x),
    ]  # fmt: skip
    return [_digest(each) for each in outcomes] + [_error(image.random_zoom, x, (1,))]


def generators(tf, folder):
    make = tf.keras.preprocessing.image.ImageDataGenerator
    outcomes = []
    for arguments in (
        {},
        {"rotation_range": 30, "width_shift_range": 0.2, "height_shift_range": 2, "horizontal_flip": True},
        {"shear_range": 20, "zoom_range": 0.3, "channel_shift_range": 10.0, "vertical_flip": True, "rescale": 0.01},
        {"brightness_range": (0.5, 1.5), "samplewise_std_normalization": True, "width_shift_range": [-1, 2]},
        {
            "featurewise_center": True,
            "featurewise_std_normalization": True,
            "preprocessing_function": lambda x: x * 2,
        },
        {"zca_whitening": True, "zca_epsilon": 1e-2, "dtype": "float64"},
    ):
        generator = make(**arguments)
        generator.fit(PICTURES, augment=len(arguments) == 3, seed=3)
        flow = generator.flow(PICTURES.copy(), CLASSES, batch_size=4, seed=5)
        outcomes.append(_digest([len(flow), [next(flow) for _ in range(3)], flow[1]]))
    split = make(validation_split=0.4)
    weighted = split.flow(PICTURES, CLASSES, 8, shuffle=False, sample_weight=np.arange(6.0), subset="training")
    pair = split.flow((PICTURES, np.arange(6)), batch_size=3, shuffle=False, subset="validation")
    outcomes += [_digest(next(weighted)), _digest(next(pair))]
    return outcomes + [
        _error(make, data_format="x"), _error(make, validation_split=2), _error(make, zoom_range=(1, 2, 3)),
        _error(make, brightness_range=3), _error(make().fit, PICTURES[0]), _error(make().flow, PICTURES, CLASSES[:2]),
        _error(split.flow, PICTURES, np.arange(6), subset="training"), _error(split.flow, PICTURES, subset="x"),
        _error(make().flow, PICTURES[0]), _error(lambda: make().flow(PICTURES)[9]),
    ]  # fmt: skip


def folders(tf, folder):
    image = tf.keras.preprocessing.image
    for i, picture in enumerate(PICTURES):
        inner = Path(folder) / "ab"[i % 2] / ("inner" * (i > 3))
        inner.mkdir(parents=True, exist_ok=True)
        image.save_img(str(inner / f"{i}.png"), picture)
    (Path(folder) / "a" / "notes.txt").touch()
    generator = image.ImageDataGenerator(rescale=0.5, horizontal_flip=True, validation_split=0.5)
    outcomes = []
    for arguments in (
        {}, {"class_mode": "binary", "color_mode": "grayscale"}, {"class_mode": "sparse", "classes": ["b"]},
        {"class_mode": "input", "subset": "validation"}, {"class_mode": None, "shuffle": False, "subset": "training"},
    ):  # fmt: skip
        flow = generator.flow_from_directory(folder, target_size=(6, 4), batch_size=2, seed=3, **arguments)
        outcomes.append([flow.samples, flow.class_indices, sorted(flow.filenames), flow.classes.tolist()])
        outcomes.append(_digest([next(flow), next(flow)]))
    return outcomes + [
        _error(generator.flow_from_directory, folder, class_mode="raw").partition(";")[0],
        _error(generator.flow_from_directory, folder, color_mode="x"),
        _error(generator.flow_from_directory, folder, subset="x"),
    ]


CASES = [single_pictures, transformations, generators, folders]


def outcome(tf, case):
    folder = tempfile.mkdtemp()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _plain(case(tf, folder))
    finally:
        shutil.rmtree(folder)


def outcomes(tf):
    return {case.__name__: outcome(tf, case) for case in CASES}

"""Fourier and cosine transforms, frames and windows, spectra over time, with gradients."""

import numpy as np


def _real(tf, *shape):
    return tf.constant(np.random.RandomState(len(shape)).randn(*shape).astype(np.float32))


def _complex(tf, dtype, *shape):
    random = np.random.RandomState(len(shape))
    return tf.constant((random.randn(*shape) + 1j * random.randn(*shape)).astype(dtype))


def _unknown(tf, tensor, shape=None):
    return tf.placeholder_with_default(tensor, shape)


def transforms(tf):
    results = []
    for dtype in (np.complex64, np.complex128):
        x = _complex(tf, dtype, 2, 3, 4, 5)
        results += [tf.fft(x), tf.ifft(x), tf.signal.fft2d(x), tf.ifft2d(x), tf.fft3d(x), tf.spectral.ifft3d(x)]
        results += [tf.signal.fft(_complex(tf, dtype, 31), name="named"), tf.signal.ifft(_complex(tf, dtype, 37))]
    return results


def transforms_of_real_numbers(tf):
    x = _real(tf, 2, 4, 5, 6)
    results = [tf.signal.rfft(x), tf.signal.rfft2d(x), tf.signal.rfft3d(x), tf.spectral.rfft(x, [4])]
    results.append(tf.signal.rfft(x, [9]))
    results += [tf.signal.rfft2d(x, [4, 8], name="named"), tf.signal.rfft3d(x, [3, 5, 5])]
    for spectrum in list(results[:3]):
        results.append({1: tf.signal.irfft, 2: tf.signal.irfft2d, 3: tf.signal.irfft3d}[len(results) - 6](spectrum))
    results += [tf.signal.irfft(results[0], [5]), tf.signal.irfft(results[0], [9])]
    results.append(tf.signal.irfft2d(results[1], [6, 5]))
    unknown = _unknown(tf, x)
    results += [tf.signal.rfft(unknown), tf.signal.rfft2d(unknown, [3, 8])]
    results.append(tf.signal.irfft(_unknown(tf, results[0], [2, None, 5, None])))
    return results + [tf.signal.irfft2d(_unknown(tf, results[1]), _unknown(tf, tf.constant([6, 5]), [2]))]


def gradients_of_transforms(tf):
    results = []
    for dtype in (np.complex64, np.complex128):
        x = _complex(tf, dtype, 2, 3, 4)
        for transform in (tf.fft, tf.ifft, tf.fft2d, tf.ifft2d, tf.fft3d, tf.ifft3d):
            results += tf.gradients(transform(x), x, x)
    for length in (4, 5):
        x = _real(tf, 2, 3, length)
        for transform, inverse in ((tf.signal.rfft, tf.signal.irfft), (tf.signal.rfft2d, tf.signal.irfft2d)):
            spectrum = transform(x)
            results += tf.gradients(tf.abs(spectrum), x)
            results += tf.gradients(tf.real(spectrum * (1 + 2j)), x)
            results += tf.gradients(inverse(spectrum), spectrum, inverse(spectrum))
    return results


def shifts(tf):
    x = _real(tf, 4, 5)
    shift, back = tf.signal.fftshift, tf.signal.ifftshift
    return [shift(x), back(x), shift(x, 1), back(x, (0, 1)), shift(x, [0], name="s"), back(x, -1)]


def frames(tf):
    x = _real(tf, 2, 11)
    frame = tf.signal.frame
    results = [frame(x, 4, 2), frame(x, 4, 3, pad_end=True), frame(x, 5, 5, name="f"), frame(x, 2, 1, axis=0)]
    results += [frame(x, 4, 6, pad_end=True, pad_value=-1), frame(_unknown(tf, x), 4, 2), frame(x, 20, 3)]
    length = _unknown(tf, tf.constant(4), [])
    results += [frame(x, length, 2), frame(_unknown(tf, x, [None, None]), 6, _unknown(tf, tf.constant(4), []), True)]
    add = tf.signal.overlap_and_add
    results += [add(results[0], 2), add(results[0], 4), add(results[2], 5), add(results[1], 1, name="sum")]
    return results + [add(_unknown(tf, results[0]), 2)] + tf.gradients(frame(x, 4, 2), x)


def windows(tf):
    results = []
    for window in (tf.signal.hann_window, tf.signal.hamming_window):
        results += [window(8), window(7), window(8, periodic=False), window(1), window(5, dtype=tf.float64, name="w")]
        results += [window(_unknown(tf, tf.constant(6), [])), window(_unknown(tf, tf.constant(1), []), False)]
    return results


def spectra_over_time(tf):
    x = _real(tf, 2, 50)
    stft, inverse = tf.signal.stft, tf.signal.inverse_stft
    spectra = stft(x, 16, 8)
    results = [spectra, stft(x, 12, 5, 16, pad_end=True), stft(x, 16, 4, window_fn=None, name="named")]
    results += [stft(x, _unknown(tf, tf.constant(12), []), 4), stft(x, 12, 4, window_fn=tf.signal.hamming_window)]
    results += [inverse(spectra, 16, 8), inverse(spectra, 12, 8, 16), inverse(spectra, 20, 8, 16, window_fn=None)]
    results.append(inverse(spectra, 16, 8, window_fn=tf.signal.inverse_stft_window_fn(8)))
    results.append(inverse(_unknown(tf, spectra, [None, None, 9]), 16, 8))
    return results + tf.gradients(tf.abs(spectra), x)


def cosine_transforms(tf):
    x = _real(tf, 2, 6)
    dct, idct = tf.signal.dct, tf.spectral.idct
    results = [dct(x), dct(x, 1), dct(x, 3), dct(x, 2, norm="ortho"), dct(x, 3, norm="ortho", name="named")]
    results += [dct(x, n=4), dct(x, n=9), idct(x), idct(x, 1), idct(x, 3, norm="ortho")]
    results += [dct(_unknown(tf, x, [2, None]))]
    return results + tf.gradients(dct(x), x)


def mel(tf):
    matrix = tf.signal.linear_to_mel_weight_matrix
    weights = matrix(10, 33, 8000, 80.0, 3800.0)
    spectra = tf.abs(tf.signal.stft(_real(tf, 2, 200), 64, 32))
    log_mel = tf.log(tf.tensordot(spectra, weights, 1) + 1e-6)
    return [
        weights, matrix(dtype=tf.float64, name="weights"), matrix(sample_rate=tf.constant(16000.0)),
        tf.signal.mfccs_from_log_mel_spectrograms(log_mel),
        tf.signal.mfccs_from_log_mel_spectrograms(_unknown(tf, log_mel, [None, None, None]), name="m"),
    ]  # fmt: skip

"""Questions about splines and resampling: tf.contrib.image and tf.contrib.resampler."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature


@question
def arguments():
    image = tf.contrib.image
    functions = image.interpolate_spline, image.sparse_image_warp, tf.contrib.resampler.resampler
    return {function.__name__: signature(function) for function in functions}


@question
def splines():
    points = numbers(2, 5, 2)
    values = numbers(2, 5, 3, start=4)
    queries = numbers(2, 4, 2, start=9)
    found = {
        str(order): tf.contrib.image.interpolate_spline(points, values, queries, order)
        for order in (1, 2, 3, 4)
    }
    found["regular"] = tf.contrib.image.interpolate_spline(points, values, queries, 2, 0.1)
    return found


def warp(**options):
    picture = tf.constant(numbers(1, 6, 7, 2))
    source = np.array([[[1.0, 1.0], [4.0, 2.0], [2.0, 5.0], [3.5, 4.0]]], np.float32)
    image, flow = tf.contrib.image.sparse_image_warp(picture, source, source + 0.5, **options)
    # Flows near 0 are what single precision leaves of greater numbers.
    return {"image": image, "flow": flow + 1, "shape": str(image.shape)}


@question
def warped():
    return warp()


@question
def warped_with_a_border():
    return warp(num_boundary_points=1)


@question
def warped_with_arguments():
    return warp(interpolation_order=1, regularization_weight=0.1, num_boundary_points=2)


@question
def resampled():
    data = tf.constant(numbers(2, 4, 5, 3))
    places = np.array([[[0.0, 0.0], [1.5, 2.25], [4.0, 3.0], [4.5, -0.5]]] * 2, np.float32)
    warps = tf.constant(places + np.array([0, 0.25]).reshape(2, 1, 1).astype(np.float32))
    outside = tf.constant([[[-1.0, 0.0], [-3.0, 1.0], [4.9, 3.9], [5.0, 0.0]]] * 2)
    found = tf.contrib.resampler.resampler(data, warps)
    return {
        "found": found,
        "outside": tf.contrib.resampler.resampler(data, outside),
        "shape": str(tf.contrib.resampler.resampler(data, warps[:, :, None]).shape),
        "gradients": tf.gradients(found**2, [data, warps]),
    }


if __name__ == "__main__":
    main()

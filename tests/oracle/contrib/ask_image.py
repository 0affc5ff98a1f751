"""Questions about tf.contrib.image: pictures that are turned, moved and bent."""

import numpy as np
import tensorflow as tf
from asking import main, numbers, question, signature

image = tf.contrib.image
ONE = np.arange(20, dtype=np.float32).reshape(4, 5)
SEVERAL = numbers(2, 4, 5, 3)


@question
def signatures():
    names = "angles_to_projective_transforms compose_transforms dense_image_warp "
    names += "flat_transforms_to_matrices matrices_to_flat_transforms rotate transform translate "
    names += "translations_to_projective_transforms"
    return {name: signature(getattr(image, name)) for name in names.split()}


@question
def translated():
    found = image.translate(tf.constant(ONE), [1, -1])
    half = image.translate(tf.constant(ONE), [0.5, 0.25], interpolation="BILINEAR")
    return {"found": found, "half": half, "name": found.name, "shape": str(found.shape)}


@question
def translated_each_otherwise():
    return {"found": image.translate(tf.constant(SEVERAL), [[1.0, 0.0], [0.0, 2.0]])}


@question
def translated_integers():
    return {"found": image.translate(tf.constant(ONE.astype(np.uint8)[:, :, None]), [2, 0])}


@question
def rotated():
    found = image.rotate(tf.constant(ONE), 0.5)
    smooth = image.rotate(tf.constant(SEVERAL), [0.3, -1.2], interpolation="BILINEAR")
    return {"found": found, "smooth": smooth}


@question
def transformed():
    flat = [1.1, 0.2, -0.5, 0.1, 0.9, 0.3, 0.01, 0.0]
    return {
        "one": image.transform(tf.constant(ONE), flat, interpolation="BILINEAR"),
        "larger": image.transform(tf.constant(SEVERAL), flat, output_shape=[5, 6]),
    }


@question
def transformed_gradient():
    pictures = tf.constant(SEVERAL)
    found = image.rotate(pictures, 0.4, interpolation="BILINEAR")
    return {"gradient": tf.gradients(tf.reduce_sum(tf.square(found)), pictures)[0]}


@question
def transforms():
    angles = image.angles_to_projective_transforms([0.5, 1.0], 4.0, 6.0)
    moves = image.translations_to_projective_transforms([[1.0, 2.0], [-1.0, 0.5]])
    return {
        "angle": image.angles_to_projective_transforms(0.5, 4.0, 6.0),
        "angles": angles,
        "move": image.translations_to_projective_transforms([1.0, 2.0]),
        "moves": moves,
        "both": image.compose_transforms(angles, moves),
        "alone": image.compose_transforms(angles),
        "matrices": image.flat_transforms_to_matrices(angles),
        "and_back": image.matrices_to_flat_transforms(2 * image.flat_transforms_to_matrices(moves)),
    }


@question
def no_transforms():
    return {"found": image.compose_transforms()}


@question
def picture_of_one_dimension():
    return {"found": image.translate(tf.constant([1.0, 2.0]), [1, 0])}


@question
def pictures_of_five_dimensions():
    return {"found": image.rotate(tf.zeros([1, 2, 2, 2, 1]), 0.5)}


@question
def texts_are_no_pictures():
    return {"found": image.rotate(tf.constant([["a"]]), 0.5)}


@question
def transforms_of_three_numbers():
    return {"found": image.transform(tf.constant(ONE), [1.0, 2.0, 3.0])}


@question
def warped():
    pictures = tf.constant(SEVERAL)
    flow = tf.constant(numbers(2, 4, 5, 2, scale=2))
    found = image.dense_image_warp(pictures, flow)
    return {"found": found, "gradient": tf.gradients(tf.reduce_sum(found), [pictures, flow])}


if __name__ == "__main__":
    main()

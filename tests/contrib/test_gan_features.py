"""`tf.contrib.gan`: the names and numbers of TensorFlow 1.14, the last one that has it."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tf_contrib import gan, layers

v1 = tf.compat.v1


def numbers(*shape: int, start: int = 0, shift: float = 0.0) -> np.ndarray:
    values = 0.5 * np.sin(0.7 * (start + np.arange(np.prod(shape)))) + shift
    return values.reshape(shape).astype(np.float32)


def run(fetches: Any) -> Any:
    """Returns the values of tensors, where trainable variables have known values."""
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for index, variable in enumerate(v1.trainable_variables()):
            variable.load(numbers(*variable.shape, start=7 * index, shift=0.1), session)
        return session.run(fetches)


def test_conditions_have_the_variables_and_values_of_the_original() -> None:
    with tf.Graph().as_default():
        net, labels = tf.constant(numbers(2, 4)), tf.one_hot([0, 2], 3, dtype=tf.int32)
        result = gan.features.condition_tensor_from_onehot(net, labels, embedding_size=8)
        assert {v.op.name: v.shape.as_list() for v in v1.global_variables()} == {
            "embedding": [3, 8],
            "fully_connected/weights": [8, 4],
            "fully_connected/biases": [4],
        }
        expected = [
            [0.11909347, 0.12451519, 0.17068395, 0.23588572],
            [0.35215881, -0.33924150, -0.76613307, -0.72774279],
        ]
        np.testing.assert_allclose(run(result), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("shape", "condition", "text"),
    [
        ((3, 3), (3,), r"conditioning must be at least 2D, but saw shape: \(3,\)"),
        ((None, None), (3, 2), "not fully defined"),
    ],
)
def test_conditions_of_wrong_shapes_are_refused(
    shape: tuple[Any, ...], condition: tuple[int, ...], text: str
) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        gan.features.condition_tensor(v1.placeholder(tf.float32, shape), tf.zeros(condition))


def test_power_iteration_converges_as_in_the_original() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        weight = v1.get_variable("w", [3, 4, 2])
        norm = gan.features.compute_spectral_norm(weight)
        (vector,) = (v for v in v1.global_variables() if v is not weight)
        session.run(v1.global_variables_initializer())
        weight.load(numbers(3, 4, 2, shift=0.1), session)
        vector.load(np.sin(np.arange(12) + 1.0).astype(np.float32)[:, None], session)
        found = [session.run(norm) for _ in range(4)]
        np.testing.assert_allclose(found, [0.92225873, 1.6656855, 1.7161572, 1.7170291], rtol=1e-5)
        assert vector.op.name == "spectral_norm/spectral_norm_u"
        assert v1.trainable_variables() == [weight]


def test_the_custom_getter_normalizes_weights_only() -> None:
    getter = gan.features.spectral_normalization_custom_getter()
    with tf.Graph().as_default():
        with v1.variable_scope("a", custom_getter=getter):
            found = {
                name: v1.get_variable(name, [2, 2])
                for name in ("kernel", "foo/weights", "depthwise_kernel", "bias", "akernel")
            }
        normalized = {name for name, value in found.items() if isinstance(value, tf.Tensor)}
        assert normalized == {"kernel", "foo/weights", "depthwise_kernel"}
        names = {v.op.name for v in v1.global_variables()}
        assert "a/a/kernel/spectral_normalize/spectral_norm/spectral_norm_u" in names
    with pytest.raises(ValueError, match="name_filter must be callable"):
        gan.features.spectral_normalization_custom_getter("kernel")  # type: ignore[arg-type]


def test_a_regularizer_of_a_wrong_factor_is_refused() -> None:
    assert gan.features.spectral_norm_regularizer(0.0)(tf.zeros([2, 2])) is None
    for scale in (2, -1.0):
        with pytest.raises(ValueError, match=f"{scale}"):
            gan.features.spectral_norm_regularizer(scale)


def build_model() -> Any:
    return gan.gan_model(
        lambda noise: layers.linear(noise, 1),
        lambda data, noise: layers.linear(data, 1),
        tf.ones([2, 1]),
        tf.ones([2, 3]),
    )


def test_optimizers_have_the_names_of_the_original_in_checkpoints() -> None:
    with tf.Graph().as_default():
        model = build_model()
        optimizers = [v1.train.AdamOptimizer(), v1.train.AdamOptimizer()]
        gan.gan_train_ops(model, gan.gan_loss(model), *optimizers)
        powers = sorted(v.op.name for v in v1.global_variables() if "power" in v.op.name)
    expected = [
        f"{part}_train/beta{number}_power"
        for part in ("discriminator", "generator")
        for number in (1, 2)
    ]
    assert powers == expected


# Loss to the summaries of TensorFlow 1.14 and the number of losses that it adds to the graph.
SUMMARIES = {
    "wasserstein_generator_loss": "generator_wasserstein_loss/generator_wass_loss",
    "wasserstein_discriminator_loss": (
        "discriminator_wasserstein_loss/discriminator_gen_wass_loss "
        "discriminator_wasserstein_loss/discriminator_real_wass_loss "
        "discriminator_wasserstein_loss/discriminator_wass_loss"
    ),
    "modified_generator_loss": "generator_modified_loss/generator_modified_loss",
    "modified_discriminator_loss": (
        "discriminator_modified_loss/discriminator_gen_minimax_loss "
        "discriminator_modified_loss/discriminator_real_minimax_loss "
        "discriminator_modified_loss/discriminator_minimax_loss"
    ),
    "minimax_generator_loss": "generator_minimax_loss_1",
    "minimax_discriminator_loss": (
        "discriminator_minimax_loss/discriminator_gen_minimax_loss "
        "discriminator_minimax_loss/discriminator_real_minimax_loss "
        "discriminator_minimax_loss/discriminator_minimax_loss"
    ),
    "least_squares_generator_loss": "generator_lsq_loss",
    "least_squares_discriminator_loss": (
        "discriminator_gen_lsq_loss discriminator_real_lsq_loss discriminator_lsq_loss"
    ),
    "wasserstein_gradient_penalty": "wasserstein_gradient_penalty/gradient_penalty_loss",
}


@pytest.mark.parametrize("name", SUMMARIES)
def test_losses_write_the_summaries_of_the_original(name: str) -> None:
    with tf.Graph().as_default():
        getattr(gan.losses, name)(build_model(), add_summaries=True)
        found = [s.op.name for s in v1.get_collection(v1.GraphKeys.SUMMARIES)]
        assert found == SUMMARIES[name].split()
        assert len(v1.losses.get_losses()) == 1

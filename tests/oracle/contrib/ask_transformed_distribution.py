"""Questions about tf.contrib.distributions.TransformedDistribution."""

import tensorflow as tf
from asking import main, question, signature

distributions = tf.contrib.distributions


class Exponential:
    """The bijector that takes the exponential; TensorFlow 2 has no class of bijectors."""

    name = "exponential"
    graph_parents = []
    is_constant_jacobian = False
    forward_min_event_ndims = inverse_min_event_ndims = 0
    _is_injective = True

    def forward(self, x):
        return tf.exp(x)

    def inverse(self, y):
        return tf.log(y)

    def forward_log_det_jacobian(self, x, event_ndims):
        return tf.reduce_sum(x, list(range(-int(event_ndims), 0)))

    def inverse_log_det_jacobian(self, y, event_ndims):
        return -tf.reduce_sum(tf.log(y), list(range(-int(event_ndims), 0)))

    def forward_event_shape(self, shape):
        return shape

    def forward_event_shape_tensor(self, shape):
        return shape


def described(found, value):
    return {
        "name": found.name,
        "batch": str(found.batch_shape),
        "event": str(found.event_shape),
        "log_prob": found.log_prob(value),
        "prob": found.prob(value),
        "sample": found.sample(3, seed=1),
    }


@question
def arguments():
    return {"of": repr(signature(distributions.TransformedDistribution.__init__))}


@question
def numbers_that_are_exponentials():
    inner = distributions.Normal([0.0, 1.0], 0.5)
    found = distributions.TransformedDistribution(inner, Exponential())
    return described(found, [1.5, 2.0])


@question
def vectors_that_are_exponentials():
    inner = distributions.MultivariateNormalDiag([0.0, 1.0], [0.5, 2.0])
    found = distributions.TransformedDistribution(inner, Exponential(), name="vectors")
    answer = described(found, [1.5, 2.0])
    answer["sample"] = str(answer["sample"].shape)
    return answer


def shaped(inner, value, **shapes):
    return described(
        distributions.TransformedDistribution(inner, Exponential(), **shapes), tf.constant(value)
    )


@question
def batch_of_numbers():
    return shaped(distributions.Normal(0.0, 0.5), [1.5, 2.0], batch_shape=[2])


@question
def event_of_numbers():
    return shaped(distributions.Normal(0.0, 0.5), [1.5, 2.0], event_shape=[2])


@question
def batch_and_event_of_numbers():
    value = [[1.5, 2.0, 0.5], [1.0, 3.0, 2.5]]
    return shaped(distributions.Normal(0.0, 0.5), value, batch_shape=[2], event_shape=[3])


@question
def event_of_a_batch():
    value = [[1.5, 2.0, 0.5], [1.0, 3.0, 2.5]]
    return shaped(distributions.Normal([0.0, 1.0], 0.5), value, event_shape=[3])


@question
def batch_of_vectors():
    inner = distributions.MultivariateNormalDiag([0.0, 1.0], [0.5, 2.0])
    answer = shaped(inner, [[1.5, 2.0], [0.5, 1.0]], batch_shape=[2])
    answer["sample"] = str(answer["sample"].shape)
    return answer


@question
def batch_of_a_batch():
    return shaped(distributions.Normal([0.0, 1.0], 0.5), [1.5, 2.0], batch_shape=[2])


@question
def event_of_vectors():
    inner = distributions.MultivariateNormalDiag([0.0, 1.0], [0.5, 2.0])
    return shaped(inner, [1.5, 2.0], event_shape=[2])


if __name__ == "__main__":
    main()

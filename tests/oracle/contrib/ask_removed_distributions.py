"""Questions about distributions of tf.contrib.distributions that TensorFlow 2 does not have."""

import tensorflow as tf
from asking import main, numbers, question, signature

distributions = tf.contrib.distributions
MEASURES = "mean variance stddev mode entropy"
NAMES = (
    "MultivariateNormalDiag OneHotCategorical RelaxedOneHotCategorical Poisson Logistic "
    "Deterministic Independent Mixture MixtureSameFamily"
)


def measured(found, value, cumulative=True):
    """What a distribution answers about itself and about a value."""
    answers = {
        "batch": str(found.batch_shape),
        "event": str(found.event_shape),
        "name": found.name,
        "dtype": found.dtype.name,
        "sample": str(found.sample([5, 2], seed=1).shape),
        "kind": found.reparameterization_type == distributions.FULLY_REPARAMETERIZED,
        "shape": found.batch_shape_tensor(),
        "event_shape": found.event_shape_tensor(),
    }
    calls = {name: getattr(found, name) for name in MEASURES.split()}
    calls.update(log_prob=lambda: found.log_prob(value), prob=lambda: found.prob(value))
    if cumulative:
        for name in ("cdf", "log_cdf", "survival_function"):
            calls[name] = lambda name=name: getattr(found, name)(value)
    for name, call in calls.items():
        try:
            answers[name] = call()
        except NotImplementedError:
            answers[name] = "not implemented"
    return answers


def close(found):
    """Whether the mean and the spread of many samples are those of the distribution."""
    samples = found.sample(20000, seed=3)
    mean, variance = tf.nn.moments(tf.cast(samples, tf.float32), 0)
    errors = [abs(mean - found.mean()), abs(variance - found.variance())]
    return {"near": tf.reduce_all(errors[0] < 0.08), "spread": tf.reduce_all(errors[1] < 0.15)}


@question
def arguments():
    return {name: signature(getattr(distributions, name).__init__) for name in NAMES.split()}


@question
def multivariate_normal():
    found = distributions.MultivariateNormalDiag(numbers(2, 3), abs(numbers(3, start=5)))
    return measured(found, numbers(2, 3, start=9))


@question
def multivariate_normal_without_arguments():
    try:
        return measured(distributions.MultivariateNormalDiag(), numbers(3))
    except ValueError as error:
        return {"error": type(error).__name__}


@question
def multivariate_normal_of_a_mean():
    return measured(distributions.MultivariateNormalDiag(numbers(3)), numbers(2, 3))


@question
def multivariate_normal_of_a_scale():
    found = distributions.MultivariateNormalDiag(scale_diag=[1.0, 2.0], name="mine")
    return measured(found, numbers(4, 2))


@question
def multivariate_normal_of_a_multiple():
    found = distributions.MultivariateNormalDiag(numbers(2, 3), scale_identity_multiplier=[0.5, 2])
    return measured(found, numbers(2, 3))


@question
def multivariate_normal_of_both_scales():
    found = distributions.MultivariateNormalDiag(numbers(3), [1.0, 2.0, 3.0], 0.5)
    return measured(found, numbers(3))


@question
def multivariate_normal_samples():
    return close(distributions.MultivariateNormalDiag([1.0, -1.0], [0.5, 1.0]))


@question
def multivariate_normal_divergence():
    one = distributions.MultivariateNormalDiag(numbers(2, 3), [0.5, 1.0, 1.5])
    other = distributions.MultivariateNormalDiag(numbers(3, start=4), [1.0, 1.0, 0.5])
    return {
        "kl": distributions.kl_divergence(one, other),
        "method": one.kl_divergence(other),
        "cross": one.cross_entropy(other),
    }


@question
def multivariate_normal_parts():
    found = distributions.MultivariateNormalDiag([1.0, -1.0], [0.5, 1.0])
    return {
        "loc": found.loc,
        "scale": found.scale.to_dense(),
        "covariance": found.covariance(),
        "gradient": tf.gradients(found.log_prob([0.5, 0.5]), [found.loc])[0],
    }


@question
def multivariate_normals_of_other_scales():
    triangle = [[1.0, 0.0], [0.5, 2.0]]
    one = distributions.MultivariateNormalTriL(numbers(3, 2), triangle)
    other = distributions.MultivariateNormalFullCovariance([0.5, -0.5], [[2.0, 0.3], [0.3, 1.0]])
    kl = distributions.kl_divergence
    return [
        measured(one, numbers(3, 2, start=4), cumulative=False),
        measured(other, numbers(3, 2, start=4), cumulative=False),
        {"covariance": other.covariance(), "one": kl(one, other), "other": kl(other, one)},
        close(other),
    ]


@question
def one_hot():
    return measured(distributions.OneHotCategorical(numbers(2, 3)), [[0, 1, 0], [1, 0, 0]])


@question
def one_hot_of_probabilities():
    found = distributions.OneHotCategorical(probs=[0.2, 0.3, 0.5], dtype=tf.float32)
    return dict(measured(found, [0.0, 1.0, 0.0]), logits=found.logits, probs=found.probs)


@question
def one_hot_samples():
    found = distributions.OneHotCategorical(numbers(3))
    samples = found.sample(7, seed=2)
    mean = tf.reduce_mean(tf.cast(found.sample(20000, seed=3), tf.float32), 0)
    return {
        "near": tf.reduce_all(abs(mean - found.probs) < 0.03),
        "sums": tf.reduce_sum(samples, -1),
        "covariance": found.covariance(),
    }


@question
def one_hot_divergence():
    one = distributions.OneHotCategorical(numbers(2, 3))
    other = distributions.OneHotCategorical(numbers(2, 3, start=5))
    return {"kl": distributions.kl_divergence(one, other), "size": one.event_size}


@question
def relaxed_one_hot():
    found = distributions.RelaxedOneHotCategorical(0.7, numbers(2, 3))
    return measured(found, [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]], cumulative=False)


@question
def relaxed_one_hot_of_probabilities():
    found = distributions.RelaxedOneHotCategorical(0.5, probs=[[0.2, 0.8], [0.5, 0.5]])
    samples = found.sample(6, seed=5)
    return dict(
        measured(found, [0.25, 0.75], cumulative=False),
        temperature=found.distribution.temperature,
        sums=tf.reduce_sum(samples, -1),
        inside=tf.reduce_all(samples >= 0),
        gradient=tf.gradients(samples, found.distribution.logits)[0] is not None,
    )


@question
def poisson():
    return measured(distributions.Poisson([0.5, 2.0, 3.7]), [0.0, 1.0, 4.0])


@question
def poisson_of_a_logarithm():
    found = distributions.Poisson(log_rate=numbers(3), name="mine")
    return dict(measured(found, [0.5, 2.0, 1.0]), rate=found.rate, log_rate=found.log_rate)


@question
def poisson_samples():
    return close(distributions.Poisson([0.5, 2.0]))


@question
def poisson_of_both():
    try:
        return measured(distributions.Poisson(1.0, 1.0), 1.0)
    except ValueError as error:
        return {"error": type(error).__name__, "text": str(error)}


@question
def logistic():
    found = distributions.Logistic(numbers(3), [0.5, 1.0, 2.0])
    return dict(measured(found, numbers(3, start=4)), loc=found.loc, scale=found.scale)


@question
def logistic_samples():
    return close(distributions.Logistic([1.0, 0.0], [0.2, 0.5]))


@question
def deterministic():
    found = distributions.Deterministic([0.5, 1.0, 2.0])
    return dict(measured(found, [0.5, 0.75, 2.5]), loc=found.loc)


@question
def deterministic_with_tolerance():
    return measured(distributions.Deterministic([1.0, 10.0], 0.2, 0.1), [1.25, 8.5])


@question
def independent():
    found = distributions.Independent(distributions.Normal(numbers(2, 3), 0.5))
    return measured(found, numbers(2, 3, start=7), cumulative=False)


@question
def independent_of_all_axes():
    base = distributions.Bernoulli(logits=numbers(2, 3, 2))
    found = distributions.Independent(base, 2, name="mine")
    return dict(
        measured(found, [[0, 1], [1, 1], [0, 0]], cumulative=False),
        axes=found.reinterpreted_batch_ndims,
        base=found.distribution is base,
    )


@question
def independent_divergence():
    def of(start):
        normal = distributions.Normal(numbers(2, 3, start=start), 0.5 + start)
        return distributions.Independent(normal, reinterpreted_batch_ndims=1)

    return {"kl": distributions.kl_divergence(of(0), of(2))}


def mixed():
    return distributions.Mixture(
        distributions.Categorical(probs=[[0.3, 0.7], [0.9, 0.1]]),
        [distributions.Normal([0.0, 1.0], 1.0), distributions.Normal([2.0, -1.0], [0.5, 0.2])],
    )


@question
def mixture():
    found = mixed()
    return dict(measured(found, [0.5, -0.5]), components=found.num_components)


@question
def mixture_lower_bound():
    return {"entropy": mixed().entropy_lower_bound(), "cat": mixed().cat.name}


@question
def mixture_of_vectors():
    found = distributions.Mixture(
        distributions.Categorical(logits=[0.2, 0.4]),
        (
            distributions.MultivariateNormalDiag(numbers(3), [0.5, 0.5, 1.0]),
            distributions.MultivariateNormalDiag(numbers(3, start=4)),
        ),
    )
    return dict(measured(found, numbers(3), cumulative=False), **close(found))


@question
def mixture_samples():
    return close(mixed())


@question
def mixture_of_one_family():
    found = distributions.MixtureSameFamily(
        distributions.Categorical(probs=[0.3, 0.7]),
        distributions.Normal(numbers(3, 2), [0.5, 1.0]),
    )
    return dict(measured(found, numbers(3)), **close(found))


@question
def mixture_of_vectors_of_one_family():
    found = distributions.MixtureSameFamily(
        mixture_distribution=distributions.Categorical(logits=numbers(2)),
        components_distribution=distributions.MultivariateNormalDiag(numbers(2, 3), [0.5] * 3),
    )
    answers = dict(measured(found, numbers(4, 3), cumulative=False), **close(found))
    return dict(answers, covariance=found.covariance())


@question
def percentile():
    x = tf.constant(numbers(4, 3))
    return {
        "nearest": distributions.percentile(x, 30.0),
        "lower": distributions.percentile(x, 30.0, interpolation="lower"),
        "higher": distributions.percentile(x, 30.0, interpolation="higher"),
        "rows": distributions.percentile(x, 50.0, axis=[1]),
        "kept": distributions.percentile(x, 80.0, axis=0, keep_dims=True),
        "all": distributions.percentile(x, 100.0, axis=[0, 1], keep_dims=True),
        "least": distributions.percentile(x, 0.0, axis=-1),
        "tie": distributions.percentile(numbers(4), 50.0),
        "other_tie": distributions.percentile(numbers(6), 50.0),
        "integers": distributions.percentile([3, 1, 2, 5], 60.0),
    }


@question
def percentile_of_another_kind():
    try:
        return {"found": distributions.percentile(numbers(4), 30.0, interpolation="linear")}
    except ValueError as error:
        return {"text": str(error)[:38]}


@question
def triangles():
    x = tf.constant(numbers(2, 6))
    return {
        "lower": distributions.fill_triangular(x),
        "upper": distributions.fill_triangular(x, upper=True),
        "back": distributions.fill_triangular_inverse(distributions.fill_triangular(x)),
        "upper_back": distributions.fill_triangular_inverse(
            distributions.fill_triangular(x, upper=True), upper=True
        ),
    }


@question
def inverse_of_softplus():
    x = [1e-10, 0.01, 1.0, 10.0, 100.0]
    return {"found": distributions.softplus_inverse(x)}


@question
def weighted_logarithms():
    found, sign = distributions.reduce_weighted_logsumexp(
        numbers(2, 3), [1.0, -2.0, 0.5], axis=1, return_sign=True
    )
    return {"all": distributions.reduce_weighted_logsumexp(numbers(3)), "f": found, "s": sign}


if __name__ == "__main__":
    main()

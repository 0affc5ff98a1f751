"""Questions about tf.contrib.distributions."""

import tensorflow as tf
from asking import main, numbers, question

distributions = tf.contrib.distributions


@question
def normal():
    found = distributions.Normal(numbers(3), 2.0)
    other = distributions.Normal(0.0, 1.0)
    return {
        "log_prob": found.log_prob(0.5),
        "entropy": found.entropy(),
        "kl": distributions.kl_divergence(found, other),
        "shape": found.sample(4).shape.as_list(),
        "name": found.name,
    }


@question
def categorical():
    found = distributions.Categorical(logits=numbers(2, 3))
    return {"log_prob": found.log_prob([0, 2]), "mode": found.mode(), "entropy": found.entropy()}


@question
def bernoulli():
    found = distributions.Bernoulli(logits=numbers(3))
    return {"mean": found.mean(), "log_prob": found.log_prob([0, 1, 1])}


@question
def others():
    names = (
        "Beta Dirichlet DirichletMultinomial Exponential Gamma Laplace Multinomial StudentT Uniform"
    )
    return {
        name: issubclass(getattr(distributions, name), distributions.Distribution)
        for name in names.split()
    }


if __name__ == "__main__":
    main()

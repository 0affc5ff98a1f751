"""Questions about the matrix factorization of tf.contrib.factorization."""

import tempfile

import numpy as np
import tensorflow as tf
from asking import main, question, signature

WALS = tf.contrib.factorization.WALSMatrixFactorization
A = np.array([[1, 0, 2, 0], [0, 3, 0, 1], [4, 0, 0, 0], [0, 0, 1, 2], [1, 1, 0, 0]], np.float32)
ROWS = (0.5 * np.sin(np.arange(10))).reshape(5, 2).astype(np.float32)
COLUMNS = (0.5 * np.cos(np.arange(8))).reshape(4, 2).astype(np.float32)


def sparse(matrix, rows):
    indices = [[row, column] for row, column in np.argwhere(matrix) if row in rows]
    values = [matrix[row, column] for row, column in indices]
    return tf.SparseTensor(np.array(indices, np.int64), values, matrix.shape)


def complete(project_row=None, weights=None):
    """Returns an input_fn of the complete matrix."""

    def read():
        features = {
            WALS.INPUT_ROWS: sparse(A, range(5)),
            WALS.INPUT_COLS: sparse(A.T, range(4)),
        }
        if project_row is not None:
            features[WALS.PROJECT_ROW] = tf.constant(project_row)
        if weights is not None:
            features[WALS.PROJECTION_WEIGHTS] = tf.constant(weights)
        return features, None

    return read


def halves():
    """Returns the first half of the rows and columns, then the second, and so on."""
    number = tf.data.Dataset.range(2).repeat().make_one_shot_iterator().get_next()

    def half(matrix):
        middle = (len(matrix) + 1) // 2
        parts = [sparse(matrix, range(middle)), sparse(matrix, range(middle, len(matrix)))]
        chosen = tf.cond(
            tf.equal(number, 0),
            lambda: (parts[0].indices, parts[0].values),
            lambda: (parts[1].indices, parts[1].values),
        )
        return tf.SparseTensor(chosen[0], chosen[1], matrix.shape)

    return {WALS.INPUT_ROWS: half(A), WALS.INPUT_COLS: half(A.T)}, None


def trained(input_fn, steps, **arguments):
    """Returns variables, losses and projections after some steps."""
    directory = tempfile.mkdtemp()
    model = WALS(5, 4, 2, row_init=ROWS, col_init=COLUMNS, model_dir=directory, **arguments)
    model.fit(input_fn=input_fn, steps=steps)
    names = sorted(tf.train.list_variables(directory))
    values = {
        name: np.asarray(model.get_variable_value(name)).tolist()
        for name, _ in names
        if "gramian" not in name
    }
    return {
        "names": repr([(name, list(shape)) for name, shape in names]),
        **values,
        "rows": model.get_row_factors()[0],
        "columns": model.get_col_factors()[0],
        "loss of rows": float(model.evaluate(input_fn=complete(True), steps=1)["loss"]),
        "loss of columns": float(model.evaluate(input_fn=complete(False), steps=1)["loss"]),
        "projected rows": np.array(list(model.get_projections(input_fn=complete(True)))),
        "projected columns": np.array(
            list(model.get_projections(input_fn=complete(False, [1.0, 2.0, 0.5, 1.0])))
        ),
    }


@question
def arguments():
    return {"init": signature(WALS.__init__)[1:]}


@question
def complete_matrix():
    return trained(complete(), 4)


@question
def weighted_and_regularized():
    return trained(
        complete(),
        3,
        regularization_coeff=0.5,
        unobserved_weight=0.3,
        row_weights=[1, 2, 3, 1, 0.5],
        col_weights=[1.0, 0.5, 2, 1],
    )


@question
def without_weights():
    return trained(complete(), 2, row_weights=None, col_weights=None, regularization_coeff=0.1)


@question
def until_three_sweeps():
    return trained(complete(), 20, max_sweeps=3)


@question
def when_the_input_ends():
    def thrice():
        # All read the number, so that nothing is computed after the end.
        data = tf.data.Dataset.range(3)
        with tf.control_dependencies([tf.compat.v1.data.make_one_shot_iterator(data).get_next()]):
            return complete()()

    return trained(thrice, 9)


@question
def in_two_batches():
    return trained(halves, 7)


if __name__ == "__main__":
    main()

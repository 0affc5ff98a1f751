"""Fixtures that run a dataset in eager mode or in a graph."""

import pytest
import tensorflow as tf
import tiers


def eager_elements(make_dataset, limit=None):
    dataset = make_dataset()
    return list((dataset if limit is None else dataset.take(limit)).as_numpy_iterator())


def graph_elements(make_dataset, limit=None):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        iterator = tf.compat.v1.data.make_initializable_iterator(make_dataset())
        element = iterator.get_next()
        tables = tf.compat.v1.tables_initializer()
        session.run([iterator.initializer, tables])
        found = []
        while limit is None or len(found) < limit:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                break
        return found


# Estimators read in graphs.
@pytest.fixture(params=tiers.first({"graph"}, ["eager", "graph"]))
def elements(request):
    """Returns a function from (dataset function, limit) to a list of NumPy elements."""
    return {"eager": eager_elements, "graph": graph_elements}[request.param]


@pytest.fixture
def restored_elements():
    """Returns a function that reads the elements after a saved position, twice: saved, restored."""

    def run(make_dataset, path, before, after):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            iterator = tf.compat.v1.data.make_initializable_iterator(make_dataset())
            element = iterator.get_next()
            saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
            saver = tf.compat.v1.train.Saver([saveable])
            session.run(iterator.initializer)
            for _ in range(before):
                session.run(element)
            saved = saver.save(session, str(path), write_meta_graph=False)
            wanted = [session.run(element) for _ in range(after)]
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            iterator = tf.compat.v1.data.make_initializable_iterator(make_dataset())
            element = iterator.get_next()
            saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
            session.run(iterator.initializer)
            tf.compat.v1.train.Saver([saveable]).restore(session, saved)
            return wanted, [session.run(element) for _ in range(after)]

    return run

"""Questions about tf.contrib.learn: when an Experiment evaluates and exports."""

import glob
import os
import tempfile

import tensorflow as tf
from asking import main, question
from trying import tried

learn = tf.contrib.learn


def counting(save_steps):
    """Returns an estimator whose global step counts the batches."""

    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(features["x"])
        step = tf.train.get_or_create_global_step()
        return tf.estimator.EstimatorSpec(
            mode, predictions=features, loss=loss, train_op=step.assign_add(1)
        )

    config = tf.estimator.RunConfig(tempfile.mkdtemp(), save_checkpoints_steps=save_steps)
    return tf.estimator.Estimator(model_fn, config=config)


def batches():
    features = {"x": tf.constant([1.0, 2.0])}
    return tf.data.Dataset.from_tensors((features, tf.constant([1, 2]))).repeat()


def experiment(save_steps, **arguments):
    return learn.Experiment(
        counting(save_steps), batches, batches, eval_steps=1, eval_delay_secs=0,
        continuous_eval_throttle_secs=0, **arguments
    )  # fmt: skip


def events(made):
    """Returns the steps and tags of the evaluations by their directories."""
    found = {}
    for path in sorted(glob.glob(os.path.join(made.estimator.model_dir, "eval*", "*tfevents*"))):
        tags = found.setdefault(os.path.basename(os.path.dirname(path)), [])
        for event in tf.train.summary_iterator(path):
            tags.extend([event.step, value.tag] for value in event.summary.value)
    return repr(found)


def strategy(seen):
    def export(estimator, export_dir_base, checkpoint_path=None, eval_result=None):
        seen.append([os.path.basename(checkpoint_path or "none"), int(eval_result["global_step"])])
        return len(seen)

    return learn.ExportStrategy("mine", export)


@question
def evaluations():
    answers = {}
    for save_steps, frequency, seconds in (
        *((100, None, 5), (100, 3, 0), (100, 20, 0), (100, 0, 0)),
        *((2, None, 5), (2, None, 0), (2, 1, 0), (2, 3, 0), (3, 5, 0), (3, 3, 0), (1, 1, 0)),
    ):
        made = experiment(
            save_steps, train_steps=9, min_eval_frequency=frequency, check_interval_secs=seconds
        )
        results, exported = made.train_and_evaluate()
        answer = [events(made), repr(results["global_step"]), repr(exported)]
        answers[repr((save_steps, frequency, seconds))] = answer
    return answers


@question
def exports_of_each_checkpoint():
    answers = {}
    for each, frequency in ((True, None), (True, 0), (False, None)):
        seen = []
        made = experiment(
            4, train_steps=9, min_eval_frequency=frequency, check_interval_secs=0,
            checkpoint_and_export=each, export_strategies=strategy(seen)
        )  # fmt: skip
        results, exported = made.train_and_evaluate()
        answer = [events(made), repr(seen), repr(results["global_step"]), repr(exported)]
        answers[repr((each, frequency))] = answer
    return answers


@question
def trained_already():
    answers = {}
    for each in (False, True):
        seen = []
        made = experiment(
            100, train_steps=2, checkpoint_and_export=each, export_strategies=strategy(seen)
        )
        made.train()
        answers[repr(each)] = [repr(made.train_and_evaluate()), repr(seen), events(made)]
    return answers


@question
def tenths():
    answers = {}
    for steps in (10, 19, 20):
        seen = []

        def should_continue(results, seen=seen):
            seen.append(results and int(results["global_step"]))
            return len(seen) < 4

        made = experiment(100, train_steps=steps)
        made.continuous_train_and_eval(should_continue)
        answers[repr(steps)] = repr(seen)
    return answers


@question
def on_train_data():
    made = experiment(100, train_steps=2)
    made.train()
    found = made.continuous_eval_on_train_data(delay_secs=0)
    return {"found": repr(found), "events": events(made)}


@question
def refused_strategies():
    made = experiment(100)
    return {str(one): tried(made.reset_export_strategies, one) for one in ("a", 5, [5])}


if __name__ == "__main__":
    main()

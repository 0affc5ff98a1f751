"""A job on a real SFTP server: a store with renames and appends, through a driver that blocks."""

import pytest
import tensorflow as tf

import estimator_train as est
from estimator_train import remote

gfile = tf.io.gfile


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    import sftp_store  # It needs asyncssh, which the first tier does not install.

    with sftp_store.serve_files(tmp_path_factory.mktemp("served")) as port:
        remote.register("sftp", username=sftp_store.USER, password=sftp_store.PASSWORD)
        yield f"sftp://127.0.0.1:{port}"


@pytest.mark.long
def test_files_directories_renames_and_appends(root):
    gfile.makedirs(f"{root}/a/b")
    for content in ("one", "two"):
        with gfile.GFile(f"{root}/a/b/file", "a") as file:
            file.write(content)
    assert gfile.GFile(f"{root}/a/b/file").read() == "onetwo"
    assert gfile.stat(f"{root}/a/b/file").length == 6
    with gfile.GFile(f"{root}/a/other", "w") as file:
        file.write("x")
    gfile.rename(f"{root}/a/b/file", f"{root}/a/other", overwrite=True)
    assert gfile.listdir(f"{root}/a") == ["b", "other"]
    assert gfile.glob(f"{root}/a/o*") == [f"{root}/a/other"]
    gfile.rmtree(f"{root}/a")
    assert not gfile.exists(f"{root}/a")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.GFile(f"{root}/none").read()


@pytest.mark.long
def test_an_estimator_trains_restarts_and_exports(root):
    columns = [tf.feature_column.numeric_column("x")]
    config = est.RunConfig(model_dir=f"{root}/run", save_checkpoints_steps=5, keep_checkpoint_max=2)

    def input_fn():
        return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[2.0]])).repeat()

    for steps in (10, 20):
        est.LinearRegressor(columns, config=config).train(input_fn, max_steps=steps)
    estimator = est.LinearRegressor(columns, config=config)
    assert estimator.latest_checkpoint() == f"{root}/run/model.ckpt-20"
    assert estimator.evaluate(input_fn, steps=2)["global_step"] == 20
    assert len(gfile.glob(f"{root}/run/*.index")) == 2
    spec = tf.feature_column.make_parse_example_spec(columns)
    receiver_fn = est.export.build_parsing_serving_input_receiver_fn(spec)
    exported = estimator.export_saved_model(f"{root}/exports", receiver_fn).decode()
    assert sorted(tf.saved_model.load(exported).signatures)

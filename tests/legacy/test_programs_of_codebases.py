"""Programs in the styles of well-known codebases of TensorFlow 1 run without an edit."""

import ast
import re

import pytest


def result_of(done):
    return ast.literal_eval(re.search(r"^RESULT (\{.*\})$", done.stdout, re.MULTILINE)[1])


@pytest.mark.long
def test_classifier_in_the_style_of_bert(run, tmp_path):
    done = run("bert_like.py", f"--output_dir={tmp_path}/out")
    names = "['bert/LayerNorm/beta', 'bert/LayerNorm/gamma', 'bert/pooler/bias', "
    assert f"from checkpoint: {names}" in done.stdout
    sizes = re.findall(r"batch size (\d+)", done.stdout)
    assert sizes == ["16", "8", "4"]
    result = result_of(done)
    assert result["global_step"] == 100
    assert result["eval_accuracy"] > 0.8
    assert "predictions 64 True" in done.stdout


def test_cnn_with_slim_and_optimize_loss(run, tmp_path):
    done = run("slim_cnn.py", WORK_DIR=tmp_path / "model")
    lines = done.stdout.splitlines()
    assert lines[0] == "0.01 [3, 4, 5] b True"
    assert "counted 80" in lines
    assert result_of(done)["accuracy"] > 0.9
    names = ast.literal_eval(next(line for line in lines if line.startswith("['Opt")))
    assert {"conv1/conv1_2/BatchNorm/moving_mean", "fc/fc_1/weights", "logits/biases"} <= {*names}
    assert "penalty 5.0 None" in lines


@pytest.mark.long
def test_tagger_with_crf_early_stop_and_served_predictions(run, tmp_path):
    done = run("lstm_crf.py", WORK_DIR=tmp_path / "model")
    assert result_of(done)["global_step"] == 90  # 30 epochs of 3 batches.
    assert result_of(done)["acc"] > 0.75
    assert "([0, 1, 2], 3.0)" in done.stdout
    assert "served (1, 3)" in done.stdout

"""The flag --profile of `estimator-train train`."""


def test_a_profile_is_written_and_the_summary_names_the_slowest_part(command, linear, tmp_path):
    outcome = command("train", *linear, "--max_train_steps=150", "--profile=40:44")
    assert outcome.code == 0, outcome.err
    assert len(list(tmp_path.glob("run/plugins/profile/*/*.xplane.pb"))) == 1
    assert "-bound: " in outcome.rows["step_time"]


def test_a_bad_range_is_rejected_before_training(command, linear, tmp_path):
    outcome = command("train", *linear, "--max_train_steps=2", "--profile=9")
    assert (outcome.code, outcome.out) == (2, "")
    assert "such as 100:110, got '9'" in outcome.err
    assert not list(tmp_path.glob("run/model.ckpt*"))

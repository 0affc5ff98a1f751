"""`estimator-train report`: plots of runs, from histories and from event files."""

import base64
import json
import re
import struct
import sys

import pytest
import tensorflow as tf

from estimator_train.report import _plot_lines, compute_scaling, report
from estimator_train.report.runs import Run, read_run


def write_history(directory, *, rate=10.0, replicas=1, steps=(1, 101, 201)):
    directory.mkdir()
    lines = [{"step": steps[0], "time": 0.0, "loss": 2.0, "replicas": replicas}]
    for step in steps[1:]:
        figures = {"loss": 100 / step, "steps_per_sec": rate, "examples_per_sec": 32 * rate}
        lines.append({"step": step, "time": float(step), **figures, "replicas": replicas})
    lines.append({"step": steps[-1], "eval": "", "metrics": {"loss": 0.5}, "checkpoint": "c"})
    lines.append({"step": steps[-1], "eval": "other", "metrics": {"loss": 9.0}})
    (directory / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def png_size(path):
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


def test_a_run_is_plotted(command, linear, tmp_path):
    assert command("train", *linear, "--max_train_steps=250").code == 0
    outcome = command("report", "run", "--output_dir=plots")
    assert outcome.code == 0, outcome.err
    drawn = {"loss", "throughput", "step_time"}
    assert set(outcome.rows) == {"run", "run_goodput", "report", *drawn}
    for name in drawn:
        width, height = png_size(tmp_path / outcome.rows[name])
        assert width > height > 300
    assert outcome.rows["run"].startswith("step 250, loss ")
    assert " examples/s" in outcome.rows["run"]
    assert "250 steps kept, 0 lost; time lost: " in outcome.rows["run_goodput"]
    assert re.search(r"\bstart \d", outcome.rows["run_goodput"])


def test_a_chart_names_its_axes_and_lines():
    lines = [("a", [(1, 0.5), (2, 0.25)]), ("none", [])]
    figure = _plot_lines(lines, "loss", from_zero=True)
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_ylim()[0]) == ("global step", "loss", 0)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a"]
    assert axes.lines[0].get_xydata().tolist() == [[1, 0.5], [2, 0.25]]
    assert all(line.get_visible() for line in axes.get_xgridlines() + axes.get_ygridlines())
    assert _plot_lines([("none", [])], "loss") is None


def test_report_html_contains_all_charts(command, tmp_path):
    write_history(tmp_path / "a<b")
    outcome = command("report", "a<b", "--output_dir=plots")
    page = (tmp_path / outcome.rows["report"]).read_text()
    assert "<td>a&lt;b</td><td>step 201, loss 0.4975" in page
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert page.count("<img") == len(pictures) == 3
    assert base64.b64decode(pictures[0]) == (tmp_path / "plots/loss.png").read_bytes()
    # As a notebook shows it.
    assert report(str(tmp_path / "a<b"))._repr_html_().count("<img") == 3


def test_runs_with_more_replicas_get_a_scaling_chart(command, tmp_path):
    for replicas, rate in ((1, 10.0), (2, 19.0), (4, 30.0)):
        write_history(tmp_path / f"r{replicas}", rate=rate, replicas=replicas)
    outcome = command("report", "r1", "r2", "r4")
    assert outcome.code == 0, outcome.err
    png_size(tmp_path / outcome.rows["scaling"])
    assert outcome.rows["r2"] == (
        "step 201, loss 0.4975, evaluation loss 0.5, 19 steps/s, 608 examples/s"
    )
    runs = [read_run(str(tmp_path / f"r{n}")) for n in (4, 1, 2)]
    assert compute_scaling(runs) == ([(1, 320.0), (2, 608.0), (4, 960.0)], True)


def test_scaling_uses_steps_if_examples_are_unknown():
    slow, fast = [(1, 2.0), (11, 2.0)], [(1, 64.0), (11, 64.0)]
    one = Run("one", [], slow, slow, [], 1)
    two = Run("two", [], slow, [], [], 2)
    # Of one whose replicas are not known, nothing is compared.
    unknown = Run("unknown", [], slow, [], [], None)
    assert compute_scaling([one, two, unknown]) == ([(1, 2.0), (2, 2.0)], False)
    two = two._replace(examples_per_sec=fast)
    assert compute_scaling([one, two, unknown]) == ([(1, 2.0), (2, 64.0)], True)


def test_event_files_are_read_without_a_history(tmp_path):
    with tf.Graph().as_default():
        for directory, values in (
            (tmp_path, {1: {"loss": 3.0}, 101: {"loss": 1.5, "global_step/sec": 20.0}}),
            (tmp_path / "eval", {101: {"loss": 1.75}}),
        ):
            with tf.compat.v1.summary.FileWriter(str(directory)) as writer:
                for step, scalars in values.items():
                    summary = tf.compat.v1.Summary()
                    for tag, value in scalars.items():
                        summary.value.add(tag=tag, simple_value=value)
                    writer.add_summary(summary, step)
    run = read_run(str(tmp_path))
    assert run.loss == [(1, 3.0), (101, 1.5)]
    assert run.steps_per_sec == [(101, 20.0)]
    assert run.eval_loss == [(101, 1.75)]
    assert (run.examples_per_sec, run.replicas) == ([], None)


def test_repeated_steps_replace_earlier_ones_and_incomplete_lines_are_skipped(tmp_path):
    write_history(tmp_path / "a", steps=(1, 101, 201, 301))
    with (tmp_path / "a" / "history.jsonl").open("a") as file:
        file.write('{"step": 151, "loss": 7.0}\n{"step": 251, "lo')
    assert read_run(str(tmp_path / "a")).loss == [(1, 2.0), (101, 100 / 101), (151, 7.0)]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "one or more model directories are needed, such as: report runs/digits"),
        (["none"], "none is not a directory."),
        (["empty"], "empty has no history of a training: neither history.jsonl nor event files"),
        (["a", "--replicas=1,2"], "--replicas=1,2 must be 1 positive numbers, one for each"),
        (["a", "--replicas=x"], "--replicas=x must be 1 positive numbers, one for each run."),
    ],
)
def test_a_mistake_prints_one_line_and_exits_with_code_2(command, tmp_path, arguments, line):
    (tmp_path / "empty").mkdir()
    write_history(tmp_path / "a")
    outcome = command("report", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"estimator-train: error: {line}")
    assert outcome.err.count("\n") == 1


def test_without_matplotlib_one_line_says_what_to_install(command, tmp_path, monkeypatch):
    write_history(tmp_path / "a")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    prefixes = ("matplotlib.", "estimator_train.report")
    for name in [name for name in sys.modules if name.startswith(prefixes)]:
        monkeypatch.delitem(sys.modules, name)
    outcome = command("report", "a")
    assert (outcome.code, outcome.out) == (2, "")
    assert "pip install matplotlib" in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("written", ["null", "NaN"])
def test_a_loss_that_is_nan_is_the_last_loss(tmp_path, written):
    write_history(tmp_path / "a")
    with (tmp_path / "a" / "history.jsonl").open("a") as file:
        file.write(f'{{"step": 301, "loss": {written}, "steps_per_sec": 40.0}}\n')
    run = read_run(str(tmp_path / "a"))
    assert run.steps_per_sec[-1] == (301, 40.0)
    assert "loss nan" in run.summary()


def test_help_names_the_runs(command):
    assert "usage: estimator-train report MODEL_DIR..." in command("report", "--help").out


def test_damaged_lines_of_a_history_are_skipped(command, linear, tmp_path):
    assert command("train", *linear, "--max_train_steps=120").code == 0
    first = command("report", "run").out
    damaged = (
        *(b"\x00\x80\xff", b"[" * 100_000, b"5", b"null", b'{"step": 121, "ti'),
        *(b'{"loss": 5.0}', b'{"step": "a", "loss": 5.0}', b'{"step": 121, "loss": "high"}'),
        *(b'{"step": 121, "eval": "", "metrics": null}', b'{"step": 121, "eval": ""}'),
        b'{"step": 121, "eval": "", "metrics": {"loss": "text"}}',
        *(b'{"step": 121, "goodput": {}}', b'{"step": 121, "goodput": {"run": "a"}}'),
        b'{"step": 121, "goodput": {"run": 1.0, "from_step": null, "secs": null}}',
    )
    with open("run/history.jsonl", "ab") as file:
        file.write(b"".join(line + b"\n" for line in damaged))
    outcome = command("report", "run")
    assert (outcome.code, outcome.out) == (0, first), outcome.err
    assert command("train", *linear, "--max_train_steps=130").code == 0

import numpy as np
import pytest
import tensorflow as tf

from input_fns import text_lines

LINES = ["a b c", "b", "", "c x a b", "b c"]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def read(elements, *arguments, **settings):
    return elements(lambda: text_lines(*arguments, **{"num_epochs": 1, **settings}))


def test_lines_are_returned_unchanged(elements, file):
    first, second = read(elements, file, batch_size=3)
    assert first["text"].tolist() == [b"a b c", b"b", b"c x a b"]
    assert second["text"].tolist() == [b"b c"]


@pytest.mark.parametrize("kind", ["list", "file"])
def test_words_become_numbers_and_lines_are_padded(elements, file, tmp_path, kind):
    vocabulary = ["a", "b", "c"]
    if kind == "file":
        (tmp_path / "words").write_text("a\nb\nc\n")
        vocabulary = tmp_path / "words"
    (found,) = read(elements, file, vocabulary)
    wanted = [[1, 2, 3, 0], [2, 0, 0, 0], [3, 4, 1, 2], [2, 3, 0, 0]]
    np.testing.assert_array_equal(found["tokens"], wanted)
    np.testing.assert_array_equal(found["length"], [3, 1, 4, 2])
    (cut,) = read(elements, file, vocabulary, max_length=2)
    np.testing.assert_array_equal(cut["tokens"], [[1, 2], [2, 0], [3, 4], [2, 3]])


def test_a_byte_order_mark_is_no_part_of_the_first_word(elements, tmp_path):
    marked, words = tmp_path / "marked.txt", tmp_path / "words"
    marked.write_text("\ufeffa b\n" + "b\n" * 300, encoding="utf-8")
    words.write_text("\ufeffa\nb\n", encoding="utf-8")
    (found,) = read(elements, marked, batch_size=400)
    assert found["text"].tolist() == [b"a b"] + [b"b"] * 300
    (found,) = read(elements, marked, words, batch_size=400)
    assert found["tokens"][:2].tolist() == [[1, 2], [2, 0]]


def test_lines_of_similar_length_share_a_batch(elements, file):
    found = read(elements, file, ["a", "b", "c"], bucket_boundaries=[3], num_epochs=2, batch_size=2)
    lengths = sorted(batch["length"].tolist() for batch in found)
    assert lengths == [[1, 2], [1, 2], [3, 4], [3, 4]]
    assert all(batch["tokens"].shape[1] == max(batch["length"]) for batch in found)


def test_shuffled_lines_are_shared_among_pipelines(elements, tmp_path):
    for number in range(2):
        (tmp_path / f"{number}.txt").write_text("".join(f"{number}-{n}\n" for n in range(40)))
    found = []
    for pipeline in range(3):
        context = tf.distribute.InputContext(3, pipeline)
        for batch in read(elements, f"{tmp_path}/*", shuffle=True, input_context=context):
            found += batch["text"].tolist()
    assert len(set(found)) == len(found) == 80


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"vocabulary": "none"}, FileNotFoundError, "There is no vocabulary file none"),
        ({"vocabulary": []}, ValueError, "vocabulary has no words"),
        ({"vocabulary": ["a", "a"]}, ValueError, "has the word 'a' twice"),
        ({"max_length": 3}, ValueError, "need a vocabulary, but it is None"),
        ({"vocabulary": ["a"], "max_length": 0}, ValueError, "max_length must be 1 or more"),
        (
            {"vocabulary": ["a"], "bucket_boundaries": [3, 2]},
            ValueError,
            "must be 1 or more and increase",
        ),
    ],
)
def test_bad_arguments_are_rejected(file, arguments, error, message):
    with pytest.raises(error, match=message):
        text_lines(file, **arguments)

import numpy as np
import pytest

from input_fns import digits

PER_CLASS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # of load_digits


def whole(split, **settings):
    pictures, labels = zip(
        *digits(split, num_epochs=1, batch_size=500, **settings).as_numpy_iterator(), strict=True
    )
    return np.concatenate(pictures), np.concatenate(labels)


def test_the_splits_have_1437_and_360_pictures():
    for split, count in (("train", 1437), ("test", 360)):
        pictures, labels = whole(split)
        assert pictures.shape == (count, 8, 8, 1)
        assert pictures.dtype == np.float32
        assert labels.shape == (count, 10)


def test_values_run_from_0_to_1_in_sixteenths():
    pictures, _ = whole("train")
    assert (pictures.min(), pictures.max()) == (0.0, 1.0)
    np.testing.assert_array_equal(np.unique(pictures), np.arange(17) / 16)


def test_labels_are_one_hot_or_classes():
    _, one_hot = whole("test")
    _, classes = whole("test", one_hot=False)
    np.testing.assert_array_equal(one_hot, np.eye(10)[classes])


def test_each_class_has_the_same_share_of_both_splits():
    counts = {s: np.bincount(whole(s, one_hot=False)[1]) for s in ("train", "test")}
    assert (counts["train"] + counts["test"]).tolist() == PER_CLASS
    assert np.abs(counts["test"] - np.array(PER_CLASS) * 360 / 1797).max() < 1


def test_no_picture_is_in_both_splits():
    train, test = whole("train")[0], whole("test")[0]
    seen = {picture.tobytes() for picture in train}
    assert not [1 for picture in test if picture.tobytes() in seen]


def test_digits_can_be_classified():
    pictures, labels = whole("train", one_hot=False)
    means = np.stack([pictures[labels == digit].mean(0) for digit in range(10)])
    tests, wanted = whole("test", one_hot=False)
    distance = np.square(tests[:, None] - means[None]).sum((2, 3, 4))
    assert (distance.argmin(1) == wanted).mean() > 0.85


def test_digits_are_in_order_in_graph_and_eager_mode(elements):
    (batch,) = elements(lambda: digits("test", batch_size=4, shuffle=False), limit=1)
    np.testing.assert_array_equal(batch[0], whole("test")[0][:4])


def test_an_unknown_split_is_named():
    with pytest.raises(ValueError, match="split must be one of 'train', 'test', but got 'dev'"):
        digits("dev")

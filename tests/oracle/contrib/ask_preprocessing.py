"""Questions about tf.contrib.learn.preprocessing and its data sets."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from asking import differs, main, question, signature
from trying import tried

preprocessing = tf.contrib.learn.preprocessing
TEXTS = ["the cat sat on the mat", "a cat, a dog; and THE Dog", "don't stop-me now x"]


def rows(found):
    return [row.tolist() for row in found]


@question
def words():
    texts = TEXTS + [
        "", "CamelCase HTMLParser XMLHttp ABC abcDEF", "1,234.5 a_b c-d 'q' e@f.org",
        "\u00e9t\u00e9 na\u00efve", "iPhone McDonald",
        "TensorFlow  is\tnew\nline", "A B AB ABc", "\u4f60\u597d world", "--- '' _", "x=1;y+=2",
    ]  # fmt: skip
    return {"words": repr(list(preprocessing.tokenizer(texts)))}


@question
def signatures():
    return {
        name: signature(getattr(preprocessing, name))
        for name in ("VocabularyProcessor", "CategoricalVocabulary", "ByteProcessor", "tokenizer")
    }


@question
def vocabulary_processor():
    made = preprocessing.VocabularyProcessor(8)
    found = rows(made.fit_transform(TEXTS))
    return {
        "rows": found,
        "dtype": str(next(made.transform(TEXTS)).dtype),
        "new": rows(made.transform(["a new cat"])),
        "reversed": list(made.reverse([[1, 2, 0, 5], [3]])),
        "size": len(made.vocabulary_),
        "attributes": [made.max_document_length, made.min_frequency],
        "mapping": repr(sorted(made.vocabulary_._mapping.items())),
        "beyond": tried(lambda: list(made.reverse([[100]]))),
    }


@question
def vocabulary_processor_fitted_twice():
    made = preprocessing.VocabularyProcessor(4)
    made.fit(TEXTS[:1])
    before = len(made.vocabulary_)
    same = made.fit(TEXTS) is made
    return {"before": before, "after": len(made.vocabulary_), "same": same}


@question
def vocabulary_processor_of_frequent_words():
    answers = {}
    for least in (1, 2, 3):
        made = preprocessing.VocabularyProcessor(6, min_frequency=least)
        answers[str(least)] = rows(made.fit_transform(TEXTS + ["cat dog the the"]))
        answers["size " + str(least)] = len(made.vocabulary_)
    return answers


@question
def vocabulary_processor_of_letters():
    made = preprocessing.VocabularyProcessor(5, tokenizer_fn=lambda texts: (list(t) for t in texts))
    return {"rows": rows(made.fit_transform(["abc", "cab d", ""]))}


@question
def vocabulary_given():
    vocabulary = preprocessing.CategoricalVocabulary()
    for word in ("cat", "dog", "cat"):
        vocabulary.get(word)
    made = preprocessing.VocabularyProcessor(4, vocabulary=vocabulary)
    before = rows(made.transform(["dog cow cat"]))
    vocabulary.freeze()
    return {"before": before, "frozen": rows(made.transform(["dog bird cat"]))}


@question
def saved():
    path = os.path.join(tempfile.mkdtemp(), "vocabulary")
    made = preprocessing.VocabularyProcessor(5)
    made.fit(TEXTS)
    made.save(path)
    again = preprocessing.VocabularyProcessor.restore(path)
    return {"rows": rows(again.transform(TEXTS)), "size": len(again.vocabulary_)}


@differs("the original has read a generator to its end before it gives the rows of it")
@question
def from_a_generator():
    made = preprocessing.VocabularyProcessor(3)
    return {"rows": rows(made.fit_transform(iter(TEXTS))), "size": len(made.vocabulary_)}


@question
def categorical_vocabulary():
    made = preprocessing.CategoricalVocabulary()
    answers = {"empty": len(made), "numbers": [made.get(word) for word in "abca"]}
    made.add("a", 5)
    made.add("b")
    made.add("c", 2)
    made.add("d", 2)
    answers["reversed"] = [made.reverse(index) for index in range(5)]
    made.freeze()
    answers["frozen"] = [made.get("e"), made.get("a"), len(made)]
    answers["added"] = tried(made.add, "e")
    made.freeze(False)
    answers["thawed"] = [made.get("e"), len(made)]
    return answers


@question
def categorical_vocabulary_trimmed():
    answers = {}
    for index, limits in enumerate([(0,), (1,), (2,), (0, 5), (1, 3), (9,)]):
        made = preprocessing.CategoricalVocabulary()
        for word, count in [("z", 5), ("b", 1), ("c", 3), ("a", 3), ("d", 2), ("e", 0)]:
            made.add(word, count)
        made.trim(*limits)
        answers[str(index)] = [made.reverse(number) for number in range(len(made))]
        answers["get " + str(index)] = [made.get("c"), made.get("zzz")]
    return answers


@question
def categorical_vocabulary_without_reverse():
    made = preprocessing.CategoricalVocabulary(support_reverse=False)
    made.add("a")
    return {"reverse": tried(made.reverse, 1), "get": made.get("a")}


@question
def categorical_vocabulary_other_unknown():
    made = preprocessing.CategoricalVocabulary(unknown_token="?")
    made.add("a")
    return {"reversed": [made.reverse(0), made.reverse(1)], "get": [made.get("?"), made.get("a")]}


@question
def categorical_vocabulary_of_numbers():
    made = preprocessing.CategoricalVocabulary()
    return {"numbers": [made.get(one) for one in (5, 7, 5, None, float("nan"), "")]}


@question
def byte_processor():
    made = preprocessing.ByteProcessor(6)
    found = list(made.fit_transform(["abc", "a longer one", "", b"xy", "\u00e9"]))
    return {
        "rows": rows(found),
        "dtype": str(found[0].dtype),
        "reversed": repr(list(made.reverse(found[:2]))),
        "same": made.fit(["a"]) is made,
    }


def written(*lines):
    path = os.path.join(tempfile.mkdtemp(), "data.csv")
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
    return path


def loaded(data):
    return {
        "data": data.data,
        "target": data.target,
        "types": [str(data.data.dtype), str(data.target.dtype), type(data).__name__],
        "shapes": repr([data.data.shape, data.target.shape]),
    }


@question
def csv_with_header():
    path = written("3,2,setosa,other", "5.1,2.5,0", "4.0,3.5,1", "1,2,0")
    base = tf.contrib.learn.datasets.base
    return loaded(base.load_csv_with_header(path, np.int32, np.float32))


@question
def csv_with_header_first_column():
    path = written("2,2,a", "1,5.1,2.5", "0,4.0,3.5")
    base = tf.contrib.learn.datasets.base
    return loaded(base.load_csv_with_header(path, np.int64, np.float64, target_column=0))


@question
def csv_with_wrong_header():
    base = tf.contrib.learn.datasets.base
    short = written("1,2,a", "5.1,2.5,0", "4.0,3.5,1")
    few = written("3,2,a", "5.1,2.5,0", "4.0,3.5,1")
    wide = written("2,3,a", "5.1,2.5,0", "4.0,3.5,1")
    return {
        "short": tried(lambda: base.load_csv_with_header(short, np.int32, np.float32).data.shape),
        "few": tried(lambda: base.load_csv_with_header(few, np.int32, np.float32).data.shape),
        "wide": tried(lambda: base.load_csv_with_header(wide, np.int32, np.float32).data.shape),
        "text": tried(base.load_csv_with_header, written("a,b", "1,2"), np.int32, np.float32),
    }


@question
def csv_without_header():
    path = written("5.1,2.5,0", "4.0,3.5,1")
    base = tf.contrib.learn.datasets.base
    return loaded(base.load_csv_without_header(path, np.int32, np.float32))


@question
def csv_of_texts():
    path = written("sports,some text,more", "news,other text,less")
    base = tf.contrib.learn.datasets.base
    found = base.load_csv_without_header(path, "str", "str", target_column=0)
    return {"data": repr(found.data.tolist()), "target": repr(found.target)}


@question
def data_sets():
    datasets = tf.contrib.learn.datasets
    return {
        "unknown": tried(datasets.load_dataset, "other"),
        "Dataset": list(datasets.base.Dataset._fields),
        "Datasets": list(datasets.base.Datasets._fields),
    }


if __name__ == "__main__":
    main()

"""Stand-in for `tf.contrib.learn.preprocessing`: texts as word numbers."""

import collections
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)
_UNKNOWN_WORD = "<UNK>"


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """Yields the words of each text."""
    for text in iterator:
        yield _WORD.findall(text)


class CategoricalVocabulary:
    """Mapping of words to numbers; unknown words have the number 0.

    Args:
      unknown_token: Word of the number 0.
      support_reverse: Whether `reverse` returns the word of a number.
    """

    def __init__(self, unknown_token: str = _UNKNOWN_WORD, support_reverse: bool = True) -> None:
        self._unknown, self._support_reverse = unknown_token, support_reverse
        self._mapping = {unknown_token: 0}
        self._words = [unknown_token]
        self._counts: collections.Counter[str] = collections.Counter()
        self._frozen = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Stops adding new words, or starts again with freeze=False."""
        self._frozen = freeze

    def get(self, category: str) -> int:
        """Returns the number of a word, and adds the word unless the vocabulary is frozen."""
        if category not in self._mapping:
            if self._frozen:
                return 0
            self._mapping[category] = len(self._mapping)
            self._words.append(category)
        return self._mapping[category]

    def add(self, category: str, count: int = 1) -> None:
        """Counts a word."""
        if self.get(category) > 0:
            self._counts[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Removes words by frequency and renumbers the others, most frequent first."""
        frequent = [
            (word, count)
            for word, count in sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
            if count > min_frequency and not 0 <= max_frequency <= count
        ]
        self._counts = collections.Counter(dict(frequent))
        self._words = [self._unknown, *(word for word, _ in frequent)]
        self._mapping = {word: number for number, word in enumerate(self._words)}

    def reverse(self, class_id: int) -> str:
        """Returns the word of a number.

        Raises:
          ValueError: The vocabulary has support_reverse=False.
        """
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse.")
        return self._words[class_id]


class VocabularyProcessor:
    """Converter of texts to rows of word numbers.

    Args:
      max_document_length: Length of a row; longer texts are cut, shorter ones padded with zeros.
      min_frequency: Words that are not more frequent than this are removed.
      vocabulary: Vocabulary to use; by default a new one.
      tokenizer_fn: Function of texts that returns the words of each.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[list[str]]] | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = CategoricalVocabulary() if vocabulary is None else vocabulary
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: object = None) -> "VocabularyProcessor":
        """Learns the words of texts and returns this object."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(
        self, raw_documents: Iterable[str], unused_y: object = None
    ) -> Iterator[np.ndarray]:
        """Learns the words of texts and yields their rows."""
        documents = list(raw_documents)
        return self.fit(documents).transform(documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """Yields a row of int64 for each text."""
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for index, word in enumerate(words[: self.max_document_length]):
                row[index] = self.vocabulary_.get(word)
            yield row

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """Yields the text of each row."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: str) -> None:
        """Writes this object to a file."""
        with tf.io.gfile.GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> "VocabularyProcessor":
        """Reads an object that `save` wrote."""
        with tf.io.gfile.GFile(filename, "rb") as file:
            return pickle.loads(file.read())


class ByteProcessor:
    """Converter of texts to rows of bytes.

    Args:
      max_document_length: Length of a row.
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Iterable[Any]) -> None:
        """Does nothing: bytes need no training."""

    def fit_transform(self, x: Iterable[Any]) -> Iterator[np.ndarray]:
        """Yields a row for each text."""
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[np.ndarray]:
        """Yields a row of uint8 for each text."""
        for text in x:
            content = text.encode() if isinstance(text, str) else bytes(text)
            row = np.zeros(self.max_document_length, np.uint8)
            numbers = np.frombuffer(content[: self.max_document_length], np.uint8)
            row[: len(numbers)] = numbers
            yield row

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """Yields the text of each row."""
        for row in x:
            yield bytes(bytearray(row)).rstrip(b"\0").decode()

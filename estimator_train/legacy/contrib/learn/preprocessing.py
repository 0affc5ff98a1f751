"""`tf.contrib.learn.preprocessing`: texts as numbers of words."""

import collections
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)
_UNKNOWN = "<UNK>"


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text."""
    for text in iterator:
        yield _WORD.findall(text)


class CategoricalVocabulary:
    """Words and their numbers; 0 is that of unknown ones.

    Args:
      unknown_token: The word that stands for these.
      support_reverse: Whether words can be asked for by their numbers.
    """

    def __init__(self, unknown_token: str = _UNKNOWN, support_reverse: bool = True) -> None:
        self._unknown, self._support_reverse = unknown_token, support_reverse
        self._mapping = {unknown_token: 0}
        self._words = [unknown_token]
        self._counts: collections.Counter[str] = collections.Counter()
        self._frozen = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Takes no more words in, or does again."""
        self._frozen = freeze

    def get(self, category: str) -> int:
        """The number of a word, a new one if it may be taken in."""
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
        """Leaves words out by how often they came; the others are numbered anew, frequent first."""
        kept = [
            (word, count)
            for word, count in sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
            if count > min_frequency and not 0 <= max_frequency <= count
        ]
        self._counts = collections.Counter(dict(kept))
        self._words = [self._unknown, *(word for word, _ in kept)]
        self._mapping = {word: number for number, word in enumerate(self._words)}

    def reverse(self, class_id: int) -> str:
        """The word of a number.

        Raises:
          ValueError: The vocabulary was made without.
        """
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse.")
        return self._words[class_id]


class VocabularyProcessor:
    """Texts as rows of numbers of their words.

    Args:
      max_document_length: Words in a row; longer texts are cut, shorter ones end in zeros.
      min_frequency: Words are left out that come no more often than that.
      vocabulary: A vocabulary to use.
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

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> "VocabularyProcessor":
        """Learns the words of texts; returns itself."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(
        self, raw_documents: Iterable[str], unused_y: Any = None
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
        """Writes this to a file."""
        with tf.io.gfile.GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> "VocabularyProcessor":
        """Reads what `save` wrote."""
        with tf.io.gfile.GFile(filename, "rb") as file:
            return pickle.loads(file.read())


class ByteProcessor:
    """Texts as rows of their bytes.

    Args:
      max_document_length: Bytes in a row.
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> None:
        """Has nothing to learn."""

    def fit_transform(self, x: Iterable[Any]) -> Iterator[np.ndarray]:
        """Yields a row for each text."""
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[np.ndarray]:
        """Yields a row of uint8 for each text."""
        for text in x:
            content = text.encode() if isinstance(text, str) else bytes(text)
            row = np.zeros(self.max_document_length, np.uint8)
            chosen = np.frombuffer(content[: self.max_document_length], np.uint8)
            row[: len(chosen)] = chosen
            yield row

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """Yields the text of each row."""
        for row in x:
            yield bytes(bytearray(row)).rstrip(b"\0").decode()

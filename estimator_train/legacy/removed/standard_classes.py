"""Methods of classes of Python's standard library, under the names that were removed."""

import array
import configparser
import html
import html.parser
import threading
import unittest
import xml.etree.ElementTree as ElementTree
from typing import Any

from estimator_train.legacy.removed.add import add_missing

_ASSERTIONS = {
    "assertEquals": "assertEqual",
    "assertNotEquals": "assertNotEqual",
    "assertAlmostEquals": "assertAlmostEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertRegexpMatches": "assertRegex",
    "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assert_": "assertTrue",
    "failIf": "assertFalse",
    "failUnless": "assertTrue",
    "failUnlessEqual": "assertEqual",
    "failUnlessRaises": "assertRaises",
}


def add_to_array() -> None:
    """Adds `tostring` and `fromstring` to arrays, removed in Python 3.9."""
    add_missing(
        array.array,
        {
            "tostring": lambda self: self.tobytes(),
            "fromstring": lambda self, data: self.frombytes(_to_bytes(data)),
        },
    )


def _to_bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data


def add_to_configparser() -> None:
    """Adds `readfp` to parsers, removed in Python 3.12."""
    add_missing(
        configparser.RawConfigParser,
        {"readfp": lambda self, fp, filename=None: self.read_file(fp, filename)},
    )


def add_to_html_parser() -> None:
    """Adds `unescape` to parsers, removed in Python 3.9."""
    add_missing(html.parser.HTMLParser, {"unescape": lambda self, text: html.unescape(text)})


def add_to_threading() -> None:
    """Adds `isAlive` to threads, removed in Python 3.9."""
    add_missing(threading.Thread, {"isAlive": threading.Thread.is_alive})


def add_to_unittest() -> None:
    """Adds the assertions that Python 3.12 removed to test cases."""
    case: Any = unittest.TestCase
    add_missing(case, {old: getattr(case, new) for old, new in _ASSERTIONS.items()})


def add_to_element_tree() -> None:
    """Adds `getchildren` and `getiterator`, removed in Python 3.9."""

    def getiterator(self: Any, tag: str | None = None) -> list[ElementTree.Element]:
        return list(self.iter(tag))

    add_missing(
        ElementTree.Element, {"getchildren": lambda self: list(self), "getiterator": getiterator}
    )
    add_missing(ElementTree.ElementTree, {"getiterator": getiterator})

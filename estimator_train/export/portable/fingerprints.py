"""Fingerprints of strings and of crosses, as TensorFlow computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any  # np.ndarray, as in `encoder.py`.

# Numbers modulo 2**64: the functions take Python integers and uint64 arrays alike.
_MASK = 2**64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_CROSS_MULTIPLIER = 0xC6A4A7935BD1E995
FEW = 24  # Python hashes fewer strings faster than NumPy.


def hash_texts(texts: list[bytes]) -> Any:
    """Returns the fingerprints of strings: a list, or an array for many."""
    if len(texts) < FEW:
        return [_fingerprint_one(text) for text in texts]
    return fingerprint(texts)


def fingerprint(strings: Sequence[bytes]) -> Array:
    """Returns the FarmHash Fingerprint64 of each string, uint64.

    The function is defined by FarmHash (Geoff Pike, Google, 2014), `farmhashna::Hash64`. Strings of
    one length are hashed together.

    Args:
      strings: The strings as bytes.
    """
    if len(strings) < FEW:
        return np.array([_fingerprint_one(text) for text in strings], np.uint64)
    result = np.empty(len(strings), np.uint64)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    order = np.argsort(lengths, kind="stable")
    found, starts = np.unique(lengths[order], return_index=True)
    for length, places in zip(found.tolist(), np.split(order, starts[1:]), strict=True):
        joined = b"".join([strings[place] for place in places.tolist()])
        text = np.frombuffer(joined, np.uint8).reshape(len(places), length)
        result[places] = _fingerprint_many(text, length)
    return result


def _fingerprint_one(text: bytes) -> int:
    def fetch(start: int, size: int = 8) -> int:
        return int.from_bytes(text[start : start + size], "little")

    found: int = _fingerprint_fetched(fetch, len(text)) & _MASK
    return found


def _fingerprint_many(text: Array, length: int) -> Array:
    def fetch(start: int, size: int = 8) -> Array:
        part = np.ascontiguousarray(text[:, start : start + size])
        return part.view(f"<u{size}")[:, 0].astype(np.uint64)

    return _fingerprint_fetched(fetch, length)


def _fingerprint_fetched(fetch: Callable[..., Any], length: int) -> Any:
    """Returns fingerprints from the numbers of `size` bytes that `fetch(start, size)` returns."""
    if length > 64:
        return _fingerprint_long(fetch, length)
    multiplier = _K2 + 2 * length
    if length == 0:
        return _K2
    if length < 4:
        first, middle, last = (fetch(i, 1) for i in (0, length >> 1, length - 1))
        return _shift_mix((first + (middle << 8)) * _K2 ^ (length + (last << 2)) * _K0) * _K2
    if length < 8:
        return _mix(length + (fetch(0, 4) << 3), fetch(length - 4, 4), multiplier)
    if length <= 16:
        a, b = fetch(0) + _K2, fetch(length - 8)
        c = _rotate(b, 37) * multiplier + a
        return _mix(c, (_rotate(a, 25) + b) * multiplier, multiplier)
    a = fetch(0) * (_K1 if length <= 32 else _K2)
    b, c = fetch(8), fetch(length - 8) * multiplier
    y = _rotate(a + b, 43) + _rotate(c, 30) + fetch(length - 16) * _K2
    z = _mix(y, a + _rotate(b + _K2, 18) + c, multiplier)
    if length <= 32:
        return z
    e, f = fetch(16) * multiplier, fetch(24)
    g, h = (y + fetch(length - 32)) * multiplier, (z + fetch(length - 24)) * multiplier
    first = _rotate(e + f, 43) + _rotate(g, 30) + h
    return _mix(first, e + _rotate(f + a, 18) + g, multiplier)


def _fingerprint_long(fetch: Callable[..., Any], length: int) -> Any:
    """Returns the fingerprints of strings of more than 64 bytes, from rounds of 64 bytes."""
    zero = fetch(0) & 0  # A number like those of the text: an integer or an array.
    v, w = (zero, zero), (zero, zero)
    x, y = (81 * _K2 & _MASK) + fetch(0), zero + (81 * _K1 + 113 & _MASK)
    z = _shift_mix(y * _K2 + 113) * _K2

    def mix_32(start: int, a: Any, b: Any) -> tuple[Any, Any]:
        words = [fetch(start + offset) for offset in (0, 8, 16, 24)]
        a = a + words[0] & _MASK
        b = _rotate(b + a + words[3], 21)
        total = a + words[1] + words[2]
        return total + words[3], b + _rotate(total, 44) + a

    def mix_64(start: int, factor: Any, last: bool) -> None:
        nonlocal x, y, z, v, w
        nine = 9 if last else 1
        x = _rotate(x + y + v[0] + fetch(start + 8), 37) * factor
        y = _rotate(y + v[1] + fetch(start + 48), 42) * factor
        x, y = x ^ w[1] * nine, y + v[0] * nine + fetch(start + 40)
        z = _rotate(z + w[0], 33) * factor
        v = mix_32(start, v[1] * factor, x + w[0])
        w = mix_32(start + 32, z + w[1], y + fetch(start + 16))
        x, z = z, x

    for start in range(0, (length - 1) // 64 * 64, 64):
        mix_64(start, _K1, last=False)
    factor = _K1 + ((z & 0xFF) << 1)
    w = w[0] + (length - 1 & 63), w[1]
    v = v[0] + w[0], v[1]
    w = w[0] + v[0], w[1]
    mix_64(length - 64, factor, last=True)
    first = _mix(v[0], w[0], factor) + _shift_mix(y) * _K0 + z
    return _mix(first, _mix(v[1], w[1], factor) + x, factor)


def _rotate(value: Any, bits: int) -> Any:
    value = value & _MASK
    return (value >> bits) | (value << (64 - bits))


def _shift_mix(value: Any) -> Any:
    value = value & _MASK
    return value ^ (value >> 47)


def _mix(u: Any, v: Any, multiplier: Any) -> Any:
    a = _shift_mix((u ^ v) * multiplier)
    return _shift_mix((v ^ a) * multiplier) * multiplier


def take_modulo(hashes: Any, buckets: int) -> Any:
    """Returns the bucket of each fingerprint, in a list or an array as they are."""
    if isinstance(hashes, list):
        return [value % buckets for value in hashes]
    return (hashes % np.uint64(buckets)).astype(np.int64)


def to_unsigned(values: Any) -> Array:
    """Returns integers modulo 2**64."""
    if isinstance(values, list):
        return np.array([value & _MASK for value in values], np.uint64)
    return values.astype(np.uint64)


def join_hashes(first: Any, second: Any) -> Any:
    """Returns the fingerprint of two fingerprints, as TensorFlow's crosses compute it."""
    mixed = _shift_mix(second * _CROSS_MULTIPLIER) * _CROSS_MULTIPLIER & _MASK
    joined = (first ^ _CROSS_MULTIPLIER ^ mixed) * _CROSS_MULTIPLIER
    return _shift_mix(_shift_mix(joined) * _CROSS_MULTIPLIER)

"""A pass that tells data from other data by a digest of its rows."""

import hashlib
from dataclasses import dataclass
from typing import Any

from modeclust import _core


@dataclass
class Digests:
    """Digests of the rows of each block, of their weights and of their scales, in order."""

    rows: bytes = b""
    weight: bytes = b""
    scale: bytes = b""

    def merge(self, other: "Digests") -> None:
        """Add the digests of the rows that follow."""
        self.rows += other.rows
        self.weight += other.weight
        self.scale += other.scale


class DigestPass:
    """Digest each block of rows; any number of threads gives the same bytes."""

    def run(self, rows: _core.Rows) -> Digests:
        """Return the digests of some rows."""
        return Digests(*rows.digest())


def digest(*parts: Any) -> bytes:
    """Return a digest of bytes or contiguous arrays, one after the other."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        state.update(part)
    return state.digest()

"""A pass that tells rows from others by a digest of what is in them."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from modeclust.data.blocks import Block
from modeclust.data.reading import Csr, Floats


@dataclass
class Digests:
    """Digests of the rows of each block, of their weights and of their scales, in order."""

    rows: bytes = b""
    weight: bytes = b""
    scale: bytes = b""

    def merge(self, other: "Digests") -> None:
        """Add those of blocks that come next."""
        self.rows += other.rows
        self.weight += other.weight
        self.scale += other.scale


class DigestPass:
    """Digest each block; any number of threads gives the same bytes, other blocks do not."""

    def start(self) -> Digests:
        """Return the digests of no blocks."""
        return Digests()

    def add(self, block: Block, digests: Digests) -> None:
        """Add those of one block."""
        digests.rows += digest(*_parts(block.X))
        digests.weight += digest(block.weight)
        digests.scale += digest(block.inverse_squared_scale)


def digest(*parts: Any) -> bytes:
    """Return a digest of bytes or contiguous arrays, one after the other."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        state.update(part)
    return state.digest()


def _parts(X: Floats | Csr) -> list[npt.NDArray[Any]]:
    """Return the arrays that say what is in some rows; their lengths say where each ends."""
    if not isinstance(X, Csr):
        return [X]
    inside = slice(X.indptr[0], X.indptr[-1])
    lengths = np.diff(X.indptr).astype(np.int64)
    return [lengths, X.indices[inside].astype(np.int64), X.data[inside]]

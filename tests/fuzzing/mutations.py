"""Ways to damage a file: its bytes, or the content of archives, arrays and JSON in it."""

import gzip
import io
import json
import re
import zipfile
import zlib
from contextlib import suppress

# Errors of files that are too damaged to be unpacked.
BROKEN = (zipfile.BadZipFile, zlib.error, RuntimeError)
NUMBERS = [
    0,
    1,
    2,
    3,
    7,
    127,
    255,
    256,
    65535,
    2**31 - 1,
    2**31,
    2**32 - 1,
    10**12,
    2**62,
    2**63 - 1,
]
TEXTS = [
    *(str(number) for number in NUMBERS),
    *("-1", "-9223372036854775808", "1e400", "-0.0", "nan", "inf", "-inf", "0.5", "1e-320"),
    *("", ",", "\t", '"', "\n", "\r", "\0", "\ufeff", "\ud7ff", "é", "x0", "NA", "True", "()"),
    *("<f8", ">f4", "|O", "<U9", "|b1", "<M8[s]", "V0", "[('a', '<f8')]", "%%MatrixMarket"),
]
VALUES = [
    *(None, True, False, 0, 1, -1, 2, 2**31, 10**12, 2**70, 0.5, -0.5, 1e308, "", "nan", "x"),
    *([], {}, [[]], [1, 2], {"float": "nan"}, {"float": "-inf"}, {"tuple": []}, {"dict": []}),
    *({"array": "0.npy"}, {"array": "1.npy"}, {"scalar": "0.npy"}, {"path": "x"}, {"names": ["a"]}),
    *({"names": [1]}, {"object": ["Path", {"dict": []}]}, {"random_state": {}}, {"sparse": []}),
]


def damage(rng, content, donor):
    """Return a damaged copy of some bytes. `donor` is another file, whose parts may be inserted."""
    for _ in range(1 + rng.choice((0, 0, 0, 1, 3))):
        content = _damage_once(rng, content, donor)
    return content


def _damage_once(rng, content, donor):
    if rng.random() < 0.75:  # damage the content, and keep the container valid
        with suppress(ValueError, OSError, EOFError, NotImplementedError, *BROKEN):
            if content.startswith(b"\x1f\x8b"):
                return gzip.compress(damage(rng, gzip.decompress(content), donor), mtime=0)
            if content.startswith(b"PK"):
                return _damage_zip(rng, content, donor)
            if content.startswith(b"\x93NUMPY"):
                return _damage_npy(rng, content, donor)
            if content.lstrip()[:1] in (b"{", b"["):
                return _damage_json(rng, content)
    return rng.choice(BYTES)(rng, content, donor)


def _position(rng, content):
    """Return a random position, often near the start or the end, where headers are."""
    size = len(content)
    near = min(size, rng.choice((16, 64, 256, size, size, size)))
    offset = rng.randrange(near + 1)
    return offset if rng.random() < 0.6 else size - offset


def _flip(rng, content, donor):
    damaged = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        if damaged:
            damaged[min(_position(rng, content), len(damaged) - 1)] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def _cut(rng, content, donor):
    return content[: _position(rng, content)]


def _remove(rng, content, donor):
    first = _position(rng, content)
    return content[:first] + content[first + rng.choice((1, 2, 4, 8, 64, 512)) :]


def _repeat(rng, content, donor):
    first, length = _position(rng, content), rng.choice((1, 4, 8, 64, 512))
    return content[: first + length] + content[first:]


def _splice(rng, content, donor):
    first, other = _position(rng, content), _position(rng, donor)
    part = donor[other : other + rng.choice((1, 4, 16, 64, 256, 4096))]
    skipped = len(part) if rng.random() < 0.7 else 0
    return content[:first] + part + content[first + skipped :]


def _overwrite_number(rng, content, donor):
    first, width = _position(rng, content), rng.choice((1, 2, 4, 8))
    number = rng.choice(NUMBERS) * rng.choice((1, 1, -1)) % 256**width
    part = number.to_bytes(width, rng.choice(("little", "little", "big")))
    return content[:first] + part + content[first + width :]


def _edit_number(rng, content, donor):
    """Replace a number that is written as text."""
    numbers = list(re.finditer(rb"-?\d+(\.\d+)?", content[:10_000]))
    if not numbers:
        return _flip(rng, content, donor)
    start, end = rng.choice(numbers).span()
    return content[:start] + rng.choice(TEXTS).encode() + content[end:]


def _insert_text(rng, content, donor):
    first = _position(rng, content)
    return (
        content[:first] + rng.choice(TEXTS).encode() * rng.choice((1, 1, 1, 50)) + content[first:]
    )


BYTES = [
    _flip,
    _flip,
    _cut,
    _remove,
    _repeat,
    _splice,
    _overwrite_number,
    _edit_number,
    _insert_text,
]


def _damage_zip(rng, content, donor):
    """Damage the members of an archive, with valid checksums."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    if not members:
        return _flip(rng, content, donor)
    texts = [place for place, (name, _) in enumerate(members) if name.endswith(".json")]
    place = texts[0] if texts and rng.random() < 0.5 else rng.randrange(len(members))
    name, part = members[place]
    other = rng.choice(members)
    way = rng.random()
    if way < 0.8:
        members[place] = name, damage(rng, part, rng.choice((other[1], donor)))
    elif way < 0.86:
        members[place] = name, other[1]
    elif way < 0.9:
        members[place] = rng.choice((other[0], "X.npy", "model.json", "../x.npy")), part
    elif way < 0.95:
        del members[place]
    else:
        members.append(rng.choice(members))
    buffer = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, part in dict(members).items():
            archive.writestr(zipfile.ZipInfo(name), part, method)
    return buffer.getvalue()


def _damage_npy(rng, content, donor):
    """Damage the numbers of an array, or its header, with the valid length of the header."""
    length = int.from_bytes(content[8:10], "little")
    header, numbers = content[10 : 10 + length], content[10 + length :]
    if rng.random() < 0.6:
        header = rng.choice((_edit_number, _edit_number, _insert_text, _edit_type, _flip))(
            rng, header, donor
        )
    else:
        numbers = rng.choice((_overwrite_number, _flip, _cut, _remove, _repeat))(
            rng, numbers, donor
        )
    return content[:8] + (len(header) % 2**16).to_bytes(2, "little") + header + numbers


def _edit_type(rng, header, donor):
    ways = [
        (rb"'descr': '[^']*'", [f"'descr': {t!r}" for t in ("|O", "<f4", ">f8", "<i8", "<U2")]),
        (rb"'fortran_order': \w+", ["'fortran_order': True", "'fortran_order': 3"]),
        (rb"\([\d, ]*\)", ["()", "(0, 2)", "(-1,)", "(10**3,)", "(6, 2, 1)", "(1000000000000, 2)"]),
    ]
    pattern, texts = rng.choice(ways)
    return re.sub(pattern, rng.choice(texts).replace("\\", "").encode(), header)


def _damage_json(rng, content):
    """Change, remove or swap values of a JSON text."""
    tree = json.loads(content)
    places = list(_places(tree))
    if not places:
        return json.dumps(rng.choice(VALUES)).encode()
    for _ in range(rng.choice((1, 1, 1, 2))):
        holder, key = rng.choice(places)
        other, other_key = rng.choice(places)
        with suppress(KeyError, IndexError):
            way = rng.random()
            if way < 0.5:
                holder[key] = _another(rng, holder[key])
            elif way < 0.75:
                holder[key] = other[other_key]
            elif way < 0.9:
                del holder[key]
            elif isinstance(holder, dict):
                holder[rng.choice(TEXTS) or other_key] = holder.pop(key)
            else:
                holder.append(holder[key])
    with suppress(ValueError, RecursionError):  # a value that contains itself
        return json.dumps(tree).encode()
    return content


def _another(rng, value):
    if type(value) in (int, float) and rng.random() < 0.5:
        return value * rng.choice((-1, 0, 2, 1000, 1e-3, 1e300)) + rng.choice((0, 0, 1))
    return rng.choice(VALUES)


def _places(tree):
    """Yield the list or dict of each value in a tree, and the key of the value."""
    if not isinstance(tree, dict | list):
        return
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        yield tree, key
        yield from _places(value)

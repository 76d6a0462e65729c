"""What is fuzzed: doors through which strangers' bytes come in, and what must hold whatever they are.

A target takes bytes and returns nothing. It raises where a claim does not hold; a crash or a hang is for whoever runs it to see.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

from scholarlake.documents import formats
from scholarlake.documents.document import KINDS, PROSE
from scholarlake.documents.sentences import split
from scholarlake.errors import SourceError
from scholarlake.sources import archives, streams
from scholarlake.sources.blocks import REASONS, parse_block
from scholarlake.sources.files import CHUNK_BYTES
from scholarlake.sources.lines import Block
from scholarlake.sources.readers import FORMATS, Reader
from scholarlake.sources.recognition import HEAD_BYTES, describe, recognise
from scholarlake.sources.units import Origin

_READERS = [reader for reader in FORMATS.values() if isinstance(reader, Reader)]
_LONGEST_UNIT = 1 << 12
_ORIGIN = Origin("part", "edition", "code", 2031, _LONGEST_UNIT)
_MOST_UNPACKED = 1 << 22


def dump(data: bytes) -> None:
    """A part of a dump: read as what it is taken for, and as what its first byte says, in blocks of any size."""
    if not data:
        return
    choice, data = data[0], data[1:]
    describe(data)
    taken_for = recognise(data[:HEAD_BYTES])
    chosen = _READERS[choice % len(_READERS)]
    _read(data, chosen)
    if isinstance(taken_for, Reader) and taken_for is not chosen:
        _read(data, taken_for)
    if not chosen.framing.in_lines:  # lines are cut where the blocks end
        whole, pieces = ([span for _, spans in _cut(data, chosen, size) for span in spans] for size in (1 << 20, 64 + choice))
        assert whole == pieces, "the units depend on the blocks"


def _read(data: bytes, reader: Reader) -> None:
    position = 0
    for block, _ in _cut(data, reader, 1 << 20):
        assert block.offset == position, "blocks don't tile the part"
        parsed = parse_block(block, _ORIGIN, reader)
        assert parsed.lines == parsed.records.height + parsed.rejects.height, "units are not records and rejects"
        assert parsed.covered == block.stop - block.offset, "bytes are in no row"
        assert set(parsed.reasons) <= set(REASONS), "a reason that no list names"
        position = block.stop
    assert position == len(data), "the part is not read to its end"


def _cut(data: bytes, reader: Reader, block_bytes: int) -> Iterator[tuple[Block, list[tuple[int, int]]]]:
    """The blocks, and where the units of each lie."""
    for block in reader.framing.split(io.BytesIO(data).read, block_bytes, _LONGEST_UNIT, reader.fits):
        found = [unit for units in reader.framing.units(block) for unit in zip(units.offsets.tolist(), units.lengths.tolist(), strict=True)]
        yield block, found + ([(block.giant.offset, block.giant.length)] if block.giant else [])


def document(data: bytes) -> None:
    """A document file, in whatever format it is taken to be."""
    try:
        found = list(formats.read(data))
    except SourceError as fault:
        _require_one_line(fault)
        return
    for name, one in found:
        assert name in formats.FORMATS
        one.text.encode()
        end = 0
        for block in one.blocks:
            assert block.kind in KINDS
            assert end <= block.start < block.end <= len(one.text), "blocks overlap"
            last = end = block.start
            for start, stop in block.sentences:
                assert last <= start < stop <= block.end, "sentences overlap"
                assert block.kind not in PROSE or not one.text[last:start].strip(), "text in no sentence"
                last = stop
            end = block.end
        assert one.content_hash


def sentences(data: bytes) -> None:
    """A text and its sentences."""
    text = data.decode("utf-8", "replace")
    last = 0
    for start, end in split(text):
        assert last <= start < end <= len(text)
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip()
        last = end
    assert not text[last:].strip()


@dataclass(frozen=True)
class InMemory:
    """Bytes as a file."""

    data: bytes
    name: str = "part"
    identity: None = None
    signature: str = "1"
    touched: float = 0.0
    is_near: bool = False

    @property
    def size(self) -> int:
        return len(self.data)

    def signature_now(self) -> str:
        return self.signature

    def read(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]

    def chunks(self, start: int, stop: int) -> Generator[bytes, None, None]:
        while start < min(stop, len(self.data)):
            yield self.data[start : min(stop, start + CHUNK_BYTES)]
            start += CHUNK_BYTES


def packed(data: bytes) -> None:
    """A compressed file, or an archive and what is in it."""
    file = InMemory(data)
    try:
        members = archives.members(file) if archives.is_archive(data[: archives.MAGIC_BYTES]) else [file]
        for member in members:
            with streams.PartStream(member, streams.compression_of(member)) as stream:
                unpacked = 0
                while unpacked < _MOST_UNPACKED and (piece := stream.read(1 << 16)):
                    assert len(piece) <= 1 << 16
                    unpacked += len(piece)
    except SourceError as fault:
        _require_one_line(fault)


def _require_one_line(fault: SourceError) -> None:
    said = str(fault)
    assert said.strip(), "a fault that says nothing"
    assert "\n" not in said, "a fault of several lines"


TARGETS: dict[str, Callable[[bytes], None]] = {"dump": dump, "document": document, "sentences": sentences, "packed": packed}

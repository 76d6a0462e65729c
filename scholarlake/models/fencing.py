"""A fence around text that others wrote, so that nothing in it can pass for ours.

The delimiter is made from the text's own hash: a text can't hold it, and the same text is always fenced alike, so that an
answer about it is found again. What a chat template would take for the end of a message is taken apart too.
"""

from __future__ import annotations

import re

from scholarlake.lake.hashing import text_hash

TAG_DIGITS = 16

_BOUNDS = (
    r"<\|[^<>|\s]{1,40}\|>"  # <|im_end|>, <|eot_id|>, <|endoftext|>
    r"|<｜[^<>｜]{1,40}｜>"  # the same with full-width bars
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
    r"|<<?/?(?:SYS|s|bos|eos|pad|unk)>>?"
    r"|<(?:start|end)_of_(?:turn|image)>"
)
#: What tokenizers of open models read as the bounds of a message or of a text, wherever it stands in a prompt.
_MESSAGE_BOUNDS = re.compile(_BOUNDS, re.IGNORECASE)
#: The same, and what agents say and are told things in.
_CONTROL_TOKENS = re.compile(rf"{_BOUNDS}|</?(?:think|tool_call|tool_response|answer)>", re.IGNORECASE)


class Ours(str):
    """A text that may stand in a prompt as it is: words of this project, or what others wrote inside a fence."""

    __slots__ = ()


def apart(text: str) -> str:
    """The text with what a chat template would read as the bounds of a message taken apart by a space. Half characters become question
    marks; nothing else is lost.
    """
    return _CONTROL_TOKENS.sub(_parted, text.encode("utf-8", "replace").decode())


def messages_apart(text: str) -> str:
    """The same for what an agent itself said, whose tags mean what they say."""
    return _MESSAGE_BOUNDS.sub(_parted, text.encode("utf-8", "replace").decode())


def fence(text: str) -> Ours:
    """The text between two lines that it can't contain."""
    plain = apart(text)
    tag = text_hash(plain)[:TAG_DIGITS]
    while tag in plain:
        tag = text_hash(tag + plain)[:TAG_DIGITS]
    return Ours(f"<text {tag}>\n{plain}\n</text {tag}>")


def _parted(found: re.Match[str]) -> str:
    return f"{found[0][0]} {found[0][1:]}"

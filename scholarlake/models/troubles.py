"""What an endpoint's error means: whether asking again can help, and how long to wait before that.

The one place that knows the `openai` client's errors. What does not belong here: asking again.
"""

from __future__ import annotations

import email.utils
import time
from typing import Any

from scholarlake.models.chat import Fault

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 60.0
_BUSY = (429, 502, 503, 504)  # the server is there, but not for us now
_NO_ENTRY = (401, 403, 404)
_WORTH_ANOTHER_TRY = (408, 409, 425, 500)
_SAID = 200
_TOO_LONG = ("maximum context", "context length", "context size", "too long", "max_model_len", "maximum input")


def fault_of(error: Exception, address: str, timeout_seconds: float, secret: str) -> Fault:
    """The fault behind an exception of the client. The key never gets into a message, even where the server repeats it."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return Fault("failed", f"no answer in {timeout_seconds:g} seconds")
    if isinstance(error, openai.APIConnectionError):
        return Fault("gone", f"{address} can't be reached ({_one_line(error.__cause__ or error, secret)})")
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        said = f"{status}: {_said(error, secret)}"
        if status in _NO_ENTRY:
            return Fault("closed", f"the endpoint answers {said}")
        if status in _BUSY:
            return Fault("busy", said, asked_wait(error.response.headers))
        if status in _WORTH_ANOTHER_TRY or status >= 500:
            return Fault("failed", said, asked_wait(error.response.headers))
        return Fault("rejected", rejection(said))
    return Fault("failed", f"an answer that can't be read ({_one_line(error, secret)})")


def backoff(attempt: int) -> float:
    """Seconds to wait after the attempt of this number, from 1, where the endpoint does not say."""
    return float(min(FIRST_WAIT_SECONDS * 2 ** min(attempt - 1, 16), LONGEST_WAIT_SECONDS))


def asked_wait(headers: Any) -> float | None:
    """Seconds that Retry-After asks for, as a number or as a date; None where it does not."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError):
        return None


def rejection(said: str) -> str:
    """The reason of a request that will never be taken, in words that a report can count."""
    lower = said.lower()
    too_long = any(word in lower for word in _TOO_LONG)
    return "too_long" if too_long else f"rejected: {said}"


def _said(error: Any, secret: str) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    return _one_line(body.get("message") or error.message, secret)


def _one_line(value: object, secret: str) -> str:
    line = " ".join(str(value).split())
    return (line.replace(secret, "***") if len(secret) > 4 else line)[:_SAID]

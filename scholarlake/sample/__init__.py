"""Generated dumps: OAG field names, topics with words of their own, preferential citations, every known fault, and the truth.

What does not belong here: reading dumps. The generator shares no code with the pipeline, so that the one can test the other.
"""

from __future__ import annotations

from scholarlake.sample.generate import SampleFacts, facts_as_json, generate

__all__ = ["SampleFacts", "facts_as_json", "generate"]

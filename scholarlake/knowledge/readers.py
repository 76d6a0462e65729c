"""What looks for facts: by rules where no model is bound, by the extractor where one is, and judged where there is a verifier.

What does not belong here: how each does it (`extractive`, `extraction`, `verification`).
"""

from __future__ import annotations

from scholarlake.knowledge.extraction import Attention, Bounds, Extraction
from scholarlake.knowledge.protocol import Reader
from scholarlake.knowledge.verification import Verified
from scholarlake.models.crew import Crew


def reader_for(crew: Crew, by_rules: Reader, *, bounds: Bounds, votes: int, attention: Attention | None = None) -> Reader:
    """The reader that a crew's roles make: extractor, verifier and adjudicator, each where it is bound.

    by_rules: what reads where no extractor is bound; its facts are judged too where a verifier is. Raises ModelError where a role's
    endpoint can't be used.
    """
    extractor, verifier = crew.chat("extractor"), crew.chat("verifier")
    reader = by_rules if extractor is None else Extraction(extractor, bounds, attention)
    return reader if verifier is None else Verified(reader, verifier, votes, crew.chat("adjudicator"))

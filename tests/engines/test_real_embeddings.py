"""vLLM's server as one that embeds: a server of its own, beside the one that chats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from scholarlake.models.minilm import weights_folder
from tests.engines.embedding import *  # noqa: F403
from tests.engines.embedding import DIMENSION
from tests.engines.real import ON_THE_PROCESSOR, needed

pytestmark = [pytest.mark.engines, needed]


@pytest.fixture(scope="module")
def embedding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    embeds = replace(ON_THE_PROCESSOR, arguments={"dtype": "float32", "enforce_eager": True}, context=None)
    with embeds.served(weights_folder(), tmp_path_factory.mktemp("embeds"), dimension=DIMENSION) as endpoint:
        yield endpoint

"""The contract of the back ends with real engines and real models: vLLM in process, vLLM's own server, and llama.cpp."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines.contract import *  # noqa: F403
from tests.engines.contract import BackEnd
from tests.engines.real import CONTEXT, ON_THE_PROCESSOR, folder_of, llama, needed

pytestmark = [pytest.mark.engines, needed]


@pytest.fixture(scope="module", params=["served tiny", "served smollm2", "in-process tiny", "in-process smollm2", "llama smollm2"])
def back_end(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackEnd]:
    how, model = request.param.split()
    folder = tmp_path_factory.mktemp("served")
    if how == "served":
        with ON_THE_PROCESSOR.served(folder_of(model), folder) as endpoint:
            yield BackEnd(endpoint, folder, CONTEXT + 1)
    else:
        yield BackEnd(llama() if how == "llama" else ON_THE_PROCESSOR.in_process(folder_of(model)), folder, CONTEXT + 1)

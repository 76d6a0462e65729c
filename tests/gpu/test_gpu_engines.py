"""The contract of the back ends with vLLM on a GPU: in process, served, and as a server that embeds. Run by `tests/gpu/run.py`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import faiss
import pytest

from scholarlake.models.minilm import weights_folder
from tests.engines.contract import *  # noqa: F403
from tests.engines.contract import BackEnd
from tests.engines.embedding import *  # noqa: F403
from tests.engines.embedding import DIMENSION
from tests.engines.real import CONTEXT, ROOT, Vllm

GPUS = faiss.get_num_gpus() if hasattr(faiss, "get_num_gpus") else 0
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not GPUS, reason="FAISS sees no GPU here"),
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed here"),
]
MODELS = ROOT / ".venv-gpu" / "models"
ON_THE_GPU = Vllm(
    Path(sys.executable),
    {
        "enforce_eager": True,  # compiling takes longer than all that is asked here
        "gpu_memory_utilization": 0.2,  # others may be on the same GPU
        "structured_outputs_config": {"backend": "guidance", "disable_any_whitespace": True},
    },
    {"HF_HUB_OFFLINE": "1"},
)


@pytest.fixture(scope="module", params=["served smollm2", "in-process tiny", "in-process smollm2"])
def back_end(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackEnd]:
    how, model = request.param.split()
    folder = tmp_path_factory.mktemp("served")
    if how == "served":
        with ON_THE_GPU.served(MODELS / model, folder) as endpoint:
            yield BackEnd(endpoint, folder, CONTEXT + 1)
    else:
        yield BackEnd(ON_THE_GPU.in_process(MODELS / model), folder, CONTEXT + 1)


@pytest.fixture(scope="module")
def embedding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    embeds = replace(ON_THE_GPU, arguments={"dtype": "float32", "enforce_eager": True, "gpu_memory_utilization": 0.2}, context=None)
    with embeds.served(weights_folder(), tmp_path_factory.mktemp("embeds"), dimension=DIMENSION) as endpoint:
        yield endpoint

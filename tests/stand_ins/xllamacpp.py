"""In place of xllamacpp where there is none: the same names, answering with the misbehaving server.

So the process that serves a GGUF file, and all that speaks to it, is tried without a model. `make test-engines` has the real one.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.misbehaving import serving


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(model=SimpleNamespace(path=""), cpuparams=SimpleNamespace(n_threads=0), hostnames=[], port=0)


class Server:
    def __init__(self, params: Any) -> None:
        if params.hostnames != ["127.0.0.1"]:
            raise RuntimeError("listens where everybody can reach it")
        if not Path(params.model.path).read_bytes().startswith(b"GGUF"):
            raise RuntimeError("failed to load model")
        self._serving = serving(port=params.port)
        self.listening_address = self._serving.__enter__().url.removesuffix("/v1")

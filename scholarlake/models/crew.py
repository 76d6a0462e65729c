"""All the models of one piece of work: every role ready to be asked, with one ledger, one set of tags and one budget.

What does not belong here: reading the models file (`config.py`), what a role is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from scholarlake.errors import ModelError
from scholarlake.lake.home import Lake
from scholarlake.models.budget import Budget
from scholarlake.models.chat import Engine, Tags
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.child import Wrapping
from scholarlake.models.config import EMBEDDER, POOL, Binding, ChatEndpoint, ModelsFile, open_embedder, secret
from scholarlake.models.ledger import Ledger
from scholarlake.models.metering import MeteredEmbedder


class Crew:
    """The roles of a models file at work on a lake. A context manager: engines and the ledger are open from their first use to its end.

    per_run: what all work under the run of these tags may cost, in the currency of the prices; None is no limit.
    wrapping: how an engine that runs as a child process is started by somebody who wants to hear from it; asked for when one is.
    """

    def __init__(
        self,
        models: ModelsFile,
        lake: Lake,
        tags: Tags | None = None,
        per_run: float | None = None,
        wrapping: Callable[[], Wrapping] = Wrapping,
    ) -> None:
        self.models = models
        self.tags = tags or Tags()
        self._lake = lake
        self._per_run = per_run
        self._wrapping = wrapping
        self._opened: dict[tuple[str, int], ChatModel | MeteredEmbedder] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for model in self._opened.values():
            if isinstance(model, ChatModel):
                model.__exit__(kind, error, trace)
        if "ledger" in vars(self):
            self.ledger.close()

    @cached_property
    def ledger(self) -> Ledger:
        return Ledger.of(self._lake)

    def embedder(self) -> MeteredEmbedder:
        """The embedder, loaded. Raises ModelError where it can't be."""
        opened = self._opened.get((EMBEDDER, 0))
        if not isinstance(opened, MeteredEmbedder):
            endpoint, name = self.models.endpoint(), self.models.bindings(EMBEDDER)[0].endpoint
            opened = MeteredEmbedder(open_embedder(endpoint, name), endpoint, self.ledger, self.tags, self._budgets)
            self._opened[EMBEDDER, 0] = opened
        return opened

    def chat(self, role: str) -> ChatModel | None:
        """The model of a role; None where it has no endpoint, and the deterministic method does its work.

        Raises ModelError where there is no such role, or its endpoint can't be used as it is described.
        """
        if role in (POOL, EMBEDDER):
            raise ModelError(f"role {role} is not one model that chats")
        return next(iter(self._bound(role)), None)

    def pool(self) -> list[ChatModel]:
        """The models of the consensus pool, in the order of the file; none where none is bound."""
        return self._bound(POOL)

    def facts(self) -> dict[str, Any]:
        """What every role that was asked did and cost, as an asset reports it: nothing where none was."""
        known = {f"{role}" if not number else f"{role} {number + 1}": model.tally.facts() for (role, number), model in self._opened.items()}
        if not known:
            return {}
        costs = [facts["cost"] for facts in known.values()]
        return {"models": known, "model_cost": None if None in costs else sum(costs)}

    @cached_property
    def _budgets(self) -> list[Budget]:
        if self._per_run is None:
            return []
        return [Budget("this run", self._per_run, self.ledger.purse(self.tags.run))]

    def _bound(self, role: str) -> list[ChatModel]:
        found = []
        for number, binding in enumerate(self.models.bindings(role)):
            opened = self._opened.get((role, number))
            if not isinstance(opened, ChatModel):
                opened = self._opened[role, number] = self._open(role, binding)
            found.append(opened)
        return found

    def _open(self, role: str, binding: Binding) -> ChatModel:
        name, endpoint = binding.endpoint, self.models.chat_endpoint(binding.endpoint)
        limits = list(self._budgets)
        if binding.budget is not None:
            limits.append(Budget(f"role {role} in this run", binding.budget, self.ledger.purse(self.tags.run, role)))
        engine = engine_of(self.models, endpoint, name, self._wrapping)
        sampling = self.models.sampling(binding)
        return ChatModel(role, name, endpoint, engine, self.ledger, sampling=sampling, tags=self.tags, budgets=limits)


def engine_of(models: ModelsFile, endpoint: ChatEndpoint, name: str, wrapping: Callable[[], Wrapping] = Wrapping) -> Callable[[], Engine]:
    """What makes the back end of an endpoint, once it is needed; a missing key is found at once. Only the one wanted is imported."""
    key = secret(endpoint, name)
    if endpoint.backend == "vllm":
        from scholarlake.models.vllm_chat import VllmChat

        return lambda: VllmChat(endpoint, name, models.folder, wrapping)
    if endpoint.backend == "llama":
        from scholarlake.models.llama_chat import LlamaChat

        return lambda: LlamaChat(endpoint, name, models.folder)
    from scholarlake.models.openai_chat import OpenAIChat

    return lambda: OpenAIChat(endpoint, str(endpoint.base_url), key)

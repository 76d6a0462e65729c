"""From a role to a model that can be asked: the endpoint it is bound to, its back end, its budget.

What does not belong here: reading the models file (`config.py`), embedders, which are opened there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from scholarlake.errors import ModelError
from scholarlake.models.budget import Budget
from scholarlake.models.chat import Engine, Tags
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.config import POOL, Binding, ChatEndpoint, ModelsFile, secret
from scholarlake.models.ledger import Ledger


def chat_model(models: ModelsFile, role: str, ledger: Ledger, tags: Tags | None = None, budgets: Sequence[Budget] = ()) -> ChatModel | None:
    """The model of a role; None where it has no endpoint, and the deterministic method does its work.

    Raises ModelError where the endpoint can't be used as it is described.
    """
    if role == POOL:
        raise ModelError(f"{POOL} has several models; ask for the pool")
    for binding in models.bindings(role):
        return _bound(models, role, binding, ledger, tags, budgets)
    return None


def chat_pool(models: ModelsFile, ledger: Ledger, tags: Tags | None = None, budgets: Sequence[Budget] = ()) -> list[ChatModel]:
    """The models of the consensus pool, in the order of the file; none where none is bound."""
    return [_bound(models, POOL, binding, ledger, tags, budgets) for binding in models.bindings(POOL)]


def _bound(models: ModelsFile, role: str, binding: Binding, ledger: Ledger, tags: Tags | None, budgets: Sequence[Budget]) -> ChatModel:
    name = binding.endpoint
    endpoint = models.chat_endpoint(name)
    limits = list(budgets)
    if binding.budget is not None:
        run = tags.run if tags else ""
        limits.append(Budget(f"role {role} in this run", binding.budget, lambda: ledger.spent(run, role)))
    engine = engine_of(models, endpoint, name)
    return ChatModel(role, name, endpoint, engine, ledger, sampling=models.sampling(binding), tags=tags, budgets=limits)


def engine_of(models: ModelsFile, endpoint: ChatEndpoint, name: str, environment: Mapping[str, str] | None = None) -> Callable[[], Engine]:
    """What makes the back end of an endpoint, once it is needed; a missing key is found at once. Only the one wanted is imported."""
    from scholarlake.models.openai_chat import OpenAIChat

    key, address = secret(endpoint, name), str(endpoint.base_url)
    return lambda: OpenAIChat(endpoint, address, key)

"""Dagster Pipes for engines that run as child processes: what they log and report shows in the step that uses them.

What does not belong here: how such an engine is started and spoken to (`scholarlake.models.vllm_chat`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

import dagster as dg


def pipes_environment(context: dg.AssetExecutionContext, until: ExitStack) -> Callable[[], Mapping[str, str]]:
    """What gives a child process the environment variables by which it reports to a step, until the stack is left.

    A session is opened only when an engine is started: most steps start none.
    """

    def opened() -> Mapping[str, str]:
        session = until.enter_context(dg.open_pipes_session(context, dg.PipesEnvContextInjector(), dg.PipesTempFileMessageReader()))
        return session.get_bootstrap_env_vars()

    return opened

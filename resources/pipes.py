"""Dagster Pipes for engines that run as child processes: what they log and report shows in the step that uses them.

What does not belong here: how such an engine is started and spoken to (`scholarlake.models.vllm_chat`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import dagster as dg

from scholarlake.models.child import Wrapping

SCRIPT = Path(__file__).with_name("pipes_child.py")


def reporting_by_pipes(context: dg.AssetExecutionContext, until: ExitStack) -> Callable[[], Wrapping]:
    """How an engine is started so that it reports to a step, until the stack is left.

    A session is opened only when an engine is started: most steps start none.
    """

    def opened() -> Wrapping:
        session = until.enter_context(dg.open_pipes_session(context, dg.PipesEnvContextInjector(), dg.PipesTempFileMessageReader()))
        return Wrapping(SCRIPT, session.get_bootstrap_env_vars())

    return opened

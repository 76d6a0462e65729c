"""The loop of an agent: it thinks, calls a tool, is shown what that gives, and goes on until it answers.

A turn whose form is wrong is answered with what is wrong; one that neither calls nor answers is asked for again, with another seed, so that
no kept answer comes back (SciLENS, 2.3). However a run ends, its trajectory is whole up to there. What does not belong here: what a turn is
(`parsing`), what the model is shown (`observation`, `context`), and how its answers are got and kept (`models.chat_model`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from scholarlake.agent import answer, context, observation, parsing, prompt
from scholarlake.agent.parsing import Flaw, Turn
from scholarlake.agent.settings import Settings, version_of
from scholarlake.agent.trajectory import ModelAsked, Outcome, ReleaseRead, Roll, Round, Trajectory
from scholarlake.errors import ModelError
from scholarlake.models.budget import BudgetSpent
from scholarlake.models.chat import ChatRequest, ChatResult
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.config import ModelsFile
from scholarlake.toolbox import charts
from scholarlake.toolbox.arguments import CHARTS, AnyChart
from scholarlake.toolbox.dispatch import Toolbox

ROLE = "agent"
_BOUND = {"temperature", "top_p", "max_tokens", "seed"}  # settings that a binding may have
_TOO_LONG = "too_long"  # how `models.troubles` calls a prompt that the model can't hold


@dataclass(frozen=True)
class Said:
    """Told to who watches: a turn was taken. It has a thought, and a call or an answer, or flaws."""

    round: Round
    turn: Turn


@dataclass(frozen=True)
class Observed:
    """Told to who watches: what the model is shown next."""

    round: Round


@dataclass(frozen=True)
class Again:
    """Told to who watches: a turn is asked for again, or all begins anew, and why."""

    number: int
    why: str


Watch = Callable[[Said | Observed | Again], object]
Steps = Generator[ChatRequest, ChatResult, None]


def ask(
    question: str,
    toolbox: Toolbox,
    model: ChatModel,
    settings: Settings,
    watch: Watch = lambda _: None,
    keep: Callable[[Trajectory], object] = lambda _: None,
) -> Trajectory:
    """One question, to its end. Raises nothing for what a model or a tool does, nor for Ctrl-C: it is in the trajectory how it ended.

    watch: is told what happens while it does. keep: is given the trajectory, whatever ends the run.
    """
    rollout = Rollout(question, toolbox, model, settings, watch)
    steps = rollout.steps()
    try:
        request = next(steps)
        while True:
            (result,) = model.ask([request])
            request = steps.send(result)
    except StopIteration:
        pass
    except KeyboardInterrupt:
        rollout.end("interrupted", "interrupted; the run so far is kept")
    except BudgetSpent as fault:
        rollout.end("budget_spent", str(fault))
    except ModelError as fault:
        rollout.end("model_lost", str(fault))
    except BaseException as fault:
        rollout.end("failed", f"{type(fault).__name__}: {fault}")
        raise
    finally:
        keep(rollout.trajectory)
    return rollout.trajectory


def settings_for(models: ModelsFile, **chosen: Any) -> Settings:
    """What is chosen; else what the role's binding has of its own; else SciLENS's. An endpoint's sampling is for other work."""
    bound = next((one.sampling for one in models.bindings(ROLE)), None)
    own: dict[str, Any] = bound.model_dump(include=_BOUND & bound.model_fields_set) if bound else {}
    return Settings.model_validate({**own, **{name: value for name, value in chosen.items() if value is not None}})


class Rollout:
    """One run: its trajectory, and its steps, each a request to be put to the model and the result that is to be sent back. Many can be
    driven at once, each by itself."""

    def __init__(self, question: str, toolbox: Toolbox, model: ChatModel, settings: Settings, watch: Watch = lambda _: None) -> None:
        briefing = prompt.briefing(settings.calling)
        self.trajectory = Trajectory(
            question=question,
            release=ReleaseRead.of(toolbox.reader.release),
            model=ModelAsked(role=model.role, endpoint=model.name, model=model.endpoint.model, revision=model.endpoint.revision),
            settings=settings,
            run=model.tags.run,
            version=version_of(settings, briefing.version),
            system=briefing.text,
        )
        self._toolbox = toolbox
        self._settings = settings
        self._watch = watch
        self._opening = prompt.opening(question, settings.calling)
        self._functions = briefing.functions
        self._drawn: dict[str, AnyChart] = {}
        self._seen: set[str] = set()
        self._start = 0
        self._vain = 0  # turns in a row that could not be used
        self._began = time.monotonic()

    def end(self, outcome: Outcome, message: str) -> None:
        """Say how it ended. Nothing goes on behind that."""
        kept = self.trajectory
        if kept.rounds and not kept.rounds[-1].rolls:  # it was asked for and never came
            kept.rounds.pop()
        kept.outcome, kept.message = outcome, " ".join(message.split())
        kept.seconds = round(time.monotonic() - self._began, 3)
        kept.totals.rounds = len(kept.rounds)

    def steps(self) -> Steps:
        """The run. Ends with the answer, or where there will be none; what it raises is raised by what drives it."""
        while self.trajectory.outcome == "running":
            if len(self.trajectory.rounds) >= self._settings.rounds:
                self.end("rounds_spent", f"no answer in {self._settings.rounds} rounds; the run is kept")
                return
            turn = yield from self._turn()
            if turn is not None:
                self._act(turn)

    # -- a turn ------------------------------------------------------------------------------------------------------------

    def _turn(self) -> Generator[ChatRequest, ChatResult, tuple[Round, Turn] | None]:
        """Ask for the next turn until there is one to act upon. None where there will be none, or all begins anew."""
        one = Round(number=len(self.trajectory.rounds) + 1, start=self._start)
        self.trajectory.rounds.append(one)
        why = ""
        for number in range(self._settings.rerolls + 1):
            if number:
                self._watch(Again(one.number, why))
            roll = self._start * (self._settings.rerolls + 1) + number
            result = yield self._request(one, roll)
            self._count(one, roll, result)
            if result.failure is not None:
                if not self._may_pass(result):
                    self._give_up(one, result)
                    return None
                why = f"{result.failure.kind}: {result.failure.reason}"
                continue
            turn = self._taken(one, result)
            one.rolls[-1].flaws = [flaw.code for flaw in turn.flaws]
            if not turn.says_nothing:
                return one, turn
            why = "it neither calls a tool nor answers"
        if one.text:
            return one, turn
        self.end("stuck", f"{self._settings.rerolls + 1} turns in a row without a word ({why}); the run so far is kept")
        return None

    def _request(self, one: Round, roll: int) -> ChatRequest:
        before = [kept for kept in self.trajectory.rounds if kept.start == self._start and kept is not one]
        sampling = self._settings.sampling(roll)
        if self._settings.calling == "tags":  # what tools say is not the model's to write
            sampling = sampling.model_copy(update={"stop": (f"<{parsing.RESPONSE}>",)})
        messages = context.conversation(self._opening, before, self._settings.kept)
        return ChatRequest(messages, sampling=sampling, item=f"round {one.number}", functions=self._functions)

    def _taken(self, one: Round, result: ChatResult) -> Turn:
        one.text = parsing.written(result.text or "", result.thought)
        if self._settings.calling == "tags":
            turn = parsing.parse(one.text)
        else:
            calls = tuple(call if call.id else replace(call, id=f"call-{one.number}-{at}") for at, call in enumerate(result.calls))
            one.native = [asdict(call) for call in calls]
            turn = parsing.parse_native(one.text, calls)
        one.thought = turn.thought
        return turn

    def _may_pass(self, result: ChatResult) -> bool:
        """Whether another draw may be better: an answer that was cut off or is empty, in a context that has room."""
        assert result.failure is not None
        return result.failure.kind in ("truncated", "invalid") and _TOO_LONG not in result.failure.reason

    def _give_up(self, one: Round, result: ChatResult) -> None:
        """No draw will give this turn: begin anew where the settings say so, or end."""
        assert result.failure is not None
        kind, reason = result.failure.kind, result.failure.reason
        kept = "the run so far is kept"
        if _TOO_LONG in reason:
            if self._settings.context == "discard-all" and self._start < self._settings.restarts and one.number > self._first():
                self._start += 1
                self._watch(Again(one.number, "the context is full: it begins anew"))
                return
            self.end(
                "context_full", f"the conversation is longer than the model's context ({reason}); {kept}: show fewer observations whole"
            )
        elif kind == "refused":
            self.end("refused", f"the model refuses ({reason}); {kept}")
        elif kind == "permanent":
            self.end("rejected", f"the endpoint does not take the request ({reason}); {kept}")
        else:
            self.end("model_lost", f"the endpoint breaks down over this turn ({reason}); {kept}")

    def _first(self) -> int:
        """The number of the first round since it last began."""
        return next(one.number for one in self.trajectory.rounds if one.start == self._start)

    # -- what is done about it ---------------------------------------------------------------------------------------------

    def _act(self, taken: tuple[Round, Turn]) -> None:
        one, turn = taken
        self._watch(Said(one, turn))
        if turn.is_usable and turn.answer is not None:
            self.trajectory.answer = answer.resolved(turn.answer, self._toolbox.reader, self._drawn, self._seen)
            self.end("answered", f"answered after {one.number} {'round' if one.number == 1 else 'rounds'}")
            return
        if turn.is_usable and turn.call is not None:
            self._vain = 0
            self._call(one, turn.call)
        else:
            self._vain += 1
            self._answer_flaws(one, [flaw for flaw in turn.flaws if flaw.code not in parsing.HARMLESS])
        self._watch(Observed(one))
        if self._vain >= self._settings.vain:
            self.end("stuck", f"{self._vain} turns in a row that can't be used; the run so far is kept")

    def _call(self, one: Round, call: parsing.Call) -> None:
        began = time.monotonic()
        given = self._toolbox.call(call.payload)
        one.tool_seconds = round(time.monotonic() - began, 6)
        one.call, one.ok = call.payload, bool(given["ok"])
        one.observation = observation.shown(given, self._settings.longest_observation)
        self._seen.update(observation.ids(given))
        if given["ok"] and call.tool_name in CHARTS:
            drawn = charts.sound(call.payload)
            self._drawn[charts.chart_id(drawn)] = drawn
        self.trajectory.totals.calls += 1
        self.trajectory.totals.tool_seconds += one.tool_seconds

    def _answer_flaws(self, one: Round, flaws: Sequence[Flaw]) -> None:
        one.observation = observation.shown(observation.of_flaws(flaws), self._settings.longest_observation)

    def _count(self, one: Round, roll: int, result: ChatResult) -> None:
        spent, totals = result.spent, self.trajectory.totals
        failure = None if result.failure is None else f"{result.failure.kind}: {result.failure.reason}"
        one.rolls.append(
            Roll(
                seed=self._settings.sampling(roll).seed,
                text=result.text,
                thought=result.thought,
                failure=failure,
                tokens_in=spent.tokens_in,
                tokens_out=spent.tokens_out,
                seconds=round(spent.seconds, 6),
                cached=result.cached,
            )
        )
        totals.rolls += 1
        totals.hits += spent.hits
        totals.tokens_in += spent.tokens_in
        totals.tokens_out += spent.tokens_out
        totals.model_seconds += spent.seconds
        totals.cost = None if totals.cost is None or spent.cost is None else totals.cost + spent.cost

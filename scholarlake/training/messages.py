"""A trajectory as the messages that a model learns from: the system's, the question, and turn by turn what it said and what tools told.

What does not belong here: the forms that trainers want them in.
"""

from __future__ import annotations

from scholarlake.agent import observation, prompt
from scholarlake.agent.trajectory import Trajectory


def messages_of(trajectory: Trajectory) -> list[dict[str, str]]:
    """role and content of every message, observations whole, as a user's in their tags."""
    found = [{"role": one.speaker, "content": one.content} for one in prompt.opening(trajectory.question, trajectory.settings.calling)]
    for one in trajectory.rounds:
        found.append({"role": "assistant", "content": one.text})
        if one.observation is not None:
            found.append({"role": "user", "content": observation.tagged(one.observation)})
    return found

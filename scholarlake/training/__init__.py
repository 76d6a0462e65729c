"""Training sets: subgraphs of the core, and what questions, rubrics, trajectories and rewards are made of.

What belongs here: how an item of training is drawn, composed, proved, scored and exported. What does not: the tools and the agent that
it is about (`toolbox`, `agent`), how benchmarks are judged (`evaluation`).
"""

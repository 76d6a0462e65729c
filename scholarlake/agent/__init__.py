"""Agents at a release: our own (`loop`, and what it is made of), and the door for those of others (`mcp_server`).

Our own thinks, calls a tool, sees what it gives, and so on until it answers: what it is told (`prompt`), what it says (`parsing`), what it
is shown of a tool's answer (`observation`) and of its past (`context`), how it is set (`settings`), what is kept of a run (`trajectory`,
`replay`), and what its answer cites (`answer`). What does not belong here: the tools that agents call (`toolbox`), how a release is read
(`door`), and what a model learns from trajectories (`training`).
"""

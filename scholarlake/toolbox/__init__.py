"""The research toolbox: twelve tools that an agent calls by name with JSON, over one release.

Here belong: what a tool takes (`arguments`) and gives (`answers`), how it fails (`faults`), what each does (`papers`, `charts`,
`summary`), their schemas for function calling (`schemas`), the one way in (`dispatch`), and charts as pictures and pages
(`pictures`, `page`). Not here: how a release is read (`door`), the agent that calls the tools (`agent`).
"""

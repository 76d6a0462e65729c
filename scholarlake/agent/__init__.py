"""Agents at a release: the door for those of others (`mcp_server`).

What does not belong here: the tools that agents call (`toolbox`), and how a release is read (`door`).
"""

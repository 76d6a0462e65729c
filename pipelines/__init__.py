"""The Dagster code location: when things run.

What belongs here: definitions, jobs, schedules, sensors, and the build that runs what is stale. What does not: what an
asset is (assets), what must hold of it (checks), how it is computed (scholarlake).
"""

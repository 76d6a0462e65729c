"""From an account to the sentences: what an object says, what it rests on, what the papers say, and what became of any of it since.

What does not belong here: how objects come to be, and what has happened to them (`registry`).
"""

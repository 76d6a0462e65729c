"""The one layer through which every text goes to a model: protocol, binding of roles, back ends, what to do with answers.

Not here: what is asked of a model and why (`dense`).
"""

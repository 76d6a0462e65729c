"""The one layer through which every text goes to a model: protocol, binding of roles, back ends, cache and ledger, prompts.

Chat: `binding.chat_model` gives a role's model, `ChatModel.ask` takes requests in bulk. Not here: what is asked of a model and
why, and the prompts that say it (`dense`, `knowledge` and the rooms above them).
"""

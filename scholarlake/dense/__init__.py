"""The dense tier: the text of a paper that is embedded, its vector, the FAISS index of a shard, search and recall.

Not here: the models themselves (`models`), and search that mixes vectors with words (`search`).
"""

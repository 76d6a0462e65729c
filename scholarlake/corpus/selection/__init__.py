"""Collections: which papers get knowledge layers, and why each of them.

What belongs here: reading `data/collections/*.yaml` (definition.py), what of the corpus a choice looks at (candidates.py, words.py,
nearest.py, texts.py), the three ways to choose (conditions.py, representatives.py with features.py, topics.py), and the tables (build.py).
What does not: what is made of the chosen papers (`scholarlake/documents`, `scholarlake/knowledge`), when a choice is made again
(the graph of stages). Of the library's rooms it stands on `dense` and `search` for vectors and the cutting of words.

Every choice depends on the content of the tables alone: papers are taken in the order of their ids, whatever shard or file they lie in,
numerical work runs on one thread with a fixed seed, and similarities are compared at six decimals, ties going to the smaller id.
"""

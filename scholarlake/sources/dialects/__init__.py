"""How each kind of dump spells a paper, one module each: which objects are of it, and its keys onto those that `record` reads.

Not here: where a record begins and ends (`lines`, `objects`, `paragraphs`), and what a field means once its name is known (`record`).
"""

"""Documents: the text of a paper as blocks and sentences with exact offsets, read from the files that publishers and tools write.

What belongs here: one reader a format, the sentence map, which file is which paper. What does not: which papers get knowledge
layers (`corpus/selection`), what is made of their sentences (`knowledge`).
"""

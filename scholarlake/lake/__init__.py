"""The ground floor: the folder of a lake, contracts, the one Delta writer, artifacts, receipts, the graph of stages, releases.

Not here: anything that knows what a paper is.
"""

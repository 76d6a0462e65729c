"""From records to a corpus: which of them are one paper, the merged papers, who cites whom, and the core.

Here belong: decisions over the whole corpus on narrow columns (`identity`, `citations`), the merge of wide rows shard by shard
(`merge`, `route`), and the citation graph as mapped arrays (`csr`). Not here: reading dumps (`sources`), vectors (`dense`).
"""

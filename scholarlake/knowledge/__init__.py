"""Knowledge: three layers compiled from papers, linked and traceable (ScholarStack, sections 3.1 to 3.3).

L1 is facts: what a paper states, with its conditions and the sentences that say it. L2 organizes them: taxonomies, canonical entities,
assignments, relations. L3 is syntheses: scoped accounts across papers. A registry keeps every object's versions and what rests on what;
views and five operations give access; a trace leads from an account to the sentences. Everything is made by a language model where a role
is bound to one, and by rules where none is; `method` says by which. Not here: reading documents (`documents`), choosing papers
(`corpus.selection`), how a model is asked (`models`), what tasks do with it (`tasks`).
"""

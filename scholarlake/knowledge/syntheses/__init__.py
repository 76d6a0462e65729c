"""L3: scoped accounts formed across papers, each claim citing registered objects (ScholarStack, section 3.2.3).

By rules, or by the synthesizer where one is bound; either way what is proposed must pass the same checks. What does not belong here: the
objects that are cited (`facts`, `organization`), and what became of accounts since (`registry`).
"""

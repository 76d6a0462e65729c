"""L2: how the facts of a collection are organized (ScholarStack, section 3.2.2).

A taxonomy says which categories there are, entities give the many names of a thing one identity, assignments place entities and papers in
categories, relations connect them; all of it rests on facts. By rules where no model is bound, and the doubtful is left open. What does
not belong here: facts themselves (the rooms above), accounts across papers (`syntheses`), versions (`registry`).
"""

"""The layers of a collection as they are read: an index over them, typed views, and five operations on views (ScholarStack, section 3.3).

Here belong: what of a collection is indexed (`contents`), the file and the matrix (`index`, `reader`), the objects as a reader gets them
(`items`, `view`) and as text within a budget (`shown`), the operations (`retrieving`, `selecting`, `expanding`, `comparing`,
`synthesizing`), views that are kept (`keeping`), the log of who read what (`accesses`), and the door to all of it (`knowledge`). Not here:
how the objects are made (`knowledge`, `organization`, `syntheses`), registering one (`registry`), following an account to its sentences
(`trace`).
"""

"""Configurable handles on the outside world: the lake, the dump folder, the models.

What belongs here: turning configuration into library objects. What does not: anything the library could do by itself.
"""

"""Notations of positions and moves, read from text into STATE records and written from them: ids and move text.

Text that is not in a notation raises `NotationError`, and so does a state that a notation cannot hold. A state that it can hold
is read back the same: `parse(format(x)) == x`.
"""

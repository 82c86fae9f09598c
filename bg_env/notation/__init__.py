"""What the backgammon world writes, read and written: ids, move text, match records. All of it on STATE records.

Text that is not in a notation raises `NotationError`, and so does a state that a notation cannot hold; what a notation
holds comes back the same: `parse(format(x)) == x`.
"""

"""Learners: MaskablePPO and TD(lambda), and the folders of their runs."""

"""Match records: reading and writing `.mat`, `.sgf` and JSON lines, and checking a record move by move against the rules."""

"""What an adversary sees of a release, and learns of one person."""

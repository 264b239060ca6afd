"""What a training run counts and shows, for all of its modules."""

STEPS = 0
CLIPPED = True

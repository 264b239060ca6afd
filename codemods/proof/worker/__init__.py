"""What runs in the user's interpreter; it needs the standard library, NumPy and TensorFlow only."""

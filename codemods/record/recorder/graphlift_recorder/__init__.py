"""Records what a Python program's functions see, from inside its process.

This package runs in the user's interpreter (Python 3.10 or later): it needs the standard library only,
and NumPy and TensorFlow where the program itself has imported them.
"""

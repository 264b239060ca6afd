"""What is rewritten: facts about TensorFlow code, and the rules that lift it."""

"""What is known about a file's functions, from one `ast` parse."""

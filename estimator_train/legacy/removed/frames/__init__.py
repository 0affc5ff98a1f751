"""Old methods, arguments and behaviour of the tables of pandas."""

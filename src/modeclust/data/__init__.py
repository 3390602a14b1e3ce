"""The data, wherever they live, and one pass over them."""

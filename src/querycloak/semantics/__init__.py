"""How far apart concepts and users are in a taxonomy: what methods and measures share."""

"""How far apart concepts and users are in a taxonomy."""

"""An example of a package that adds to QueryCloak; `catalog.py` lists what."""

"""QueryCloak: publish, share or analyse a web-search query log without exposing the people who searched."""

from querycloak._version import __version__

__all__ = ["__version__"]

"""`python -m querycloak` is the command `querycloak`."""

from querycloak.cli import run

run()

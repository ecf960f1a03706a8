"""Generated logs with known truth."""

from querycloak.synthetic.generate import EVENT_KINDS, GeneratedLog, generate
from querycloak.synthetic.settings import Generate
from querycloak.synthetic.tree import generate_directory_tree
from querycloak.synthetic.write import truth_table, write_generated

__all__ = [
    "EVENT_KINDS",
    "Generate",
    "GeneratedLog",
    "generate",
    "generate_directory_tree",
    "truth_table",
    "write_generated",
]

"""Generated logs with known truth."""

from querycloak.generator.generated_log import EVENT_KINDS, GeneratedLog, generate
from querycloak.generator.settings import Generate
from querycloak.generator.tree import generate_directory_tree
from querycloak.generator.write import truth_table, write_generated

__all__ = [
    "EVENT_KINDS",
    "Generate",
    "GeneratedLog",
    "generate",
    "generate_directory_tree",
    "truth_table",
    "write_generated",
]

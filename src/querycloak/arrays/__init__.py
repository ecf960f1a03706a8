"""What kernels share: rows of varying length, vocabularies, and how kernels compile."""

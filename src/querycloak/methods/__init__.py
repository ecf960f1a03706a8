"""Methods of anonymization, one folder per family."""

"""Background knowledge: taxonomies of concepts, and directories of sites."""

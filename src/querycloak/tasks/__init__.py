"""What a release is good for: tasks, each scored between the original log (1) and a blind one (0)."""

"""What became of each posted remark, and what the program learns from it."""

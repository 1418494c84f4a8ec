"""One module per kind of reference page; each makes Markdown from the code itself."""

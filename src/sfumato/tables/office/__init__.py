"""Files of SPSS, Stata, SAS and Excel: read, with their labels and codes of missing, and written.

The libraries are extras and are imported when a file of the kind is met. Files are read in a
process of its own (`sfumato.files.processes`), because a damaged one can end the process that
reads it.
"""

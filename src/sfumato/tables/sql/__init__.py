"""Tables that stay in their database: DuckDB, PostgreSQL, Spark and those of plug-ins.

Statements are put together with Ibis, once for all databases, and run by each database's own
driver. Counts come back, never rows. Nothing heavy is imported before a table is opened.
"""

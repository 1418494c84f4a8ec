"""Ways of showing: texts and tables, pages, and drawings as SVG."""

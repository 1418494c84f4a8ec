"""Tasks: what users ask for, one public function each. Wiring only."""

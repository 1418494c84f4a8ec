CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE releases (
    sequence INTEGER PRIMARY KEY,
    entry TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE TABLE cells (
    id INTEGER PRIMARY KEY,
    label INTEGER NOT NULL UNIQUE,
    labels TEXT NOT NULL,
    born INTEGER NOT NULL REFERENCES releases DEFERRABLE INITIALLY DEFERRED,
    parent INTEGER REFERENCES cells
);
CREATE INDEX cells_of_group ON cells (labels);
CREATE INDEX cells_of_release ON cells (born);
CREATE TABLE labels (
    column INTEGER NOT NULL, label TEXT NOT NULL, PRIMARY KEY (column, label)
) WITHOUT ROWID;
CREATE TABLE sensitive_values (
    id INTEGER PRIMARY KEY,
    column INTEGER NOT NULL,
    value TEXT NOT NULL,
    shown TEXT NOT NULL,
    UNIQUE (column, value)
);
CREATE TABLE parts (
    sequence INTEGER NOT NULL REFERENCES releases DEFERRABLE INITIALLY DEFERRED,
    cell_id INTEGER NOT NULL REFERENCES cells,
    joined INTEGER NOT NULL,
    left_it INTEGER NOT NULL,
    rows INTEGER NOT NULL CHECK (rows >= 0),
    counts BLOB NOT NULL,
    PRIMARY KEY (sequence, cell_id)
) WITHOUT ROWID;
CREATE INDEX parts_of_cell ON parts (cell_id, sequence);
CREATE VIEW current AS SELECT c.id, c.label, c.labels, c.born, c.parent, p.rows, p.counts
    FROM cells c CROSS JOIN parts p ON p.cell_id = c.id AND p.sequence =
    (SELECT MAX(sequence) FROM parts WHERE cell_id = c.id);
CREATE TABLE people (
    fingerprint BLOB PRIMARY KEY,
    cell_id INTEGER NOT NULL REFERENCES cells,
    joined INTEGER NOT NULL,
    left_it INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE likenesses (
    likeness BLOB NOT NULL,
    person BLOB NOT NULL,
    PRIMARY KEY (likeness, person)
) WITHOUT ROWID;
CREATE TABLE waiting (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    labels TEXT NOT NULL,
    row TEXT NOT NULL,
    new_labels TEXT NOT NULL,
    new_row TEXT NOT NULL,
    person TEXT NOT NULL,
    rows INTEGER NOT NULL CHECK (rows > 0),
    since INTEGER NOT NULL,
    UNIQUE (kind, labels, row, new_labels, new_row, person)
);
CREATE INDEX waiting_labels ON waiting (labels);
CREATE INDEX waiting_person ON waiting (person);
CREATE TABLE paths (
    column INTEGER NOT NULL, value TEXT NOT NULL, path TEXT NOT NULL,
    PRIMARY KEY (column, value)
) WITHOUT ROWID;
CREATE TABLE given (
    fingerprint TEXT PRIMARY KEY, sequence INTEGER NOT NULL, time TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE pending (
    sequence INTEGER PRIMARY KEY, stage TEXT NOT NULL, target TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE TABLE epochs (
    sequence INTEGER PRIMARY KEY REFERENCES releases DEFERRABLE INITIALLY DEFERRED,
    levels TEXT NOT NULL
);
CREATE TABLE seals (
    name TEXT NOT NULL, block NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (name, block)
) WITHOUT ROWID;
CREATE TABLE file_seal (id INTEGER PRIMARY KEY CHECK (id = 1), hash TEXT NOT NULL);
CREATE TABLE sketches (
    sequence INTEGER PRIMARY KEY REFERENCES releases DEFERRABLE INITIALLY DEFERRED,
    buckets INTEGER NOT NULL,
    rows BLOB NOT NULL
);

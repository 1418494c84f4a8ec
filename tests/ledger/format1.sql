BEGIN TRANSACTION;
CREATE TABLE changes (
    sequence INTEGER NOT NULL REFERENCES releases DEFERRABLE INITIALLY DEFERRED,
    group_id INTEGER NOT NULL REFERENCES groups,
    value_id INTEGER NOT NULL REFERENCES sensitive_values,
    rows INTEGER NOT NULL,
    PRIMARY KEY (sequence, group_id, value_id)
) WITHOUT ROWID;
INSERT INTO "changes" VALUES(1,1,1,1);
INSERT INTO "changes" VALUES(1,1,2,1);
INSERT INTO "changes" VALUES(1,1,3,1);
INSERT INTO "changes" VALUES(1,1,4,1);
INSERT INTO "changes" VALUES(1,1,5,2);
INSERT INTO "changes" VALUES(1,1,6,2);
INSERT INTO "changes" VALUES(1,2,1,1);
INSERT INTO "changes" VALUES(1,2,2,1);
INSERT INTO "changes" VALUES(1,2,3,1);
INSERT INTO "changes" VALUES(1,2,4,1);
INSERT INTO "changes" VALUES(1,2,5,2);
INSERT INTO "changes" VALUES(1,2,6,2);
INSERT INTO "changes" VALUES(2,1,2,1);
INSERT INTO "changes" VALUES(2,1,3,1);
INSERT INTO "changes" VALUES(2,1,5,1);
INSERT INTO "changes" VALUES(2,1,6,1);
CREATE TABLE counts (
    group_id INTEGER NOT NULL REFERENCES groups,
    value_id INTEGER NOT NULL REFERENCES sensitive_values,
    rows INTEGER NOT NULL CHECK (rows > 0),
    PRIMARY KEY (group_id, value_id)
) WITHOUT ROWID;
INSERT INTO "counts" VALUES(1,1,1);
INSERT INTO "counts" VALUES(1,2,2);
INSERT INTO "counts" VALUES(1,3,2);
INSERT INTO "counts" VALUES(1,4,1);
INSERT INTO "counts" VALUES(1,5,3);
INSERT INTO "counts" VALUES(1,6,3);
INSERT INTO "counts" VALUES(2,1,1);
INSERT INTO "counts" VALUES(2,2,1);
INSERT INTO "counts" VALUES(2,3,1);
INSERT INTO "counts" VALUES(2,4,1);
INSERT INTO "counts" VALUES(2,5,2);
INSERT INTO "counts" VALUES(2,6,2);
CREATE TABLE given (
    fingerprint TEXT PRIMARY KEY, sequence INTEGER NOT NULL, time TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "given" VALUES('53cdb7d6c398de25dc811ad02787cc567f2aa515f074f4607e3562d41b7c20dc',2,'2026-11-16T03:53:30+00:00');
INSERT INTO "given" VALUES('6a59de5692719cd2af3e9179ebcff33448f8b9f4b8ad727db1504e92ccefb733',3,'2026-11-16T03:53:30+00:00');
CREATE TABLE groups (
    id INTEGER PRIMARY KEY,
    label INTEGER NOT NULL UNIQUE,
    labels TEXT NOT NULL UNIQUE,
    rows INTEGER NOT NULL CHECK (rows >= 0)
);
INSERT INTO "groups" VALUES(1,658071,'["20-29"]',6);
INSERT INTO "groups" VALUES(2,267159,'["30-39"]',4);
CREATE TABLE labels (
    column INTEGER NOT NULL, label TEXT NOT NULL, PRIMARY KEY (column, label)
) WITHOUT ROWID;
INSERT INTO "labels" VALUES(0,'"20-29"');
INSERT INTO "labels" VALUES(0,'"30-39"');
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('alpha','0.5');
INSERT INTO "meta" VALUES('created','"2026-11-16T03:53:29+00:00"');
INSERT INTO "meta" VALUES('folder','"/"');
INSERT INTO "meta" VALUES('given_hash','5ba47437e441d9e83588f2d3a954d9399f2cc2b64111c66c5d26e05cf21fd5cc');
INSERT INTO "meta" VALUES('head','0c9b4607d63e3fdeb5c72d926b4291c462b236d60d5dcb0dc3b77d035574b366');
INSERT INTO "meta" VALUES('k','2');
INSERT INTO "meta" VALUES('levels','[null]');
INSERT INTO "meta" VALUES('paths_hash','3765d14bfee40e1ce95dbd04e35dc8fcb73bb8a9f1880989570792da3fa1cfeb');
INSERT INTO "meta" VALUES('policy','"version: 1\ncolumns:\n  age:\n    role: quasi-identifier\n    hierarchy:\n      kind: intervals\n      widths: [10]\n  ill: sensitive\n  pay: sensitive\nmodels:\n- {model: k-anonymity, k: 2}\nloss: {loss: normalized-loss}\nmethod: full-domain\nsearch: {search: best-first}\nsuppression: {limit: 0, rows: remove}\nmissing: own-value\nrisk_levels: {moderate: 0.2, high: 0.5, very_high: 0.75}\n"');
INSERT INTO "meta" VALUES('quasi_identifiers','["age"]');
INSERT INTO "meta" VALUES('salt','"587e1b08a97eb49ac17588d638af6185c59c526ab7c3ac62c2c66f78a9d124cd"');
INSERT INTO "meta" VALUES('sensitive','["ill", "pay"]');
INSERT INTO "meta" VALUES('waiting_hash','d470aa4bad9eb49200b5dd39218e9447c93da7929d42f77f7c0bfa2e48573b29');
CREATE TABLE moves (
    sequence INTEGER NOT NULL REFERENCES releases DEFERRABLE INITIALLY DEFERRED,
    group_id INTEGER NOT NULL REFERENCES groups,
    joined INTEGER NOT NULL,
    left_it INTEGER NOT NULL,
    PRIMARY KEY (sequence, group_id)
) WITHOUT ROWID;
INSERT INTO "moves" VALUES(1,1,4,0);
INSERT INTO "moves" VALUES(1,2,4,0);
INSERT INTO "moves" VALUES(2,1,2,0);
CREATE TABLE paths (
    column INTEGER NOT NULL, value TEXT NOT NULL, path TEXT NOT NULL,
    PRIMARY KEY (column, value)
) WITHOUT ROWID;
INSERT INTO "paths" VALUES(0,'"21"','[["21", 0, 0.0], ["20-29", 1, 1.0], ["*", 2, 1.0]]');
INSERT INTO "paths" VALUES(0,'"22"','[["22", 0, 0.0], ["20-29", 1, 1.0], ["*", 2, 1.0]]');
INSERT INTO "paths" VALUES(0,'"23"','[["23", 0, 0.0], ["20-29", 1, 1.0], ["*", 2, 1.0]]');
INSERT INTO "paths" VALUES(0,'"74"','[["74", 0, 0.0], ["70-79", 1, 0.0], ["*", 2, 1.0]]');
CREATE TABLE pending (
    sequence INTEGER PRIMARY KEY, stage TEXT NOT NULL, target TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE TABLE refused (
    fingerprint TEXT PRIMARY KEY, times INTEGER NOT NULL, sequence INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "refused" VALUES('cff71b75ed7a53cf62f6b868a4939969fe5f0b36ceef5024351f5b15a6d53b44',3,2);
CREATE TABLE releases (
    sequence INTEGER PRIMARY KEY,
    entry TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO "releases" VALUES(1,'{"changes":"bfde1cd9cea0d23e04f11c9e216e1a795fc89ce7d32fedc8eb88a5a209abb408","files":"","given_hash":"0000000000000000000000000000000000000000000000000000000000000000","kind":"start","paths_hash":"0000000000000000000000000000000000000000000000000000000000000000","rows":{"joined":8,"left":0,"refused":0,"waiting":0},"sequence":1,"settings":"ce20e3327063c9648c4b1fc897518d11180ef32cc9ae61347b11d9c2e8b25742","time":"2026-11-16T03:53:29+00:00","waiting_hash":"0000000000000000000000000000000000000000000000000000000000000000"}','','5f3768aec23ba638f2062ae27d3ce584da513c464d877d08c714b812dec9e6f5');
INSERT INTO "releases" VALUES(2,'{"changes":"68f66f2ccfe6b664994755df4ea8148e92b37c2014f02e92674a7c6a0a0f7873","files":"","given_hash":"5818854fc71c5bb930e4937cc1d2420f6de8841cfb0597701ec1d9ccee3c6d8a","kind":"increment","paths_hash":"80185c8fec81cbe4c130fbdf1a8913c6f1cc6f4369ade5e6624d3fa06e7f7715","rows":{"corrected":0,"given":5,"joined":2,"left":0,"refused":3,"waiting":0},"sequence":2,"settings":"ce20e3327063c9648c4b1fc897518d11180ef32cc9ae61347b11d9c2e8b25742","time":"2026-11-16T03:53:30+00:00","waiting_hash":"0000000000000000000000000000000000000000000000000000000000000000"}','5f3768aec23ba638f2062ae27d3ce584da513c464d877d08c714b812dec9e6f5','6064f72857b7edc10a627f2082584f03f2a3584e506acabaf16f5bf0243dd1f3');
INSERT INTO "releases" VALUES(3,'{"changes":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","files":"","given_hash":"5ba47437e441d9e83588f2d3a954d9399f2cc2b64111c66c5d26e05cf21fd5cc","kind":"increment","paths_hash":"3765d14bfee40e1ce95dbd04e35dc8fcb73bb8a9f1880989570792da3fa1cfeb","rows":{"corrected":0,"given":1,"joined":0,"left":0,"refused":0,"waiting":1},"sequence":3,"settings":"ce20e3327063c9648c4b1fc897518d11180ef32cc9ae61347b11d9c2e8b25742","time":"2026-11-16T03:53:30+00:00","waiting_hash":"d470aa4bad9eb49200b5dd39218e9447c93da7929d42f77f7c0bfa2e48573b29"}','6064f72857b7edc10a627f2082584f03f2a3584e506acabaf16f5bf0243dd1f3','0c9b4607d63e3fdeb5c72d926b4291c462b236d60d5dcb0dc3b77d035574b366');
CREATE TABLE sensitive_values (
    id INTEGER PRIMARY KEY,
    column INTEGER NOT NULL,
    value TEXT NOT NULL,
    shown TEXT NOT NULL,
    UNIQUE (column, value)
);
INSERT INTO "sensitive_values" VALUES(1,0,'"cold"','"cold"');
INSERT INTO "sensitive_values" VALUES(2,0,'"flu"','"flu"');
INSERT INTO "sensitive_values" VALUES(3,0,'"gout"','"gout"');
INSERT INTO "sensitive_values" VALUES(4,0,'"hiv"','"hiv"');
INSERT INTO "sensitive_values" VALUES(5,1,'"high"','"high"');
INSERT INTO "sensitive_values" VALUES(6,1,'"low"','"low"');
CREATE TABLE waiting (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    labels TEXT NOT NULL,
    row TEXT NOT NULL,
    new_labels TEXT NOT NULL,
    new_row TEXT NOT NULL,
    rows INTEGER NOT NULL CHECK (rows > 0),
    since INTEGER NOT NULL,
    UNIQUE (kind, labels, row, new_labels, new_row)
);
INSERT INTO "waiting" VALUES(1,'add','["*"]','["flu", "high"]','','',1,3);
CREATE INDEX moves_of_group ON moves (group_id, sequence);
CREATE INDEX waiting_new_labels ON waiting (new_labels);
CREATE INDEX waiting_labels ON waiting (labels);
COMMIT;

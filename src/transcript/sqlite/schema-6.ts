/**
 * What keeps, finds and takes away whole sessions. The index of words is filled from here on; `search_fill` says how far
 * it has come with what was there before.
 */
export const SCHEMA_6 = `
ALTER TABLE sessions ADD COLUMN hidden TEXT;
ALTER TABLE sessions ADD COLUMN imported TEXT;
ALTER TABLE sessions ADD COLUMN scope TEXT;
CREATE INDEX sessions_hidden ON sessions (hidden) WHERE hidden IS NOT NULL;
-- Who keeps a text that no entry holds: a session, or a job.
CREATE TABLE text_names (
  hash TEXT NOT NULL,
  owner TEXT NOT NULL,
  PRIMARY KEY (hash, owner)
) WITHOUT ROWID;
CREATE INDEX text_names_by_owner ON text_names (owner);
INSERT INTO text_names (hash, owner)
  SELECT DISTINCT json_extract(note, '$'), session FROM steps
  WHERE kind = 'open-loop' AND note IS NOT NULL AND json_valid(note);
CREATE INDEX entries_by_content ON entries (content) WHERE content IS NOT NULL;
CREATE INDEX contents_by_lease ON contents (leased_until_ms) WHERE named = 0;
CREATE INDEX loops_by_evaluation ON loops (evaluation) WHERE evaluation IS NOT NULL;
CREATE VIRTUAL TABLE search_words USING fts5 (
  words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TABLE search_fill (branch INTEGER NOT NULL, position INTEGER NOT NULL, last INTEGER NOT NULL);
INSERT INTO search_fill (branch, position, last)
  SELECT 0, -1, ref FROM branches ORDER BY ref DESC LIMIT 1;
`;

/** Definitions that came with an import and that nobody has accepted here: no run is started with them. */
export const SCHEMA_IMPORTS = `
CREATE TABLE unaccepted_definitions (
  hash TEXT PRIMARY KEY,
  imported_at_ms INTEGER NOT NULL
) WITHOUT ROWID;
`;

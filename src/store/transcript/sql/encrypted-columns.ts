// What of the store holds words: of people, models, tools and definitions. Everything else is searched, sorted or
// joined by, and stays readable: ids, names of agents, models and tools, hashes, times, counts, states.

type EncryptedTable = {
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** What its values are sealed for, where a row may be copied with another key. */
  readonly place?: readonly string[];
};

/**
 * Columns that are sealed where the store is, by table, and what a row of it is known by.
 *
 * @testonly
 */
export const ENCRYPTED_COLUMNS = {
  definitions: { key: ["hash"], columns: ["body"] },
  contents: { key: ["hash"], columns: ["body"] },
  sessions: { key: ["id"], columns: ["grants", "spawn"] },
  branches: { key: ["session", "id"], columns: ["inherited_view"] },
  snapshots: { key: ["branch", "position"], columns: ["workspace", "problem"] },
  // A run that forks takes along what it had written beside.
  entries: { key: ["branch", "position"], columns: ["message"], place: ["run", "position"] },
  inbox: { key: ["session", "id"], columns: ["text"] },
  loops: { key: ["loop_id"], columns: ["kind", "outcome", "view", "grants"] },
  events: { key: ["loop", "ordinal", "sequence"], columns: ["body"] },
  steps: { key: ["run", "number", "call"], columns: ["note", "result"] },
  evaluations: { key: ["id"], columns: ["opened", "warning", "closed"] },
} as const satisfies Record<string, EncryptedTable>;

export type EncryptedTableName = keyof typeof ENCRYPTED_COLUMNS;

/** Columns of all tables, for whoever goes through them. */
export const ENCRYPTED_TABLES = Object.entries(ENCRYPTED_COLUMNS) as readonly [
  EncryptedTableName,
  EncryptedTable,
][];

export type EncryptedColumnName = {
  [Table in EncryptedTableName]: `${Table}.${(typeof ENCRYPTED_COLUMNS)[Table]["columns"][number]}`;
}[EncryptedTableName];

/** A value of a private column, and the row that it belongs to: there alone it opens. */
export class ValueToEncrypt {
  readonly value: string | Buffer;
  readonly associatedData: string;

  constructor(value: string | Buffer, associatedData: string) {
    this.value = value;
    this.associatedData = associatedData;
  }
}

/** @param key - What the row is known by, in the order of `PRIVATE`. */
export function buildAssociatedData(column: EncryptedColumnName, key: readonly (string | number)[]): string {
  return JSON.stringify([column, ...key.map(String)]);
}

/** What is written to a private column; nothing of nothing. */
export function markForEncryption(
  value: string | Buffer | null,
  column: EncryptedColumnName,
  ...key: readonly (string | number)[]
): ValueToEncrypt | null {
  return value === null ? null : new ValueToEncrypt(value, buildAssociatedData(column, key));
}

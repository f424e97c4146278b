// The columns of the store that contain text of users, models, tools and definitions. All other columns are used to search,
// sort or join, and stay readable: ids, names of agents, models and tools, hashes, times, counts, states.

type EncryptedTable = {
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** The columns of the associated data, if a row can be copied under another key. */
  readonly associatedKey?: readonly string[];
};

/**
 * The columns that are encrypted in an encrypted store, by table, with the key of the table's rows.
 *
 * @testonly
 */
export const ENCRYPTED_COLUMNS = {
  definitions: { key: ["hash"], columns: ["body"] },
  contents: { key: ["hash"], columns: ["body"] },
  sessions: { key: ["id"], columns: ["grants", "spawn", "title"] },
  branches: { key: ["session", "id"], columns: ["inherited_view"] },
  snapshots: { key: ["branch", "position"], columns: ["workspace", "problem"] },
  // A fork of a run copies entries to another branch.
  entries: { key: ["branch", "position"], columns: ["message"], associatedKey: ["run", "position"] },
  inbox: { key: ["session", "id"], columns: ["text", "metadata"] },
  loops: { key: ["loop_id"], columns: ["kind", "outcome", "view", "grants"] },
  events: { key: ["loop", "ordinal", "sequence"], columns: ["body"] },
  steps: { key: ["run", "number", "call"], columns: ["note", "result"] },
  evaluations: { key: ["id"], columns: ["opened", "warning", "closed"] },
  suite_runs: { key: ["id"], columns: ["plan", "reason"] },
  suite_cases: { key: ["run", "number"], columns: ["value"] },
  suite_results: { key: ["cell"], columns: ["message"] },
  suite_scores: { key: ["result", "scorer"], columns: ["detail"] },
  answers: { key: ["key"], columns: ["message"] },
} as const satisfies Record<string, EncryptedTable>;

export type EncryptedTableName = keyof typeof ENCRYPTED_COLUMNS;

/** The encrypted columns as a list of tables. */
export const ENCRYPTED_TABLES = Object.entries(ENCRYPTED_COLUMNS) as readonly [
  EncryptedTableName,
  EncryptedTable,
][];

export type EncryptedColumnName = {
  [Table in EncryptedTableName]: `${Table}.${(typeof ENCRYPTED_COLUMNS)[Table]["columns"][number]}`;
}[EncryptedTableName];

/** A value of a private column, and the row that it belongs to. It can be decrypted only there. */
export class ValueToEncrypt {
  readonly value: string | Buffer;
  readonly associatedData: string;

  constructor(value: string | Buffer, associatedData: string) {
    this.value = value;
    this.associatedData = associatedData;
  }
}

/** @param key - The row's key, in the order of `ENCRYPTED_COLUMNS`. */
export function buildAssociatedData(column: EncryptedColumnName, key: readonly (string | number)[]): string {
  return JSON.stringify([column, ...key.map(String)]);
}

/** Marks a value of a private column for encryption; null stays null. */
export function markForEncryption(
  value: string | Buffer | null,
  column: EncryptedColumnName,
  ...key: readonly (string | number)[]
): ValueToEncrypt | null {
  return value === null ? null : new ValueToEncrypt(value, buildAssociatedData(column, key));
}

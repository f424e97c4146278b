// What of the store holds words: of people, models, tools and definitions. Everything else is searched, sorted or
// joined by, and stays readable: ids, names of agents, models and tools, hashes, times, counts, states.

type PrivateTable = {
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
export const PRIVATE = {
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
} as const satisfies Record<string, PrivateTable>;

export type PrivateTableName = keyof typeof PRIVATE;

/** Columns of all tables, for whoever goes through them. */
export const PRIVATE_TABLES = Object.entries(PRIVATE) as readonly [PrivateTableName, PrivateTable][];

export type PrivateColumn = {
  [Table in PrivateTableName]: `${Table}.${(typeof PRIVATE)[Table]["columns"][number]}`;
}[PrivateTableName];

/** A value of a private column, and the row that it belongs to: there alone it opens. */
export class Private {
  readonly value: string | Buffer;
  readonly place: string;

  constructor(value: string | Buffer, place: string) {
    this.value = value;
    this.place = place;
  }
}

/** @param key - What the row is known by, in the order of `PRIVATE`. */
export function placeOf(column: PrivateColumn, key: readonly (string | number)[]): string {
  return JSON.stringify([column, ...key.map(String)]);
}

/** What is written to a private column; nothing of nothing. */
export function secret(
  value: string | Buffer | null,
  column: PrivateColumn,
  ...key: readonly (string | number)[]
): Private | null {
  return value === null ? null : new Private(value, placeOf(column, key));
}

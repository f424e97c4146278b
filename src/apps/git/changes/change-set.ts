// What changed between two states of a repository, as data.

/** Which change is meant. The revisions are ids of commits, except `EMPTY` for a beginning without files. */
export type ChangeSource =
  | { readonly type: "staged" }
  | { readonly type: "unstaged" }
  | { readonly type: "commits"; readonly from: string; readonly to: string };

export type ChangeType =
  | "added"
  | "modified"
  | "deleted"
  | "renamed"
  | "copied"
  | "type-changed"
  | "unmerged";

/** A hunk as git cuts it, with three lines of context. Lines count from 1. */
export type Hunk = {
  /** `PATH:N`, where N counts the hunks of the file from 1. */
  readonly id: string;
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly added: number;
  readonly deleted: number;
};

export type ChangedFile = {
  readonly path: string;
  /** For a rename and a copy. */
  readonly previousPath?: string;
  readonly change: ChangeType;
  readonly oldMode: string;
  readonly newMode: string;
  /** Git shows no lines of it. */
  readonly isBinary: boolean;
  /** The size of its larger side, if git shows no lines because of it. */
  readonly largeBytes?: number;
  readonly added: number;
  readonly deleted: number;
  readonly hunks: readonly Hunk[];
  /** What the added lines contain, as far as their language is known. */
  readonly signals: readonly Signal[];
};

export type Signal = "adds function" | "adds type" | "modifies imports";

export type ChangeSet = {
  /** In git's order. */
  readonly files: readonly ChangedFile[];
  readonly added: number;
  readonly deleted: number;
};

/** Counts a list of files. */
export function toChangeSet(files: readonly ChangedFile[]): ChangeSet {
  const sum = (field: "added" | "deleted") => files.reduce((total, file) => total + file[field], 0);
  return { files, added: sum("added"), deleted: sum("deleted") };
}

/** Describes how many lines of a file have changed, or why there are none. */
export function describeLines(file: ChangedFile): string {
  return explainNoLines(file) ?? `+${file.added} -${file.deleted}`;
}

/** Says why no lines of a file are shown; undefined if they are. */
export function explainNoLines({ isBinary, largeBytes }: ChangedFile): string | undefined {
  if (!isBinary) return undefined;
  return largeBytes === undefined ? "binary" : `too large to show: ${Math.round(largeBytes / 1e6)} MB`;
}

/** What is different from the last commit. */
export type StatusFile = {
  readonly path: string;
  readonly previousPath?: string;
  readonly state: "changed" | "unmerged" | "untracked";
  /** Between the last commit and the index. */
  readonly staged?: string;
  /** Between the index and the work tree. */
  readonly unstaged?: string;
};

export type Status = {
  /** Absent: HEAD names a commit and no branch. */
  readonly branch?: string;
  /** Absent before the first commit. */
  readonly commit?: string;
  readonly files: readonly StatusFile[];
};

const WORDS: Readonly<Record<string, string>> = {
  M: "modified",
  T: "type-changed",
  A: "added",
  D: "deleted",
  R: "renamed",
  C: "copied",
};

/** Reads the output of `git status --porcelain=v2 --branch -z`. */
export function readStatus(output: string): Status {
  let head: { branch?: string; commit?: string } = {};
  const files: StatusFile[] = [];
  const records = output.split("\0");
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? "";
    const branch = /^# branch\.head (.*)$/s.exec(record)?.[1];
    const commit = /^# branch\.oid ([0-9a-f]+)$/.exec(record)?.[1];
    if (branch !== undefined && branch !== "(detached)") head = { ...head, branch };
    if (commit !== undefined) head = { ...head, commit };
    // The fields before the path: 8 for a change, 9 for a rename, 10 for a conflict.
    const changed = /^1 (.)(.) (?:\S+ ){6}(.*)$/s.exec(record);
    const renamed = /^2 (.)(.) (?:\S+ ){7}(.*)$/s.exec(record);
    const unmerged = /^u \S+ (?:\S+ ){8}(.*)$/s.exec(record);
    if (changed !== null) files.push(toChanged(changed));
    if (renamed !== null) {
      at += 1;
      files.push({ ...toChanged(renamed), previousPath: records[at] ?? "" });
    }
    if (unmerged !== null) files.push({ path: unmerged[1] ?? "", state: "unmerged" });
    if (record.startsWith("? ")) files.push({ path: record.slice(2), state: "untracked" });
  }
  return { ...head, files };
}

function toChanged([, x = "", y = "", path = ""]: RegExpExecArray): StatusFile {
  const staged = WORDS[x];
  const unstaged = WORDS[y];
  return {
    path,
    state: "changed",
    ...(staged === undefined ? {} : { staged }),
    ...(unstaged === undefined ? {} : { unstaged }),
  };
}

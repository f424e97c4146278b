import type { ChangedFile } from "../../../src/apps/git/changes/change-set.ts";

/** A changed file with as many hunks, of one added line each unless the counts are named. */
export function makeChangedFile(
  path: string,
  { hunks = 1, ...fields }: { hunks?: number } & Partial<Omit<ChangedFile, "hunks" | "path">> = {},
): ChangedFile {
  return {
    path,
    change: "modified",
    oldMode: "100644",
    newMode: "100644",
    isBinary: false,
    added: hunks,
    deleted: 0,
    signals: [],
    ...fields,
    hunks: Array.from({ length: hunks }, (_, at) => ({
      id: `${path}:${at + 1}`,
      oldStart: at * 10,
      oldLines: 0,
      newStart: at * 10 + 1,
      newLines: 1,
      added: 1,
      deleted: 0,
    })),
  };
}

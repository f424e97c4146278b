import type { ChangeSet } from "./change-set.ts";

/** How much there is to read (IRIS-26). `filtered`: only the files that were asked for are shown. */
export type SizeClass = "small" | "medium" | "large" | "filtered";

const SMALL = { maxFiles: 3, linesBelow: 100 };
const MEDIUM = { maxFiles: 10, linesBelow: 500 };

/** A file that a medium change set is mainly about. */
const RELEVANT_PERCENT = 60;

export function classifySize({ files, added, deleted }: ChangeSet, isFiltered = false): SizeClass {
  if (isFiltered) return "filtered";
  const fits = ({ maxFiles, linesBelow }: typeof SMALL) =>
    files.length <= maxFiles && added + deleted < linesBelow;
  if (fits(SMALL)) return "small";
  return fits(MEDIUM) ? "medium" : "large";
}

const GUIDANCE: Readonly<Record<SizeClass, string>> = {
  small: "Read all files with equal care.",
  medium: `Read files with more than ${RELEVANT_PERCENT} % relevance first, then the others.`,
  large: `Read in parts: call git_diff with files=["path1","path2"] and detail="standard".`,
  filtered: "Only the requested files are shown.",
};

/** A change set of several modules is worth several agents. */
const MODULES_FOR_DELEGATION = 3;

/** Returns what the model is told to do with a change set of this size. */
export function describeGuidance(size: SizeClass, changes: ChangeSet): string {
  const modules = new Set(changes.files.map(({ path }) => findModule(path)));
  return size === "large" && modules.size >= MODULES_FOR_DELEGATION
    ? `${GUIDANCE.large} It touches ${modules.size} modules: parallel_analyze gives each part to an agent of its own.`
    : GUIDANCE[size];
}

/** Returns the two outer folders of a path. */
function findModule(path: string): string {
  return path.split("/").slice(0, -1).slice(0, 2).join("/");
}

import { toFraction, toUnscorable } from "../../../evaluation/scorers/outcome.ts";
import { compilePattern } from "../../../evaluation/scorers/regex.ts";
import type { Score } from "../../../schema/score.ts";
import type { ScorerOf } from "../../../schema/scorer.ts";
import { ToolError } from "../../../tools/tool-execution.ts";
import { hasCode, PathError } from "../../../tools/workspace/system-error.ts";
import { openFile, openRoot, type WorkspaceRoot } from "../../../tools/workspace/workspace-access.ts";
import { runWithTimeout } from "../../step/run-with-timeout.ts";
import { COMPUTE_TIMEOUT_MS } from "./plain.ts";
import { type ScorerContext, WORKSPACE_IS_MISSING } from "./scorer-context.ts";

/** A larger file is not as expected: nothing that a suite states as text is so large. */
const MAX_FILE_BYTES = 1024 * 1024;

type ExpectedFile = ScorerOf<"files">["files"][string];

/** What is at a path: a file, nothing, or something that is not read, with the reason as a clause. */
type FoundFile =
  | { readonly type: "file"; readonly text: string }
  | { readonly type: "none" }
  | { readonly type: "unusable"; readonly reason: string };

/** Compares the files of the workspace. A link that leads out of the workspace is not followed. */
export async function scoreFiles({ files }: ScorerOf<"files">, { cell }: ScorerContext): Promise<Score> {
  if (cell.isWorkspaceMissing === true) return toUnscorable(WORKSPACE_IS_MISSING);
  if (cell.workspace === undefined) return toUnscorable("The cell has no workspace.");
  const root = await openRoot(cell.workspace);
  const problems: string[] = [];
  for (const [path, expected] of Object.entries(files)) {
    const problem = findProblem(await readFoundFile(root, path), expected);
    if (problem !== undefined) problems.push(`${path}: ${problem}`);
  }
  const total = Object.keys(files).length;
  return toFraction(total - problems.length, total, problems.length === 0 ? undefined : problems.join("; "));
}

async function readFoundFile(root: WorkspaceRoot, path: string): Promise<FoundFile> {
  try {
    const { handle } = await openFile(root, path);
    try {
      const { size } = await handle.stat();
      if (size > MAX_FILE_BYTES)
        return { type: "unusable", reason: `it is larger than ${MAX_FILE_BYTES} bytes` };
      return { type: "file", text: await handle.readFile("utf8") };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return { type: "none" };
    if (error instanceof PathError || hasCode(error, "ELOOP", "EACCES")) {
      return { type: "unusable", reason: (error as Error).message };
    }
    if (error instanceof ToolError) return { type: "unusable", reason: "it is outside the workspace" };
    throw error;
  }
}

/** Returns what is not as expected, as a clause. */
function findProblem(
  found: FoundFile,
  { exists, equals, includes, matches }: ExpectedFile,
): string | undefined {
  if (exists === false) return found.type === "none" ? undefined : "it exists";
  if (found.type === "none") return "it does not exist";
  if (found.type === "unusable") return found.reason;
  const { text } = found;
  if (equals !== undefined && text.trimEnd() !== equals.trimEnd()) return "its content is different";
  if (includes !== undefined && !text.includes(includes)) return "it does not contain the text";
  if (matches !== undefined && !matchesPattern(text, matches))
    return "it does not match the regular expression";
  return undefined;
}

function matchesPattern(text: string, pattern: string): boolean {
  const compiled = compilePattern(pattern, "");
  if (typeof compiled === "string") throw new TypeError(compiled);
  return runWithTimeout(
    COMPUTE_TIMEOUT_MS,
    () => compiled.test(text),
    () => {
      throw new Error(`The regular expression took longer than ${COMPUTE_TIMEOUT_MS / 1000} s.`);
    },
  );
}

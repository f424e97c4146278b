import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillTemplate } from "../../../evaluation/scorers/fill-template.ts";
import { toPassOrFail, toUnscorable } from "../../../evaluation/scorers/outcome.ts";
import type { Score } from "../../../schema/score.ts";
import type { ScorerOf } from "../../../schema/scorer.ts";
import { openTarget, statTarget } from "../../../tools/workspace/file-target.ts";
import { replaceFile } from "../../../tools/workspace/replace-file.ts";
import { openRoot } from "../../../tools/workspace/workspace-access.ts";
import { type CommandOutcome, runScorerCommand } from "./run-command.ts";
import { type ScorerContext, WORKSPACE_IS_MISSING } from "./scorer-context.ts";

/** The end of the output that an explanation contains: what test runners print last. */
const TAIL_CHARS = 420;

/** Runs a command in the workspace, or in a temporary one. */
export async function scoreCommand(scorer: ScorerOf<"command">, context: ScorerContext): Promise<Score> {
  const { cell, mask } = context;
  if (cell.isWorkspaceMissing === true) return toUnscorable(WORKSPACE_IS_MISSING);
  const files: [string, string][] = [];
  for (const [path, template] of Object.entries(scorer.files)) {
    const filled = fillTemplate(template, cell.subject);
    if (filled.type === "missing") return toUnscorable(`The case has no value for {{${filled.name}}}.`);
    files.push([path, filled.text]);
  }
  return await useWorkspace(context, async (workspace) => {
    for (const [path, text] of files) await writeText(workspace, path, text, context.signal);
    return toScore(await runScorerCommand(scorer, workspace, context), scorer.exitCode, mask);
  });
}

async function useWorkspace<Result>(
  { cell }: ScorerContext,
  work: (workspace: string) => Promise<Result>,
): Promise<Result> {
  if (cell.workspace !== undefined) return await work(cell.workspace);
  const workspace = await realpath(await mkdtemp(join(cell.workspaces ?? tmpdir(), "holdfast-scorer-")));
  try {
    return await work(workspace);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

/** Writes a file in the workspace. A link that leads out of it is refused. */
async function writeText(workspace: string, path: string, text: string, signal: AbortSignal): Promise<void> {
  const target = await openTarget(await openRoot(workspace), path, { create: true });
  try {
    await replaceFile(target, {
      content: Buffer.from(text, "utf8"),
      replaces: await statTarget(target),
      onlyIfUnchanged: false,
      key: `scorer ${path}`,
      checkpoint: () => signal.throwIfAborted(),
    });
  } finally {
    await target.folder.handle.close();
  }
}

function toScore(outcome: CommandOutcome, expectedCode: number, mask: (text: string) => string): Score {
  const tail = takeTail(mask(outcome.output).trim());
  const explain = (sentence: string) => (tail === "" ? sentence : `${sentence}\n${tail}`);
  switch (outcome.type) {
    case "exited":
      return toPassOrFail(outcome.exitCode === expectedCode, explain(`Exit code ${outcome.exitCode}.`));
    case "killed":
      return toPassOrFail(false, explain(outcome.reason));
  }
}

function takeTail(text: string): string {
  if (text.length <= TAIL_CHARS) return text;
  return `…${text.slice(1 - TAIL_CHARS).replace(/^[\uDC00-\uDFFF]/, "")}`;
}

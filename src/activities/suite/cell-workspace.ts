import { randomUUID } from "node:crypto";
import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { getDefinitionKind } from "../../core/suite/cell-kind.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { SuiteCase, SuitePlan } from "../../schema/suite.ts";
import type { Dependencies } from "../dependencies.ts";

type WorkspaceDependencies = Pick<Dependencies, "cellWorkspaces">;

/** Returns whether a cell gets a fresh folder: if its case has files, or its agent has tools and names no folder. */
export function needsWorkspace(definition: AgentDefinition, { files }: SuiteCase): boolean {
  if (files !== undefined) return true;
  return definition.workspace === undefined && getDefinitionKind(definition) === "agent";
}

/** Builds the path of a cell's workspace, which may not exist. */
export function buildWorkspacePath(
  session: string,
  { workspaces }: Pick<SuitePlan, "workspaces">,
  { cellWorkspaces }: WorkspaceDependencies,
): string {
  return join(workspaces ?? cellWorkspaces, session);
}

/**
 * Makes the workspace of a cell that has not begun, with the files of its case.
 *
 * @param isFree - Asked before a folder that exists is replaced: another run of a suite may have begun the cell meanwhile.
 */
export async function makeCellWorkspace(
  session: string,
  { files = {} }: SuiteCase,
  plan: SuitePlan,
  dependencies: WorkspaceDependencies,
  isFree: () => Promise<boolean>,
): Promise<string> {
  const folder = buildWorkspacePath(session, plan, dependencies);
  const draft = `${folder}.${randomUUID()}`;
  await mkdir(draft, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    const file = join(draft, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  if (await isFree()) {
    await rm(folder, { recursive: true, force: true });
    // Another run may have put the same files there at this moment.
    await rename(draft, folder).catch(() => access(folder));
  }
  await rm(draft, { recursive: true, force: true });
  return folder;
}

/** Finds the workspace of a cell that has ended, if it is on this host. */
export async function findCellWorkspace(
  session: string,
  plan: SuitePlan,
  dependencies: WorkspaceDependencies,
): Promise<string | undefined> {
  const folder = buildWorkspacePath(session, plan, dependencies);
  return await access(folder).then(
    () => folder,
    () => undefined,
  );
}

export async function removeCellWorkspace(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

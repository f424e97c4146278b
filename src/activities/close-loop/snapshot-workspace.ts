import { limitSignal } from "../../platform/async/deadline.ts";
import { buildSnapshotRef, takeSnapshot } from "../../platform/git/take-snapshot.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Outcome } from "../../schema/record.ts";
import type { Dependencies } from "../dependencies.ts";

/** The longest time that a snapshot may take. A snapshot beside an answer takes none of the run's time. */
const TIMEOUT_MS = 10_000;

/** After a stop, the caller waits for the end, and terminates the run after some seconds. */
const STOPPED_TIMEOUT_MS = 2_000;

type SnapshotPosition = { readonly session: string; readonly branch: string; readonly position: number };

/**
 * Saves the workspace at a position of the conversation, if the definition asks for it. It never fails: it reports
 * problems in the record and in the log.
 */
export async function snapshotWorkspace(
  { snapshots, workspace }: Pick<AgentDefinition, "snapshots" | "workspace">,
  { session, branch, position }: SnapshotPosition,
  { transcript, defaultWorkspace, log }: Pick<Dependencies, "transcript" | "defaultWorkspace" | "log">,
  signal: AbortSignal,
  limitMs: number = TIMEOUT_MS,
): Promise<void> {
  if (snapshots !== "git") return;
  try {
    const folder = workspace ?? defaultWorkspace;
    const [before] = await transcript.readSnapshots(session, { branch, position });
    const taken = await takeSnapshot({
      workspace: folder,
      ref: buildSnapshotRef(session, branch, position),
      message: `Workspace of session ${session} at ${branch} #${position}`,
      previous: before?.workspace === folder ? before.commit : undefined,
      signal: limitSignal(signal, limitMs),
    });
    const problem = taken.type === "none" ? taken.problem : undefined;
    if (problem !== undefined && problem !== before?.problem) {
      log.warn({ session, workspace: folder, problem }, "Could not save the workspace");
    }
    const { type: _, ...kept } = taken;
    await transcript.saveSnapshot({
      session,
      at: { branch, position },
      atMs: Date.now(),
      workspace: folder,
      ...kept,
    });
  } catch (error) {
    log.warn({ session, error: String(error) }, "Could not record a snapshot of the workspace");
  }
}

/** Saves the workspace when a loop ends after its tools, where no answer follows. */
export async function snapshotAtLoopEnd(
  loopId: string,
  at: SnapshotPosition,
  outcome: Outcome,
  dependencies: Pick<Dependencies, "transcript" | "definitions" | "defaultWorkspace" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const { transcript, definitions, log } = dependencies;
  try {
    const loop = (await transcript.readLoops(at.session)).find((one) => one.loopId === loopId);
    if (loop === undefined) return;
    const definition = await definitions.read(loop.definitionHash);
    const limitMs = outcome.type === "stopped" ? STOPPED_TIMEOUT_MS : TIMEOUT_MS;
    await snapshotWorkspace(definition, at, dependencies, signal, limitMs);
  } catch (error) {
    log.warn({ session: at.session, error: String(error) }, "Could not save the workspace");
  }
}

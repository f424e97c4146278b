import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ReplayHistoriesIterable, Worker } from "@temporalio/worker";
import { resolveBuiltFile } from "./built-file.ts";

/** A recorded run: JSON as the Temporal UI and CLI export it, or as the SDK fetches it. */
export type RecordedHistory = {
  /** The name of the recording, for errors. */
  readonly name: string;
  /** The history, parsed. */
  readonly history: unknown;
};

/** What the recordings are replayed against. */
export type ReplayOptions = {
  /** The workflow bundle to replay against; the built one by default. */
  readonly bundle?: string | undefined;
};

/** Thrown for histories that the current workflow code would not have written. */
export class ReplayMismatchError extends Error {
  override readonly name = "ReplayMismatchError";
  /** The recordings that do not replay, with the SDK's reason for each. */
  readonly mismatches: readonly {
    /** The name of the recording. */
    readonly name: string;
    /** Why it does not replay. */
    readonly reason: string;
  }[];

  /** @internal */
  constructor(mismatches: readonly { name: string; reason: string }[], replayed: number) {
    super(
      [
        `${mismatches.length} of ${replayed} recorded histories do not replay: runs in flight would get stuck after this change.`,
        ...mismatches.map(({ name, reason }) => `  ${name}: ${reason}`),
        "What to do: for a change in src/core, add a number to RULES and keep the old code path for states with an older number;",
        "guard a change in src/workflows with patched(). Record a history again only if no run in flight depends on it.",
      ].join("\n"),
    );
    this.mismatches = mismatches;
  }
}

/**
 * Replays recorded runs against the workflow bundle, without a server.
 *
 * @param source - A folder of `.json` files, or the histories themselves.
 * @returns The names of the replayed histories.
 * @throws ReplayMismatchError when one of them does not replay.
 */
export async function replayHistories(
  source: string | Iterable<RecordedHistory> | AsyncIterable<RecordedHistory>,
  { bundle = resolveBuiltFile("workflow-bundle.js") }: ReplayOptions = {},
): Promise<string[]> {
  const names: string[] = [];
  const mismatches: { name: string; reason: string }[] = [];
  const histories = collectNames(typeof source === "string" ? readFolder(source) : source, names);
  const results = Worker.runReplayHistories({ workflowBundle: { codePath: bundle } }, histories);
  // One history is replayed after the other: the result is that of the last one.
  for await (const { error } of results) {
    if (error !== undefined) mismatches.push({ name: names.at(-1) ?? "", reason: error.message });
  }
  if (mismatches.length > 0) throw new ReplayMismatchError(mismatches, names.length);
  return names;
}

async function* collectNames(
  histories: Iterable<RecordedHistory> | AsyncIterable<RecordedHistory>,
  names: string[],
): ReplayHistoriesIterable {
  for await (const { name, history } of histories) {
    names.push(name);
    yield { workflowId: readWorkflowId(history) ?? name, history: history as never };
  }
}

/** Reads the id of the run, which a workflow may depend on, from the first event. Older servers do not state it. */
function readWorkflowId(history: unknown): string | undefined {
  const { events = [] } = (history ?? {}) as { readonly events?: readonly StartEvent[] };
  return events[0]?.workflowExecutionStartedEventAttributes?.workflowId || undefined;
}

type StartEvent = {
  readonly workflowExecutionStartedEventAttributes?: { readonly workflowId?: string | null } | null;
};

async function* readFolder(folder: string): AsyncGenerator<RecordedHistory> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".json")).sort();
  for (const file of files) {
    yield {
      name: file.replace(/\.json$/, ""),
      history: JSON.parse(await readFile(join(folder, file), "utf8")),
    };
  }
}

import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { scoreCell } from "../../../../src/activities/suite/scorers/score-cell.ts";
import type {
  ScoredCell,
  ScorerDependencies,
} from "../../../../src/activities/suite/scorers/scorer-context.ts";
import { NamedRegistry } from "../../../../src/hooks/named-registry.ts";
import type { ScorerFunction } from "../../../../src/hooks/scorer-function.ts";
import type { SecretSource } from "../../../../src/models/secrets.ts";
import { AgentDefinition } from "../../../../src/schema/definition.ts";
import { SandboxSettings, type SandboxSettingsInput } from "../../../../src/schema/sandbox.ts";
import type { Score } from "../../../../src/schema/score.ts";
import { Scorer } from "../../../../src/schema/scorer.ts";
import { Sandboxes } from "../../../../src/tools/sandbox/sandboxes.ts";
import { createSubject } from "../../../evaluation/scorers/subject.ts";

export const JUDGE_HASH = "judge-hash";

const judge = AgentDefinition.parse({
  name: "judge",
  model: {
    provider: "test",
    id: "judge",
    api: "openai_completions",
    baseUrl: "http://localhost",
    contextWindow: 1000,
  },
});

export type TestWorker = {
  readonly scorers?: Readonly<Record<string, ScorerFunction>>;
  readonly sandbox?: SandboxSettingsInput;
  readonly ask?: ScorerDependencies["ask"];
  readonly signal?: AbortSignal;
};

const sandboxes = new Map<string, Sandboxes>();
const folder = join(tmpdir(), `holdfast-scorers-${process.pid}`);

/** Shared, because the first use of each tries the forbidden acts. */
function getSandboxes(settings: SandboxSettingsInput): Sandboxes {
  const key = JSON.stringify(settings);
  const known = sandboxes.get(key);
  if (known !== undefined) return known;
  const created = new Sandboxes({
    fallback: SandboxSettings.parse(settings),
    holdfastHome: join(folder, "home"),
    environment: {},
  });
  sandboxes.set(key, created);
  return created;
}

/** Scores a cell by scorers as a suite states them. */
export async function score(
  scorers: readonly object[],
  cell: Partial<Omit<ScoredCell, "subject">> & { readonly subject?: Partial<ScoredCell["subject"]> } = {},
  worker: TestWorker = {},
): Promise<readonly Score[]> {
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const scored = await scoreCell(
    {
      value: { messages: ["What is it?"] },
      messages: [],
      ...cell,
      subject: createSubject(cell.subject),
      scorers: scorers.map((one, index) => ({ digest: `d${index}`, scorer: Scorer.parse(one) })),
    },
    {
      scorers: new NamedRegistry("scorer", worker.scorers),
      definitions: {
        read: async (hash: string) => {
          if (hash !== JUDGE_HASH) throw new Error(`No definition is stored under ${hash}`);
          return judge;
        },
      } as ScorerDependencies["definitions"],
      sandboxes: getSandboxes(worker.sandbox ?? { mode: "off" }),
      secrets: Object.assign(() => undefined, { knownValues: () => ["hunter2hunter2"] }) as SecretSource,
      ask:
        worker.ask ??
        (async () => {
          throw new Error("No judge is expected");
        }),
    },
    worker.signal ?? new AbortController().signal,
  );
  return scored.map((one) => one.score);
}

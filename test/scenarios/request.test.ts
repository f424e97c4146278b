import { assert, asyncProperty } from "fast-check";
import { expect, test } from "vitest";
import { getOfferedTools, readTurnContext } from "../../src/client/read/read-turn-context.ts";
import { addOutputToRequest } from "../../src/conversation/final-tool.ts";
import { buildRequestBody } from "../../src/devkit/scenario/in-process-vendor.ts";
import { Stage } from "../../src/devkit/scenario/plain/stage.ts";
import { playPlain } from "../../src/devkit/scenario/plain.ts";
import { ScenarioError } from "../../src/devkit/scenario/scenario-error.ts";
import { Scenario, type ScenarioInput } from "../../src/devkit/scenario/schema.ts";
import { getRunCount, isThorough } from "../support/test-depth.ts";
import { buildPastTranscript, listPastLoops } from "./past-transcript.ts";
import { randomSession } from "./random-session.ts";

const RUNS = Math.ceil(getRunCount(2000) / 10);

/** Plays until the end, or until the first step that is not possible. */
async function played(input: ScenarioInput): Promise<Stage> {
  const scenario = Scenario.parse(input);
  const stage = new Stage(scenario);
  await playPlain(scenario, stage).catch((error: unknown) => {
    if (!(error instanceof ScenarioError)) throw error;
  });
  return stage;
}

/** The newest request for each answer, as it was sent. */
function sentBy({ notes }: Stage): ReadonlyMap<string, string> {
  const answers = notes.sent.flatMap(({ loop, turn, for: purpose }, nth) =>
    purpose === "answer" ? [[`${loop}/${turn}`, JSON.stringify(notes.bodies[nth])] as const] : [],
  );
  return new Map(answers);
}

async function remade(stage: Stage, loop: number, turn: number): Promise<string> {
  const { definition } = stage;
  const asked = await readTurnContext(
    buildPastTranscript(stage),
    "scenario",
    listPastLoops(stage).slice(0, loop + 1),
    turn,
  );
  const { terms, messages, isRepair } = asked;
  const { model, thinking, temperature, maxTokens, cache, systemPrompt, output } = definition;
  const told = { systemPrompt, tools: getOfferedTools(asked) };
  const road = terms?.output;
  const shaped =
    output === undefined || output.type === "text" || road === undefined
      ? told
      : addOutputToRequest({ output, mode: road }, told, isRepair);
  return JSON.stringify(
    buildRequestBody({
      model,
      apiKey: undefined,
      headers: {},
      messages: messages.map(({ message }) => message),
      ...shaped,
      thinking,
      temperature,
      maxTokens,
      cache,
    }),
  );
}

test(
  "every request can be rebuilt byte for byte, for every turn of every loop of every run, whatever the model prunes, wherever it reverts and whoever interrupts it [PHI-07.1]",
  async () => {
    const counts = { pruned: 0, reverted: 0, compacted: 0, later: 0, repaired: 0 };
    await assert(
      asyncProperty(randomSession, async (input) => {
        const stage = await played(input);
        for (const [key, sent] of sentBy(stage)) {
          const [loop = 0, turn = 0] = key.split("/").map(Number);
          expect(await remade(stage, loop, turn), `turn ${turn} of loop ${loop}`).toBe(sent);
          if (sent.includes('"tool_choice":{"type":"tool"')) counts.repaired += 1;
        }
        const events = stage.transcript.records.map(({ loopId }) =>
          stage.transcript.listEvents(loopId).map(({ body }) => body),
        );
        const pruned = events.flat().filter(({ type }) => type === "PrunApplied");
        const reverted = events.flat().filter((body) => body.type === "RevertApplied" && body.applied);
        const changed = events.findIndex((all) =>
          all.some((body) => [...pruned, ...reverted].includes(body)),
        );
        counts.pruned += Math.min(1, pruned.length);
        counts.reverted += Math.min(1, reverted.length);
        counts.compacted += events.flat().some(({ type }) => type === "CompactionEnded") ? 1 : 0;
        counts.later += changed >= 0 && changed < events.length - 1 ? 1 : 0;
      }),
      { numRuns: RUNS },
    );
    // A small sample may contain none of these cases.
    if (!isThorough) return;
    expect(counts.pruned, "sessions whose model has pruned").toBeGreaterThan(RUNS / 10);
    expect(counts.reverted, "gone back").toBeGreaterThan(RUNS / 20);
    expect(counts.later, "and been asked in later loops").toBeGreaterThan(RUNS / 20);
    expect(counts.compacted, "been compacted").toBeGreaterThan(RUNS / 100);
    expect(counts.repaired, "answers asked for once more").toBeGreaterThan(RUNS / 50);
  },
  120_000 + RUNS * 1000,
);

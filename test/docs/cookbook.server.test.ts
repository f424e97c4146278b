import { beforeAll, expect, test } from "vitest";
import type { ModelScript, Reply } from "../../src/testing/index.ts";
import { isThorough, thoroughDescribe } from "../support/test-depth.ts";
import { findForeignImports, type PlayedProgram, playPrograms, readRecipes } from "./support/doc-programs.ts";

const say = (...texts: string[]): ModelScript => ({ replies: texts.map((text) => ({ text })) });
const call = (name: string, input: object): Reply => ({ toolCalls: [{ name, arguments: input }] });

/** What the model answers in each recipe. A line that a recipe prints opens the gate of that name. */
const SCRIPTS: Readonly<Record<string, ModelScript>> = {
  "ask-a-question": say("Lisbon."),
  "print-an-answer-while-it-is-written": say("Because air scatters blue light more than red."),
  "give-an-agent-a-tool": { replies: [call("stock", { item: "lamp" }), { text: "We have three lamps." }] },
  "get-data-instead-of-text": say(JSON.stringify({ name: "Ada Lovelace", city: "London", year: 1815 })),
  "ask-a-person-before-a-tool-runs": {
    replies: [call("refund", { order: "A-17", cents: 1250 }), { text: "The money is on its way." }],
  },
  "deny-what-a-rule-forbids": {
    replies: [
      call("bash", { command: "git push origin main" }),
      { text: "I may not push. Please push the branch yourself." },
    ],
  },
  "steer-an-agent-while-it-works": {
    replies: [{ ...call("list_files", { path: "." }), holdUntil: "steered" }, { text: "A small project." }],
  },
  "queue-what-comes-next": {
    replies: [{ text: "Rain on the roof.", holdUntil: "queued" }, { text: "Regen auf dem Dach." }],
  },
  "stop-an-agent": { replies: [{ text: "one two three four five six", chunkSize: 4, holdUntil: "never" }] },
  "limit-what-an-agent-may-spend-and-let-it-go-on": {
    replies: [call("list_files", { path: "." }), { text: "Three files." }],
    defaultReply: { text: "Three files." },
  },
  "continue-a-conversation": say("Noted.", "Tom."),
  "send-a-request-only-once": say("Confirmed.", "Confirmed twice."),
  "try-an-earlier-point-again": {
    conversations: [{ match: "in the north", replies: [{ text: "Oslo." }] }],
    replies: [{ text: "Porto." }],
  },
  "work-through-a-list": {
    conversations: [
      { match: "Ulm", replies: [{ text: "Germany" }] },
      { match: "Porto", replies: [{ text: "Portugal" }] },
      { match: "Lima", replies: [{ text: "Peru" }] },
    ],
  },
  "chain-agents": {
    conversations: [
      { match: "You write.", replies: [{ text: "Cats sleep for most of the day." }] },
      { match: "You edit.", replies: [{ text: "Cats sleep." }] },
    ],
  },
  "let-an-agent-delegate": {
    conversations: [
      { match: "You find things out.", replies: [{ text: "It is 2,962 metres high." }] },
      {
        match: "You plan.",
        replies: [
          call("researcher", { task: "Find the height of the Zugspitze." }),
          { text: "2,962 metres." },
        ],
      },
    ],
  },
  "veto-a-call-with-a-hook": {
    replies: [call("bash", { command: "rm -r build" }), { text: "I will do that tomorrow." }],
  },
  "know-what-it-cost": { replies: [{ text: "Hello.", usage: { input: 1000, output: 50 } }] },
  "find-an-old-conversation": say("I will."),
  "move-a-session-to-another-machine": say("I will.", "Seven."),
};

const RECIPES = readRecipes();

test("there are at least fifteen recipes, over the public entry points alone", () => {
  expect(RECIPES.length).toBeGreaterThanOrEqual(15);
  const unused = Object.keys(SCRIPTS).filter((name) => !RECIPES.some((recipe) => recipe.name === name));
  expect(unused).toEqual([]);
  for (const { name, code, printed } of RECIPES) {
    expect([name, findForeignImports(code), printed.length > 0]).toEqual([name, [], true]);
  }
});

thoroughDescribe("each recipe of the cookbook", () => {
  let played: ReadonlyMap<string, PlayedProgram>;
  beforeAll(async () => {
    if (isThorough) played = await playPrograms("cookbook", RECIPES, SCRIPTS);
  });

  test.each(RECIPES)("$name prints what the page states", ({ name, printed }) => {
    expect(played.get(name)).toEqual({ name, output: printed });
  });
});

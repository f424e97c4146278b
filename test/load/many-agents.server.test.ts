import { readdirSync, readlinkSync } from "node:fs";
import { afterAll, expect } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/tool.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import type { TestSession } from "../workflows/support/test-session.ts";

// A hundred agents at once, each with an answer of ten parallel calls; every tenth agent runs one call in a shell.

const AGENTS = 100;
const CALLS = 10;
/** Commands are real processes, and a hundred of them start slowly. */
const EVERY_SHELL = 10;
/** The least number of one answer's calls that must run at one time; all agents together stay below a worker's slots. */
const TOGETHER = 5;
const PATIENCE_MS = 180_000;

/** Calls of one agent that wait for each other, then end in the reverse order of their arrival. */
class Crowd {
  readonly #arrived: { readonly n: number; readonly go: () => void }[] = [];
  readonly ended: number[] = [];

  async pass(n: number): Promise<void> {
    if (this.#arrived.length < TOGETHER) {
      await new Promise<void>((go) => {
        this.#arrived.push({ n, go });
        if (this.#arrived.length === TOGETHER) go();
      });
      const place = this.#arrived.findIndex((one) => one.n === n);
      this.#arrived[place - 1]?.go();
    }
    this.ended.push(n);
  }
}

const crowds = new Map<string, Crowd>();
const executions = new Map<string, number>();

const crowd = defineTool({
  name: "crowd",
  description: "Waits for its siblings",
  inputSchema: z.object({ agent: z.string(), n: z.number() }),
  execute: async ({ agent, n }) => {
    executions.set(`${agent}/${n}`, (executions.get(`${agent}/${n}`) ?? 0) + 1);
    const others = crowds.get(agent) ?? new Crowd();
    crowds.set(agent, others);
    await others.pass(n);
    return `${agent}/${n}`;
  },
});

let stage: TestEnvironment;
let open = false;
async function begin(): Promise<void> {
  stage = await openTestEnvironment({ tools: [crowd] });
  open = true;
}
async function end(): Promise<void> {
  if (open) await stage.close();
  open = false;
}
afterAll(end);

/** Sessions with a name each, and one script for all of them: a new script would replace the last one. */
function agents(count: number): { readonly session: TestSession; readonly name: string }[] {
  const made = Array.from({ length: count }, () => {
    const session = stage.session({ agent: { tools: ["crowd", "bash"] } });
    crowds.set(session.id, new Crowd());
    return { session, name: session.id };
  });
  stage.model.script({
    conversations: made.map(({ name }, index) => ({
      match: ({ conversation }) => conversation === name,
      replies: [{ toolCalls: callsOf(name, index % EVERY_SHELL === 0) }, { text: name }],
    })),
  });
  return made;
}

function callsOf(agent: string, inShell: boolean) {
  const calls = Array.from({ length: CALLS }, (_, n) => ({ name: "crowd", arguments: { agent, n } }));
  const command = `printf %s ${agent}/${CALLS - 1}`;
  return inShell ? [...calls.slice(0, -1), { name: "bash", arguments: { command } }] : calls;
}

/** What keeps a process alive, by kind. */
function handles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Processes that run in the test environment's folder. */
function working(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === stage.home;
      } catch {
        return false;
      }
    });
}

thoroughTest(
  "a hundred agents with ten calls each: results in order, each call once, and no process is left over [TEST-07]",
  async () => {
    await begin();
    await agents(1)[0]?.session.run("Go");
    await end();
    const before = handles();
    await begin();
    executions.clear();

    const many = agents(AGENTS);
    const results = await Promise.all(many.map(({ session }) => session.run("Go")));

    expect(results.map(({ text }) => text)).toEqual(many.map(({ name }) => name));
    for (const [index, { session, name: id }] of many.entries()) {
      const expected = Array.from({ length: CALLS }, (_, n) => `${id}/${n}`);
      const [, answer, ...rest] = await session.readEntries();
      const asked = answer?.message.role === "assistant" ? answer.message.content : [];
      const told = rest.flatMap(({ message }) => (message.role === "toolResult" ? [message] : []));
      expect(told.map(({ toolCallId }) => toolCallId)).toEqual(
        asked.flatMap((part) => (part.type === "toolCall" ? [part.id] : [])),
      );
      expect(told.flatMap(({ isError, content }) => (isError ? content : []))).toEqual([]);
      expect(session.listSeenMessages(1).slice(-CALLS)).toEqual(
        expected.map((text) => expect.stringContaining(text)),
      );
      expect(session.listRequests()).toHaveLength(2);
      const ended = crowds.get(id)?.ended ?? [];
      const here = index % EVERY_SHELL === 0 ? CALLS - 1 : CALLS;
      expect([...ended].sort()).toEqual(Array.from({ length: here }, (_, n) => n));
      for (const step of await stage.transcript.readSteps(session.id)) {
        expect(step).toMatchObject({ executions: 1, storedAtMs: expect.any(Number) });
      }
    }
    expect(executions.size).toBe(AGENTS * CALLS - AGENTS / EVERY_SHELL);
    expect(new Set(executions.values())).toEqual(new Set([1]));
    // The results are in order although hardly any answer's calls ended in order.
    const inOrder = [...crowds.values()].filter(({ ended }) => ended.every((n, at) => n === at));
    expect(inOrder.length).toBeLessThan(AGENTS / 2);

    await eventually(() => working().length === 0, { what: "the end of every command" });
    await end();
    const more = () =>
      Object.entries(handles()).filter(([kind, count]) => kind !== "Timeout" && count > (before[kind] ?? 0));
    await eventually(() => more().length === 0, { what: "as few open handles as before" }).catch((error) =>
      expect(more(), String(error)).toEqual([]),
    );
  },
  PATIENCE_MS,
);

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast, TurnRequest } from "../../src/client/index.ts";
import { buildAnthropicRequest } from "../../src/models/anthropic-messages/request.ts";
import type { AgentDefinitionInput } from "../../src/schema/definition.ts";
import { updateDefinitionUpdate } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import type { TestSession } from "./support/test-session.ts";

const gates = new Gates();
let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const hold = (gate: string) => ({ toolCalls: [{ name: "hold", arguments: { gate } }] });
const other = (session: TestSession, rest: Partial<AgentDefinitionInput>): AgentDefinitionInput => ({
  ...session.definition,
  ...rest,
});
const changes = async (session: TestSession) =>
  (await session.readEvents()).flatMap(({ body }) => (body.type === "DefinitionChanged" ? [body] : []));

/** The vendor's protocol, from a rebuilt request. */
function wire({ systemPrompt, messages, tools = [], output: _, ...rest }: TurnRequest): string {
  const told = {
    ...rest,
    systemPrompt: systemPrompt.text,
    tools,
    messages: messages.map(({ message }) => message),
  };
  return JSON.stringify(buildAnthropicRequest(told));
}

describe("a running agent is updated to another definition [3.8]", () => {
  test("at its next turn: prompt, model, tools and limits; a removed tool is announced, and a call of it is an error [PER-06.4]", async () => {
    const session = stage.session({
      replies: [hold("move"), hold("move"), { text: "Done." }],
      agent: { tools: ["hold", "list_files"], limits: { maxTurns: 2 } },
    });
    await session.start("Go");
    await gates.get("move").arrived;
    const { model } = session.definition;
    const updated = await holdfast.session(session.id).update(
      other(session, {
        systemPrompt: "You are another.",
        model: { ...model, id: "other-model" },
        tools: ["list_files"],
        limits: { maxTurns: 5 },
      }),
    );
    expect(updated).toMatchObject({ takesEffect: "next-turn", dryRun: false });
    expect(updated.changes.map(({ field, description }) => `${field}: ${description}`)).toEqual([
      "systemPrompt: You are a test. → You are another.",
      "model: id test-model → other-model",
      "tools: removed hold",
      "limits: maxTurns 2 → 5",
    ]);
    expect(await holdfast.session(session.id).status()).toMatchObject({
      definitionHash: updated.from,
      pendingDefinitionHash: updated.to,
    });
    gates.get("move").open();
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    const [before, after] = session.listRequests().map(({ body }) => body);
    expect(before).toMatchObject({ model: "test-model" });
    expect(after).toMatchObject({ model: "other-model" });
    expect(JSON.stringify(after?.["system"])).toContain("You are another.");
    expect(after?.["tools"]).toMatchObject([{ name: "list_files" }]);
    expect(session.listSeenMessages(1).at(-1)).toBe(
      "user: The following tool is no longer available: hold. Do not call it again.",
    );
    expect(session.listSeenMessages(2).at(-1)).toContain("Tool hold was removed from this agent");
    const [change] = await changes(session);
    expect(change).toMatchObject({ from: updated.from, to: updated.to, applied: true });
    expect(change?.changes).toEqual(updated.changes);
    expect(change?.warnings[0]).toContain("breaks the vendor's prompt cache");
    expect((await stage.transcript.readSession(session.id))?.definitionHash).toBe(updated.to);

    const [loop] = await stage.transcript.readLoops(session.id);
    const made = await Promise.all(
      [0, 1, 2].map((turn) =>
        holdfast.session(session.id).messages.request({ loop: loop?.loopId ?? "", turn }),
      ),
    );
    expect(made.map(wire)).toEqual(session.listRequests().map(({ body }) => JSON.stringify(body)));
    expect(made.map(({ limits }) => limits.maxTurns)).toEqual([2, 5, 5]);
  });

  test("continues as before when the worker cannot use it, and the record gives the reason", async () => {
    const session = stage.session({ replies: [hold("keep"), { text: "Done." }], agent: { tools: ["hold"] } });
    await session.start("Go");
    await gates.get("keep").arrived;
    await holdfast
      .session(session.id)
      .update(other(session, { inputFilters: ["nobody"], systemPrompt: "No." }));
    gates.get("keep").open();
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    const reason = expect.stringContaining('no input filter "nobody"');
    expect(await changes(session)).toMatchObject([{ applied: false, reason }]);
    expect(JSON.stringify(session.listRequests()[1]?.body?.["system"])).toContain("You are a test.");
    const record = await stage.transcript.readSession(session.id);
    expect(record?.definitionHash).toBe((await stage.transcript.readLoops(session.id))[0]?.definitionHash);
  });

  test("is rejected with all reasons while a call of a removed tool waits, and when the policy would be removed", async () => {
    const session = stage.session({
      replies: [{ toolCalls: [{ name: "bash", arguments: { command: "true" } }] }, { text: "Done." }],
      agent: { tools: ["bash"], permissions: { otherwise: "ask" } },
    });
    await session.start("Go");
    await eventually(async () => (await session.readStatus()).approvals.length === 1);
    const { permissions: _, ...open } = session.definition;
    await expect(holdfast.session(session.id).update({ ...open, tools: [] })).rejects.toMatchObject({
      code: "update-rejected",
      facts: {
        problems: [
          expect.stringContaining("remove the permission policy"),
          expect.stringContaining("of bash waits for approval"),
        ],
      },
    });
    const { definitionHash } = await holdfast.session(session.id).status();
    const byHand = session.handle.executeUpdate(updateDefinitionUpdate, {
      args: [{ definitionHash: definitionHash ?? "", tools: [] }],
    });
    await expect(byHand).rejects.toMatchObject({ cause: { type: "holdfast/update-rejected" } });
    for (const words of [null, {}, { definitionHash: "x" }, { definitionHash, tools: "bash" }]) {
      const refused = session.handle.executeUpdate(updateDefinitionUpdate, { args: [words as never] });
      await expect(refused).rejects.toMatchObject({ cause: { type: "holdfast/update-rejected" } });
    }
    await holdfast.session(session.id).approvals.approve();
    await session.readResult();
    expect(await changes(session)).toEqual([]);
  });

  thoroughTest("at once while it waits for a prompt, and with the next run when it is idle", async () => {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
    await session.start("Go", { mode: "interactive" });
    await eventually(async () => (await session.readStatus()).status === "waiting");
    const wrong = holdfast.session(session.id).update(other(session, { inputFilters: ["nobody"] }));
    await expect(wrong).rejects.toMatchObject({ code: "update-rejected" });
    const now = await holdfast.session(session.id).update(other(session, { systemPrompt: "Second." }));
    expect(now.takesEffect).toBe("now");
    await holdfast.session(session.id).prompt("Again");
    const system = async (nth: number) =>
      JSON.stringify((await session.waitForRequest(nth)).body?.["system"]);
    expect(await system(1)).toContain("Second.");
    await eventually(async () => (await session.readStatus()).status === "waiting");
    await holdfast.session(session.id).stop();
    await session.readResult();
    const later = await holdfast.session(session.id).update(other(session, { systemPrompt: "Third." }));
    expect(later).toMatchObject({ from: now.to, takesEffect: "next-run" });
    await holdfast.session(session.id).prompt("Once more");
    await session.readResult();
    expect(await system(2)).toContain("Third.");
    const hashes = (await stage.transcript.readLoops(session.id)).map(({ definitionHash }) => definitionHash);
    expect(hashes).toEqual([now.from, now.to, later.to]);
  });

  thoroughTest(
    "from the command line: a table of when each change takes effect, and a dry run that changes nothing",
    async () => {
      const session = stage.session({
        replies: [hold("table"), { text: "Done." }],
        agent: { tools: ["hold"] },
      });
      await session.start("Go");
      await gates.get("table").arrived;
      const file = join(mkdtempSync(join(tmpdir(), "holdfast-update-")), "agent.toml");
      const { baseUrl, apiKey } = session.definition.model;
      writeFileSync(
        file,
        `[provider]
model = "test-model"
api = "anthropic"
base_url = "${baseUrl}"
api_key = "${apiKey}"
headers = { "x-conversation" = "${session.id}" }

[agent]
system_prompt = "Other."

[execution]
max_turns = 7
`,
      );
      const dry = await runCommandLine(stage, "update", session.id, "--agent", file, "--dry-run");
      expect([dry.code, dry.err]).toEqual([0, expect.any(String)]);
      expect(dry.out).toMatch(/^tools +removed hold +next turn$/m);
      expect(dry.out).toMatch(/^limits +maxTurns 50 → 7 +next turn$/m);
      expect(dry.out).toMatch(/^warning: .*prompt cache/m);
      expect(dry.out).toContain("nothing was changed");
      expect((await holdfast.session(session.id).status()).pendingDefinitionHash).toBeUndefined();
      const { code, out } = await runCommandLine(stage, "update", session.id, "--agent", file, "--json");
      expect([code, JSON.parse(out)]).toMatchObject([0, { type: "update", takesEffect: "next-turn" }]);
      expect((await holdfast.session(session.id).status()).pendingDefinitionHash).toBe(JSON.parse(out).to);
      gates.get("table").open();
      await session.readResult();
      const again = await runCommandLine(stage, "update", session.id, "--agent", file);
      expect([again.code, again.out]).toEqual([0, expect.stringContaining("already has this definition")]);
      expect((await runCommandLine(stage, "update", "nobody", "--agent", file)).code).toBe(2);
    },
  );
});

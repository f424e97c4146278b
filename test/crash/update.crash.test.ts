import { afterAll, beforeAll, expect } from "vitest";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { updateDefinitionUpdate } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import {
  type CrashEnvironment,
  expectComplete,
  openCrashEnvironment,
  waitForExecution,
} from "./support/crash-environment.ts";
import { lockAfterClaim } from "./support/transcript-lock.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

thoroughTest(
  "killed in an update to another definition: the update happens once, and the new definition's model is asked [3.8, PHI-13b]",
  async () => {
    const first = await stage.startWorker();
    let begun = 0;
    const begin = async () => {
      begun += 1;
      // A hold that was released holds nothing any more.
      const hold = `asked ${begun}`;
      const session = stage.session({
        replies: [
          { toolCalls: [{ name: "list_files", arguments: { path: "." } }], holdUntil: hold },
          { text: "Done." },
        ],
        agent: { tools: ["list_files"] },
      });
      await session.start("Go");
      await stage.model.waitForHold(hold);
      const other = AgentDefinition.parse({ ...session.definition, systemPrompt: "You are another." });
      const definitionHash = await stage.transcript.saveDefinition(other);
      await session.handle.executeUpdate(updateDefinitionUpdate, { args: [{ definitionHash }] });
      stage.model.release(hold);
      await eventually(() => session.listRequests()[0]?.outcome === "answered", { everyMs: 1 });
      return {
        session,
        definitionHash,
        unlock: lockAfterClaim(stage.home, session.id, "update-definition", false),
      };
    };
    const isStored = async (id: string) =>
      (await stage.transcript.readSteps(id)).some(
        ({ kind, storedAtMs }) => kind === "update-definition" && storedAtMs !== undefined,
      );
    // The claimed step may be stored before the lock is in place: the test then tries another run.
    let { session, definitionHash, unlock } = await begin();
    for (let tries = 1; (await isStored(session.id)) && tries < 30; tries++) {
      unlock();
      await session.readResult();
      ({ session, definitionHash, unlock } = await begin());
    }
    await first.kill("SIGKILL");
    unlock();
    await stage.startWorker();
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    await waitForExecution(stage, session, "update-definition", 2);
    const events = await session.readEvents();
    const moves = events.filter(({ body }) => body.type === "DefinitionChanged");
    expect(moves.map(({ body }) => body)).toMatchObject([{ to: definitionHash, applied: true }]);
    expect(JSON.stringify(session.listRequests()[1]?.body?.["system"])).toContain("You are another.");
    expect((await stage.transcript.readSession(session.id))?.definitionHash).toBe(definitionHash);
    await expectComplete(stage, session);
  },
);

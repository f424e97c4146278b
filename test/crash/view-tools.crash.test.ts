import { afterAll, beforeAll, expect } from "vitest";
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
  "killed in a revert: the call is answered again, and there is one branch, one event, one tag [PHI-01.2, PHI-04.1]",
  async () => {
    const first = await stage.startWorker();
    const look = { toolCalls: [{ name: "list_files", arguments: { path: "." } }] };
    const back = { category: "failure", step: "n0", summary: "nothing there" };
    const begin = async () => {
      const session = stage.session({ agent: { tools: ["list_files", "revert_to_state"] } });
      const own = ({ conversation }: { conversation: string }) => conversation === session.id;
      stage.model.script({
        conversations: [
          {
            match: (question) => own(question) && JSON.stringify(question.body).includes("Back at n0"),
            replies: [{ text: "Done." }],
          },
          { match: own, replies: [look, { toolCalls: [{ name: "revert_to_state", arguments: back }] }] },
        ],
      });
      await session.start("Go", { settings: { localSteps: false } });
      await eventually(() => session.listRequests()[1]?.outcome === "answered", { everyMs: 1 });
      return { session, unlock: lockAfterClaim(stage.home, session.id, "revert_to_state", false) };
    };
    const isStored = async (id: string) =>
      (await stage.transcript.readSteps(id)).some(
        ({ kind, storedAtMs }) => kind === "revert_to_state" && storedAtMs !== undefined,
      );
    // The claimed step may be stored before the lock is in place: the test then reverts in another run.
    let { session, unlock } = await begin();
    for (let tries = 1; (await isStored(session.id)) && tries < 30; tries++) {
      unlock();
      await session.readResult();
      ({ session, unlock } = await begin());
    }
    await first.kill("SIGKILL");
    unlock();
    await stage.startWorker();
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    await waitForExecution(stage, session, "revert_to_state", 2);
    expect(session.listSeenMessages(2)).toEqual([
      "user: Go",
      "user: [n0 is this message]",
      "user: [Back at n0 · lesson] nothing there",
    ]);
    const branches = await stage.transcript.readBranches(session.id);
    expect(branches).toHaveLength(2);
    const events = (await session.readEventTypes()).filter((type) => type === "RevertApplied");
    expect(events).toHaveLength(1);
    expect(await session.readEntries("main")).toHaveLength(5);
    expect(await session.readEntries(branches[1]?.id)).toHaveLength(3);
  },
);

thoroughTest(
  "killed in a prune: the call is answered again, and the context is pruned once, in one position [PRUN-06.1, PRUN-07.1]",
  async () => {
    const first = await stage.startWorker();
    const look = { toolCalls: [{ name: "list_files", arguments: { path: "." } }] };
    const memo = "there was nothing to see";
    const prun = { toolCalls: [{ name: "prun_with_memo", arguments: { tokens: 1, memo } }] };
    const begin = async () => {
      const session = stage.session({ agent: { tools: ["list_files", "prun"] } });
      const own = ({ conversation }: { conversation: string }) => conversation === session.id;
      stage.model.script({
        conversations: [
          {
            match: (question) => own(question) && JSON.stringify(question.body).includes(memo),
            replies: Array.from({ length: 9 }, () => ({ text: "Done." })),
          },
          { match: own, replies: [look, look, prun] },
        ],
      });
      await session.start("Go", { settings: { localSteps: false } });
      await eventually(() => session.listRequests()[2]?.outcome === "answered", { everyMs: 1 });
      return { session, unlock: lockAfterClaim(stage.home, session.id, "prun_with_memo", false) };
    };
    const isStored = async (id: string) =>
      (await stage.transcript.readSteps(id)).some(
        ({ kind, storedAtMs }) => kind === "prun_with_memo" && storedAtMs !== undefined,
      );
    // The claimed step may be stored before the lock is in place: the test then prunes in another run.
    let { session, unlock } = await begin();
    for (let tries = 1; (await isStored(session.id)) && tries < 30; tries++) {
      unlock();
      await session.readResult();
      ({ session, unlock } = await begin());
    }
    await first.kill("SIGKILL");
    unlock();
    await stage.startWorker();
    expect(await session.readResult()).toMatchObject({ text: "Done." });
    await waitForExecution(stage, session, "prun_with_memo", 2);
    const pruned = (await session.readEvents()).filter(({ body }) => body.type === "PrunApplied");
    expect(pruned).toHaveLength(1);
    const told = session.listSeenMessages(3).filter((line) => line.includes(memo));
    expect(told).toHaveLength(1);
    expect(
      session.listSeenMessages(3).filter((line) => line.includes("calls list_files")).length,
    ).toBeLessThan(2);
    await expectComplete(stage, session);
  },
);

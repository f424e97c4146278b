import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { readProcess } from "../../src/platform/process/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { startApplicationWorker } from "./support/application-worker.ts";
import { type CrashEnvironment, expectComplete, openCrashEnvironment } from "./support/crash-environment.ts";
import { startProxy } from "./support/stalling-proxy.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

const lines = (file: string): string[] => {
  try {
    return readFileSync(join(stage.home, file), "utf8").trim().split("\n");
  } catch {
    return [];
  }
};

/** A command that writes down its process and its id, and answers when it is released. */
function waitingHook(label: string): { command: string } {
  const script = `echo "$$ $HOLDFAST_HOOK_ID" >> ${label}.asked\nwhile [ ! -e ${label}.go ]; do sleep 0.05; done\n`;
  writeFileSync(join(stage.home, `${label}.sh`), script);
  return { command: `./${label}.sh` };
}

thoroughTest(
  "killed in a hook: its processes are gone, it is called again under the same id, and the run continues",
  async () => {
    const session = stage.session({
      replies: [{ text: "Fine." }],
      agent: { hooks: { "before-turn": [waitingHook("killed")] } },
    });
    const first = await stage.startWorker();
    await session.start("Go");
    await eventually(() => lines("killed.asked").length === 1);
    const [pid, id] = lines("killed.asked")[0]?.split(" ") ?? [];
    await first.kill("SIGKILL");
    await eventually(async () => (await readProcess(Number(pid))) === undefined);
    await stage.startWorker();
    await eventually(() => lines("killed.asked").length === 2);
    stage.release("killed");
    expect(await session.readResult()).toMatchObject({ text: "Fine." });
    expect(lines("killed.asked")[1]?.split(" ")[1]).toBe(id);
    await expectComplete(stage, session);
  },
);

thoroughTest(
  "killed after a hook's answer was stored and before Temporal knows: it is not called again",
  async () => {
    const proxy = await startProxy(stage.address);
    const session = stage.session({
      replies: [{ text: "Fine." }],
      agent: { hooks: { "before-turn": [waitingHook("stored")] } },
    });
    const first = await stage.startWorker({ address: proxy.address });
    await session.start("Go");
    await eventually(() => lines("stored.asked").length === 1);
    proxy.stall();
    stage.release("stored");
    await eventually(async () =>
      (await stage.transcript.readSteps(session.id)).some(
        ({ kind, storedAtMs }) => kind === "run-hook" && storedAtMs,
      ),
    );
    await first.kill("SIGKILL");
    await proxy.close();
    await stage.startWorker();
    expect(await session.readResult()).toMatchObject({ text: "Fine." });
    expect(lines("stored.asked")).toHaveLength(1);
    await expectComplete(stage, session);
  },
);

thoroughTest.each(["before-turn", "after-turn"] as const)(
  "killed in an application's function at %s: it is called again under the same id, and the run continues",
  async (point) => {
    const session = stage.session({
      replies: [{ text: "Fine." }],
      agent: { hooks: { [point]: ["waits"] } },
    });
    const first = await startApplicationWorker(stage);
    await session.start("Go");
    await stage.waitForStart(point);
    first.kill("SIGKILL");
    await once(first, "exit");
    await startApplicationWorker(stage);
    await eventually(() => stage.countRuns(point) === 2);
    stage.release(point);
    expect(await session.readResult()).toMatchObject({ text: "Fine." });
    const ids = lines(`${point}.runs`);
    expect(ids).toEqual([ids[0], ids[0]]);
    expect(session.listRequests()).toHaveLength(1);
    expect(await session.readConversation()).toEqual(["user: Go", "assistant: Fine."]);
    await expectComplete(stage, session);
  },
);

import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { type CrashEnvironment, expectComplete, openCrashEnvironment } from "./support/crash-environment.ts";
import { startProxy } from "./support/stalling-proxy.ts";

let stage: CrashEnvironment;

beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

const final = (value: object, more: object = {}) => ({
  toolCalls: [{ name: "final_answer", arguments: value }],
  ...more,
});
const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };

thoroughTest(
  "killed between an answer that does not fit and its repair: repaired once, paid once [SO-01.3]",
  async () => {
    const proxy = await startProxy(stage.address);
    const session = stage.session({
      replies: [final({ a: "one" }, { holdUntil: "unfit" }), final({ a: 1 }, { holdUntil: "repair" })],
      agent: { output: { type: "json-schema", schema } },
    });
    const first = await stage.startWorker({ address: proxy.address });
    await session.start("Go");
    await stage.model.waitForHold("unfit");
    proxy.stall();
    stage.model.release("unfit");
    await eventually(async () =>
      (await stage.transcript.readSteps(session.id)).some(
        ({ kind, storedAtMs }) => kind === "call-model" && storedAtMs,
      ),
    );
    await first.kill("SIGKILL");
    await proxy.close();
    const second = await stage.startWorker();
    await stage.model.waitForHold("repair");
    await second.kill("SIGKILL");
    await stage.startWorker();
    await session.waitForRequest(2);
    stage.model.release("repair");
    expect(await session.readResult()).toMatchObject({ text: '{"a":1}', json: "complete", position: 3 });
    expect(session.listRequests().map(({ outcome }) => outcome)).toEqual([
      "answered",
      "aborted-by-client",
      "answered",
    ]);
    expect(await session.readConversation()).toEqual([
      "user: Go",
      "assistant: ",
      'toolResult: Not accepted: a: found the text "one", expected a number',
      "assistant: ",
      "toolResult: Accepted.",
    ]);
    await expectComplete(stage, session);
  },
);

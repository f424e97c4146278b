import pino from "pino";
import { expect, test } from "vitest";
import { runAllHooks } from "../../src/activities/hooks/run-hook.ts";
import { local } from "../../src/config/vendor-models.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import { HookRegistry } from "../../src/hooks/hook-registry.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { AgentMessage, AssistantMessage } from "../../src/schema/message.ts";
import { SandboxSettings } from "../../src/schema/sandbox.ts";
import { Sandboxes } from "../../src/tools/sandbox/sandboxes.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";

const failed: AssistantMessage = {
  role: "assistant",
  content: [],
  stopReason: "error",
  model: "m",
  provider: "local",
  usage: NO_USAGE,
  timestamp: 0,
};

/** The text that a hook on errors receives about this answer. */
async function readReceivedError(answer: AgentMessage): Promise<string | undefined> {
  let received: string | undefined;
  const hooks = new HookRegistry().register("witness", {
    "on-error": ({ error }) => {
      received = error;
    },
  });
  await runAllHooks(
    { question: { point: "on-error", position: 1 }, loopId: "s.a.1", turn: 0, branch: "main" },
    { session: "s", run: "r", number: 1 },
    {
      definition: AgentDefinition.parse({
        model: local("http://127.0.0.1:1", "m"),
        hooks: { "on-error": ["witness"] },
      }),
      dependencies: {
        sandboxes,
        hooks,
        tools: new ToolRegistry(),
        log: pino({ enabled: false }),
        conversations: { readMessage: async () => answer, readMessages: async () => [] },
      } as never,
      signal: new AbortController().signal,
    },
  );
  return received;
}

const sandboxes = new Sandboxes({
  fallback: SandboxSettings.parse({ mode: "off" }),
  holdfastHome: "/nowhere",
  environment: {},
});

test("a hook on errors receives the error of the answer, or a text of its own [LOOP-16.1]", async () => {
  expect(await readReceivedError({ ...failed, errorMessage: "no such key" })).toBe("no such key");
  expect(await readReceivedError(failed)).toBe("Unknown error");
});

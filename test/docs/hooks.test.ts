import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HookRegistry } from "../../src/hooks/hook-registry.ts";
import { startWithoutSandbox } from "../../src/platform/process/process-starter.ts";
import { HOOK_POINTS, Hooks } from "../../src/schema/hooks.ts";
import type { HoldfastWorkerOptions } from "../../src/worker.ts";
import { BEFORE_TOOL, createWorkspace } from "../hooks/hook-script.ts";

const page = readFileSync(new URL("../../docs/hooks.md", import.meta.url), "utf8");
const block = (language: string) =>
  new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? "";
const { hooks: named } = JSON.parse(block("json")) as { hooks: unknown };

/** The page's own code, without the worker that it starts. */
async function registered(): Promise<HookRegistry> {
  const code = block("js").replace(/^import .*$/m, "const createWorker = undefined;");
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const registry = new HookRegistry();
  const { hooks } = module as { hooks: NonNullable<HoldfastWorkerOptions["hooks"]> };
  for (const [name, { policy, ...functions }] of Object.entries(hooks)) {
    registry.register(name, functions, policy);
  }
  return registry;
}

const options = (workspace: string) => ({
  start: startWithoutSandbox,
  signal: new AbortController().signal,
  workspace,
});
const turn = { id: "i", sessionId: "s", loopId: "s.l.1" };

test("the application's hook of docs/hooks.md answers as the page states [CB-11, IRON-04.1-2]", async () => {
  const registry = await registered();
  const hooks = Hooks.parse(named);
  const beforeTurn = async (turnIndex: number) =>
    (
      await registry.run(
        hooks["before-turn"] ?? [],
        "before-turn",
        { ...turn, turnIndex, messages: [] },
        options("/"),
      )
    ).decision;
  expect(await beforeTurn(0)).toEqual({ type: "yes" });
  expect(await beforeTurn(15)).toEqual({ type: "yes", notices: ["Five turns are left. Finish your work."] });
  expect(await beforeTurn(20)).toEqual({ type: "end", hook: "budget", text: "twenty turns are enough" });
  const beforeTool = async (command: string) =>
    (
      await registry.run(
        hooks["before-tool"] ?? [],
        "before-tool",
        { ...BEFORE_TOOL, arguments: { command } },
        options("/"),
      )
    ).decision.type;
  expect([await beforeTool("ls"), await beforeTool("git push origin")]).toEqual(["yes", "no"]);
});

test("the command of docs/hooks.md lets an agent end when its tests pass, and otherwise continues it [CB-08.1, IRON-07.1-2]", async () => {
  const hooks = Hooks.parse(named);
  const endsIn = async (files: Record<string, string>) => {
    const workspace = await createWorkspace({ "tests-pass.sh": block("sh"), ...files });
    const uses = (hooks["on-text"] ?? []).map((use) => ({ ...(use as object), command: "./tests-pass.sh" }));
    const told = { ...turn, turnIndex: 0, text: "Done." };
    return (await new HookRegistry().run(uses, "on-text", told, options(workspace))).decision;
  };
  const packageOf = (script: string) => ({ "package.json": JSON.stringify({ scripts: { test: script } }) });
  expect(await endsIn({})).toEqual({ type: "yes" });
  expect(await endsIn(packageOf("true"))).toEqual({ type: "yes" });
  expect(await endsIn(packageOf("false"))).toMatchObject({
    type: "continue",
    text: "The tests fail: run npm test, and fix what it reports.",
  });
});

test("the page's table lists every hook point", () => {
  for (const point of HOOK_POINTS) expect(page).toContain(`| \`${point}\``);
});

import { expect, test } from "vitest";
import { type ChatEvent, type ChatPhase, chatStep } from "../../src/apps/cli/chat-lines.ts";

function line(text: string): ChatEvent {
  return { type: "line", text };
}

test("at rest a line is a prompt; during a run it steers; /f waits for the end", () => {
  expect(chatStep("idle", line(" hello "))).toEqual({
    phase: "running",
    action: { type: "prompt", text: "hello" },
  });
  expect(chatStep("running", line("faster"))).toEqual({
    phase: "running",
    action: { type: "steer", text: "faster" },
  });
  for (const command of ["/f", "/follow"]) {
    expect(chatStep("running", line(`${command} then  commit`))).toEqual({
      phase: "running",
      action: { type: "follow-up", text: "then  commit" },
    });
  }
});

test("a follow-up at rest is a prompt: there is nothing to wait for", () => {
  expect(chatStep("idle", line("/f go"))).toEqual({
    phase: "running",
    action: { type: "prompt", text: "go" },
  });
});

test("a follow-up without words is sent nowhere", () => {
  expect(chatStep("running", line("/f")).action).toMatchObject({ type: "tell" });
});

test("an empty line does nothing, in every phase", () => {
  for (const phase of ["idle", "running", "stopping"] as const)
    expect(chatStep(phase, line("  "))).toEqual({ phase });
});

test("Ctrl-C stops the run, a second one leaves; at rest the first leaves", () => {
  const first = chatStep("running", { type: "interrupt" });
  expect(first).toEqual({ phase: "stopping", action: { type: "stop" } });
  expect(chatStep(first.phase, { type: "interrupt" }).action).toEqual({ type: "leave" });
  expect(chatStep("idle", { type: "interrupt" }).action).toEqual({ type: "leave" });
});

test("/stop stops once, and says so when there is nothing to stop", () => {
  expect(chatStep("running", line("/stop"))).toEqual({ phase: "stopping", action: { type: "stop" } });
  expect(chatStep("stopping", line("/stop")).action).toMatchObject({ type: "tell" });
  expect(chatStep("idle", line("/stop")).action).toMatchObject({ type: "tell" });
});

test("while the run stops, words are not sent: they would end in the inbox unseen", () => {
  expect(chatStep("stopping", line("hello"))).toMatchObject({ phase: "stopping", action: { type: "tell" } });
});

test.each<[string, string]>([
  ["/status", "status"],
  ["/help", "help"],
  ["/approvals", "approvals"],
  ["/quit", "leave"],
  ["/exit", "leave"],
])("%s", (text, type) => {
  expect(chatStep("idle", line(text)).action?.type).toBe(type);
  expect(chatStep("running", line(text)).action?.type).toBe(type);
});

test("a mistyped command is not sent to the model, and the nearest is named", () => {
  const { phase, action } = chatStep("running", line("/stauts"));
  expect(phase).toBe("running");
  expect(action).toEqual({ type: "tell", text: expect.stringContaining("/status") });
});

test("a message that begins with a slash can be said: doubled, or when it is a path", () => {
  expect(chatStep("idle", line("//quit is a word")).action).toEqual({
    type: "prompt",
    text: "/quit is a word",
  });
  expect(chatStep("idle", line("/etc/hosts")).action).toEqual({ type: "prompt", text: "/etc/hosts" });
});

test("the phase follows the loops; a run that stops keeps stopping until it has ended", () => {
  const steps: [ChatPhase, ChatEvent["type"], ChatPhase][] = [
    ["idle", "began", "running"],
    ["running", "ended", "idle"],
    ["stopping", "began", "stopping"],
    ["stopping", "ended", "idle"],
  ];
  for (const [before, type, after] of steps) {
    expect(chatStep(before, { type } as ChatEvent).phase).toBe(after);
  }
});

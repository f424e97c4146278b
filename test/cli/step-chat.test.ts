import { expect, test } from "vitest";
import { type ChatEvent, type ChatPhase, stepChat } from "../../src/apps/cli/step-chat.ts";

function line(text: string): ChatEvent {
  return { type: "line", text };
}

test("when idle a line is a prompt; during a run it steers; /f queues it for the end", () => {
  expect(stepChat("idle", line(" hello "))).toEqual({
    phase: "running",
    action: { type: "prompt", text: "hello" },
  });
  expect(stepChat("running", line("faster"))).toEqual({
    phase: "running",
    action: { type: "steer", text: "faster" },
  });
  expect(stepChat("running", line("/steer now")).action).toEqual({ type: "steer", text: "now" });
  for (const command of ["/f", "/follow", "/follow-up"]) {
    expect(stepChat("running", line(`${command} then  commit`))).toEqual({
      phase: "running",
      action: { type: "follow-up", text: "then  commit" },
    });
  }
});

test("a follow-up when idle is a prompt: there is no run to wait for", () => {
  expect(stepChat("idle", line("/f go"))).toEqual({
    phase: "running",
    action: { type: "prompt", text: "go" },
  });
});

test("a follow-up without text is not sent", () => {
  expect(stepChat("running", line("/f")).action).toMatchObject({ type: "tell" });
});

test("/compact takes what matters most", () => {
  expect(stepChat("idle", line("/compact the API"))).toEqual({
    phase: "idle",
    action: { type: "compact", focus: "the API" },
  });
});

test("a message can have several lines, and a path at its beginning", () => {
  const text = "/etc/hosts has\n  two lines";
  expect(stepChat("idle", line(text)).action).toEqual({ type: "prompt", text });
});

test("an empty line does nothing, in every phase", () => {
  for (const phase of ["idle", "running", "stopping"] as const)
    expect(stepChat(phase, line("  "))).toEqual({ phase });
});

test("Ctrl-C stops the run, a second one exits; when idle the first exits", () => {
  const first = stepChat("running", { type: "interrupt" });
  expect(first).toEqual({ phase: "stopping", action: { type: "stop" } });
  expect(stepChat(first.phase, { type: "interrupt" }).action).toEqual({ type: "leave" });
  expect(stepChat("idle", { type: "interrupt" }).action).toEqual({ type: "leave" });
});

test("/stop stops once, and says so when there is nothing to stop", () => {
  expect(stepChat("running", line("/stop"))).toEqual({ phase: "stopping", action: { type: "stop" } });
  expect(stepChat("stopping", line("/stop")).action).toMatchObject({ type: "tell" });
  expect(stepChat("idle", line("/stop")).action).toMatchObject({ type: "tell" });
});

test("while the run stops, messages are not sent: they would end in the inbox unread", () => {
  expect(stepChat("stopping", line("hello"))).toMatchObject({ phase: "stopping", action: { type: "tell" } });
});

test.each<[string, string]>([
  ["/status", "status"],
  ["/help", "help"],
  ["/approvals", "approvals"],
  ["/model", "model"],
  ["/compact", "compact"],
  ["/quit", "leave"],
  ["/exit", "leave"],
])("%s", (text, type) => {
  expect(stepChat("idle", line(text)).action?.type).toBe(type);
  expect(stepChat("running", line(text)).action?.type).toBe(type);
});

test("a mistyped command is not sent to the model, and the nearest one is named", () => {
  const { phase, action } = stepChat("running", line("/stauts"));
  expect(phase).toBe("running");
  expect(action).toEqual({ type: "tell", text: expect.stringContaining("/status") });
});

test("a message can begin with a slash: doubled, or when it is a path", () => {
  expect(stepChat("idle", line("//quit is a word")).action).toEqual({
    type: "prompt",
    text: "/quit is a word",
  });
  expect(stepChat("idle", line("/etc/hosts")).action).toEqual({ type: "prompt", text: "/etc/hosts" });
});

test("the phase follows the loops; a run that stops stays in that phase until it has ended", () => {
  const steps: [ChatPhase, ChatEvent["type"], ChatPhase][] = [
    ["idle", "began", "running"],
    ["running", "ended", "idle"],
    ["stopping", "began", "stopping"],
    ["stopping", "ended", "idle"],
  ];
  for (const [before, type, after] of steps) {
    expect(stepChat(before, { type } as ChatEvent).phase).toBe(after);
  }
});

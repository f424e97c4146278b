import {
  CancellationScope,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
} from "@temporalio/workflow";
import type { AgentDefinitionInput } from "../../../src/schema/definition.ts";
import { type AgentResult, executeAgent, getAgentHandle, startAgent } from "../../../src/workflows/api.ts";

// The workflows of an application whose worker also runs agents.

const { greet, failPlainly, absent } = proxyActivities<{
  greet(name: string): Promise<string>;
  failPlainly(): Promise<void>;
  absent(): Promise<void>;
}>({ startToCloseTimeout: "10 seconds", retry: { maximumAttempts: 1 } });

/** Parts of a text that the workflow joins, so that no argument contains the text. */
export const SECRET_PARTS = ["PROMPT", "OF", "THE", "WORKFLOW"] as const;
export const LONG_WORDS = 20_000;

type Triage = { readonly severity: "low" | "high" };

/** Runs an agent between activities of its own, and uses its typed output. */
export async function triage(agent: string | AgentDefinitionInput): Promise<string> {
  const greeting = await greet("world");
  const result = await executeAgent<Triage>({ agent, prompt: SECRET_PARTS.join("-") });
  return `${greeting}: ${result.output?.severity} in ${result.session}`;
}

/** Starts an agent with a long prompt, sends it messages in order, and returns its result. */
export async function converse(agent: string): Promise<AgentResult> {
  const handle = await startAgent({
    agent,
    prompt: `${SECRET_PARTS.join("-")} ${"long ".repeat(LONG_WORDS)}`,
  });
  const sent = [
    handle.steer("STEER-1"),
    handle.steer("STEER-2"),
    getAgentHandle(handle.session).followUp("FOLLOW-1"),
  ];
  await Promise.all(sent);
  await signalMessagesSent();
  return await handle.result();
}

/** Reports to the test that all messages were accepted by the server. */
async function signalMessagesSent(): Promise<void> {
  await proxyActivities<{ report(): Promise<void> }>({ startToCloseTimeout: "10 seconds" }).report();
}

export const stopAgent = defineSignal("stopAgent");

/** Stops its agent on a signal, and returns the outcome. */
export async function stopOnSignal(agent: string): Promise<AgentResult> {
  const handle = await startAgent({ agent, prompt: "Wait" });
  setHandler(stopAgent, () => handle.stop("the application has seen enough"));
  return await handle.result();
}

/** Reports what its own code sees when it is cancelled. */
export async function cancellable(agent: string): Promise<string> {
  try {
    return (await executeAgent({ agent, prompt: "Wait" })).outcome.type;
  } catch (error) {
    return await CancellationScope.nonCancellable(async () =>
      isCancellation(error) ? "cancelled" : "failed",
    );
  }
}

/** Returns the failed result as a value, and lets a run that fails fail this workflow. */
export async function failing(agent: string, how: "try" | "throw"): Promise<string> {
  const handle = await startAgent({ agent, prompt: "Hello" });
  const result = how === "try" ? await handle.tryResult() : await handle.result();
  return result.outcome.type === "failed" ? result.outcome.fault : result.outcome.type;
}

export async function callAbsent(): Promise<void> {
  await absent();
}

export async function callFailing(): Promise<void> {
  await failPlainly();
}

import type { Reply } from "../../../src/testing/model-server/reply.ts";
import type { ScriptedConversation } from "../../../src/testing/model-server/script.ts";
import type { TestAgentOptions } from "../../../src/testing/test-agent.ts";
import type { TestEnvironment } from "./test-environment.ts";
import type { TestSession } from "./test-session.ts";

let jobs = 0;

export function createJobName(stage: TestEnvironment): string {
  jobs += 1;
  return `job${jobs}-${stage.taskQueue}`;
}

type MemberSpec = {
  readonly replies: readonly Reply[];
  readonly faults?: ScriptedConversation["faults"];
} & TestAgentOptions;

/** The agents of a job, with the answers of each; the requests of each are counted separately. */
export function createMembers<Names extends string>(
  stage: TestEnvironment,
  members: Readonly<Record<Names, MemberSpec>>,
): Readonly<Record<Names, TestSession>> {
  const parts = (Object.entries(members) as [Names, MemberSpec][]).map(
    ([name, { replies, faults, ...agent }]) => {
      return { name, says: replies, faults, session: stage.session({ agent: { name, ...agent } }) };
    },
  );
  stage.model.script({
    conversations: parts.map(({ says, faults, session: { id } }) => ({
      match: ({ conversation }: { readonly conversation: string }) => conversation === id,
      replies: [...says],
      ...(faults === undefined ? {} : { faults }),
    })),
  });
  return Object.fromEntries(parts.map(({ name, session }) => [name, session])) as Record<Names, TestSession>;
}

/** The conversation of a session below a job: `role: text`, message by message. */
export async function readConversation(stage: TestEnvironment, session: string): Promise<readonly string[]> {
  const entries = await stage.transcript.readEntries(session, "main", 0, 1_000);
  return entries.map(({ message }) =>
    message.role === "extension"
      ? "extension"
      : `${message.role}: ${message.content.map((part) => (part.type === "text" ? part.text : "")).join("")}`,
  );
}

/** The whole history of a workflow as text. */
export async function readHistoryText(stage: TestEnvironment, id: string): Promise<string> {
  const history = await stage.client.workflow.getHandle(id).fetchHistory();
  return JSON.stringify(history, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
}

import type { SessionRecord } from "../../../src/store/transcript/session.ts";
import type { Reply } from "../../../src/testing/model-server/reply.ts";
import type { TestAgentOptions } from "../../../src/testing/test-agent.ts";
import { eventually } from "../../support/eventually.ts";
import type { TestEnvironment } from "./test-environment.ts";
import type { TestSession } from "./test-session.ts";

type Replies = readonly Reply[];

/** An agent with sub-agents: the answers of each, by name. */
export function createAgentTree(
  stage: TestEnvironment,
  replies: Replies,
  children: Readonly<Record<string, Replies>>,
  agent: TestAgentOptions = {},
  member: TestAgentOptions = { tools: ["list_files"] },
): TestSession {
  const members = Object.entries(children).map(([name, childReplies]) => ({
    name,
    said: childReplies,
    child: stage.session({ agent: member }),
  }));
  const subAgents = members.map(({ name, child }) => ({
    name,
    description: `Does what ${name} does`,
    agent: child.definition,
  }));
  const parent = stage.session({ agent: { subAgents, ...agent } });
  const createReplies = (id: string, childReplies: Replies) => ({
    match: ({ conversation }: { readonly conversation: string }) => conversation === id,
    replies: [...childReplies],
  });
  stage.model.script({
    conversations: [
      createReplies(parent.id, replies),
      ...members.map(({ child, said: childReplies }) => createReplies(child.id, childReplies)),
    ],
  });
  return parent;
}

/** A call that delegates a task. */
export const createTaskCall = (name: string, text: string) => ({ name, arguments: { task: text } });

/** All sub-agents that a session has started. */
export async function listChildSessions(
  stage: TestEnvironment,
  { id }: Pick<TestSession, "id">,
): Promise<readonly SessionRecord[]> {
  return await stage.transcript.findSessions({ limit: 1000, spawnedBy: id });
}

/** The first sub-agent that a session has started. */
export async function findChildSession(stage: TestEnvironment, session: TestSession): Promise<SessionRecord> {
  return await eventually(
    async () => (await stage.transcript.findSessions({ limit: 9, spawnedBy: session.id }))[0],
  );
}

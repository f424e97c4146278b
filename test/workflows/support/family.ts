import type { SessionRecord } from "../../../src/store/transcript/session.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import type { Reply } from "../../../src/testing/model-server/reply.ts";
import type { TestAgentOptions } from "../../../src/testing/test-agent.ts";
import type { Session } from "./session.ts";
import type { Stage } from "./temporal.ts";

type Replies = readonly Reply[];

/** An agent with sub-agents: what each says, by name. */
export function family(
  stage: Stage,
  replies: Replies,
  children: Readonly<Record<string, Replies>>,
  agent: TestAgentOptions = {},
  member: TestAgentOptions = { tools: ["list_files"] },
): Session {
  const members = Object.entries(children).map(([name, said]) => ({
    name,
    said,
    child: stage.session({ agent: member }),
  }));
  const subAgents = members.map(({ name, child }) => ({
    name,
    description: `Does what ${name} does`,
    agent: child.definition,
  }));
  const parent = stage.session({ agent: { subAgents, ...agent } });
  const says = (id: string, said: Replies) => ({
    match: ({ conversation }: { readonly conversation: string }) => conversation === id,
    replies: [...said],
  });
  stage.model.script({
    conversations: [says(parent.id, replies), ...members.map(({ child, said }) => says(child.id, said))],
  });
  return parent;
}

/** A call that hands a task on. */
export const task = (name: string, words: string) => ({ name, arguments: { task: words } });

/** All sub-agents that a session has started. */
export async function childSessions(
  stage: Stage,
  { id }: Pick<Session, "id">,
): Promise<readonly SessionRecord[]> {
  return await stage.transcript.sessions({ limit: 1000, spawnedBy: id });
}

/** The first sub-agent that a session has started. */
export async function childOf(stage: Stage, session: Session): Promise<SessionRecord> {
  return await eventually(
    async () => (await stage.transcript.sessions({ limit: 9, spawnedBy: session.id }))[0],
  );
}

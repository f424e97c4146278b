import type { AgentDefinition } from "../../schema/definition.ts";
import type { SessionDefinition } from "../write.ts";
import { canonicalJson, hashOf } from "./canonical.ts";
import type { Sql } from "./sql.ts";

export function saveDefinition(sql: Sql, definition: AgentDefinition): string {
  const body = canonicalJson(definition);
  const hash = hashOf(body);
  sql.run("INSERT INTO definitions (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, body);
  return hash;
}

export function definitionOf(sql: Sql, hash: string): AgentDefinition | undefined {
  const row = sql.get<{ body: string }>("SELECT body FROM definitions WHERE hash = ?", hash);
  return row === undefined ? undefined : (JSON.parse(row.body) as AgentDefinition);
}

/** What the next run of a session goes on with. */
export function setDefinition(
  sql: Sql,
  session: string,
  { definitionHash, agentName, model }: SessionDefinition,
): void {
  sql.run(
    "UPDATE sessions SET definition_hash = ?, agent_name = ?, model = ? WHERE id = ?",
    definitionHash,
    agentName,
    model,
    session,
  );
}

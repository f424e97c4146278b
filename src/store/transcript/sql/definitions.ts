import { formatCanonicalJson } from "../../../platform/text/canonical-json.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import type { SessionDefinition } from "../store-write.ts";
import { decryptColumn } from "./column-encryption.ts";
import { checkHash } from "./contents.ts";
import { buildAssociatedData, markForEncryption } from "./encrypted-columns.ts";
import { hashText } from "./hash-text.ts";
import { exec, get, type Work } from "./statement.ts";

/** @testonly */
export function* saveDefinition(definition: AgentDefinition): Work<string> {
  const body = formatCanonicalJson(definition);
  const hash = hashText(body);
  yield* exec(
    "INSERT INTO definitions (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING",
    hash,
    markForEncryption(body, "definitions.body", hash),
  );
  return hash;
}

/** Saves a definition that a local user has provided. It needs no acceptance, even if an import contained it before. */
export function* saveAcceptedDefinition(definition: AgentDefinition): Work<string> {
  const hash = yield* saveDefinition(definition);
  if (!(yield* isAccepted(hash))) yield* acceptDefinition(hash);
  return hash;
}

/** Saves a definition of an import. A new one must be accepted before use. */
export function* saveImportedDefinition(definition: AgentDefinition, atMs: number): Work<void> {
  const existing = yield* get(
    "SELECT 1 AS there FROM definitions WHERE hash = ?",
    hashText(formatCanonicalJson(definition)),
  );
  const hash = yield* saveDefinition(definition);
  if (existing !== undefined) return;
  yield* exec(
    "INSERT INTO unaccepted_definitions (hash, imported_at_ms) VALUES (?, ?) ON CONFLICT DO NOTHING",
    hash,
    atMs,
  );
}

export function* isAccepted(hash: string): Work<boolean> {
  return (yield* get("SELECT 1 AS there FROM unaccepted_definitions WHERE hash = ?", hash)) === undefined;
}

export function* acceptDefinition(hash: string): Work<void> {
  yield* exec("DELETE FROM unaccepted_definitions WHERE hash = ?", hash);
}

export function* readDefinition(hash: string): Work<AgentDefinition | undefined> {
  const row = yield* get<{ body: string }>("SELECT body FROM definitions WHERE hash = ?", hash);
  if (row === undefined) return undefined;
  const body = decryptColumn(row, "body", buildAssociatedData("definitions.body", [hash]));
  return JSON.parse(checkHash(body, hash, "definition")) as AgentDefinition;
}

/** Sets the definition of a session's next runs. */
export function* setDefinition(
  session: string,
  { definitionHash, agentName, model }: SessionDefinition,
): Work<void> {
  yield* exec(
    "UPDATE sessions SET definition_hash = ?, agent_name = ?, model = ? WHERE id = ?",
    definitionHash,
    agentName,
    model,
    session,
  );
}

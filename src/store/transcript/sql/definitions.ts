import type { AgentDefinition } from "../../../schema/definition.ts";
import type { SessionDefinition } from "../write.ts";
import { canonicalJson, hashOf } from "./canonical.ts";
import { sound } from "./contents.ts";
import { placeOf, secret } from "./private.ts";
import { exec, get, type Work } from "./statement.ts";
import { wordsIn } from "./vault.ts";

/** @testonly */
export function* saveDefinition(definition: AgentDefinition): Work<string> {
  const body = canonicalJson(definition);
  const hash = hashOf(body);
  yield* exec(
    "INSERT INTO definitions (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING",
    hash,
    secret(body, "definitions.body", hash),
  );
  return hash;
}

/** A definition that somebody here has given: it needs no acceptance, wherever it was seen before. */
export function* giveDefinition(definition: AgentDefinition): Work<string> {
  const hash = yield* saveDefinition(definition);
  if (!(yield* isAccepted(hash))) yield* acceptDefinition(hash);
  return hash;
}

/** A definition of an import: one that was not here before waits to be accepted. */
export function* bringDefinition(definition: AgentDefinition, atMs: number): Work<void> {
  const known = yield* get(
    "SELECT 1 AS there FROM definitions WHERE hash = ?",
    hashOf(canonicalJson(definition)),
  );
  const hash = yield* saveDefinition(definition);
  if (known !== undefined) return;
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

export function* definitionOf(hash: string): Work<AgentDefinition | undefined> {
  const row = yield* get<{ body: string }>("SELECT body FROM definitions WHERE hash = ?", hash);
  if (row === undefined) return undefined;
  const body = wordsIn(row, "body", placeOf("definitions.body", [hash]));
  return JSON.parse(sound(body, hash, "definition")) as AgentDefinition;
}

/** What the next run of a session goes on with. */
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

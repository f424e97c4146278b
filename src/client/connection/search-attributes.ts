import type { Connection } from "@temporalio/client";
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from "../../schema/search-attributes.ts";

/** The numbers of `temporal.api.enums.v1.IndexedValueType`, part of the wire protocol. */
const INDEXED_VALUE_TYPE = {
  Keyword: 2,
  Int: 3,
  Double: 4,
} as const satisfies Record<(typeof SEARCH_ATTRIBUTES)[SearchAttributeName], number>;

/** gRPC status: another client registered the same attribute between the check and the call. */
const ALREADY_EXISTS = 6;

/** A registered attribute with another type makes a run fail as surely as a missing one. */
export interface SearchAttributeGaps {
  readonly missing: readonly SearchAttributeName[];
  readonly wrongType: readonly SearchAttributeName[];
}

/** Compares the attributes of a namespace with those that runs of Holdfast write. */
export async function findSearchAttributeGaps(
  connection: Pick<Connection, "operatorService">,
  namespace: string,
): Promise<SearchAttributeGaps> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing: SearchAttributeName[] = [];
  const wrongType: SearchAttributeName[] = [];
  for (const [name, type] of listAttributes()) {
    const registered = customAttributes?.[name];
    if (registered === undefined || registered === null) missing.push(name);
    else if (Number(registered) !== INDEXED_VALUE_TYPE[type]) wrongType.push(name);
  }
  return { missing, wrongType };
}

export async function findMissingSearchAttributes(
  connection: Pick<Connection, "operatorService">,
  namespace: string,
): Promise<readonly SearchAttributeName[]> {
  return (await findSearchAttributeGaps(connection, namespace)).missing;
}

/**
 * Registers the missing attributes; safe to repeat and to run concurrently.
 *
 * @returns The names that were registered.
 */
export async function registerSearchAttributes(
  connection: Pick<Connection, "operatorService">,
  namespace: string,
): Promise<readonly SearchAttributeName[]> {
  const missing = await findMissingSearchAttributes(connection, namespace);
  if (missing.length === 0) return [];
  const searchAttributes = Object.fromEntries(
    missing.map((name) => [name, INDEXED_VALUE_TYPE[SEARCH_ATTRIBUTES[name]]]),
  );
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    if ((error as { code?: unknown }).code !== ALREADY_EXISTS) throw error;
    const left = await findMissingSearchAttributes(connection, namespace);
    if (left.length > 0) throw error;
  }
  return missing;
}

function listAttributes(): readonly [SearchAttributeName, (typeof SEARCH_ATTRIBUTES)[SearchAttributeName]][] {
  return Object.entries(SEARCH_ATTRIBUTES) as [
    SearchAttributeName,
    (typeof SEARCH_ATTRIBUTES)[SearchAttributeName],
  ][];
}

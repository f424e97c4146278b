import type { Connection } from "@temporalio/client";
import { findSearchAttributeGaps, INDEXED_VALUE_TYPE } from "../../config/search-attribute-gaps.ts";
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from "../../schema/search-attributes.ts";

/** gRPC status: another client registered the same attribute between the check and the call. */
const ALREADY_EXISTS = 6;

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

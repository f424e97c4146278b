import { SEARCH_ATTRIBUTES, type SearchAttributeName } from "../schema/search-attributes.ts";

/** The numbers of `temporal.api.enums.v1.IndexedValueType`, part of the wire protocol. */
export const INDEXED_VALUE_TYPE = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
} as const satisfies Record<(typeof SEARCH_ATTRIBUTES)[SearchAttributeName], number>;

/** A registered attribute with another type makes a run fail as surely as a missing one. */
export interface SearchAttributeGaps {
  /** Attributes that the namespace does not have. */
  readonly missing: readonly SearchAttributeName[];
  /** Attributes that the namespace has with another type. */
  readonly wrongType: readonly SearchAttributeName[];
}

/** The call of Temporal's service that lists a namespace's attributes; connections of clients and workers provide it. */
export type AttributeService = {
  readonly operatorService: {
    listSearchAttributes(request: { namespace: string }): Promise<{
      readonly customAttributes?: Readonly<Record<string, unknown>> | null;
    }>;
  };
};

/** Compares the attributes of a namespace with those that runs of Holdfast write. */
export async function findSearchAttributeGaps(
  connection: AttributeService,
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

function listAttributes(): readonly [SearchAttributeName, (typeof SEARCH_ATTRIBUTES)[SearchAttributeName]][] {
  return Object.entries(SEARCH_ATTRIBUTES) as [
    SearchAttributeName,
    (typeof SEARCH_ATTRIBUTES)[SearchAttributeName],
  ][];
}

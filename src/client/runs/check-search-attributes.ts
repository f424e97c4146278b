import { SEARCH_ATTRIBUTES, type SearchAttributeName } from "../../schema/search-attributes.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { findSearchAttributeGaps, type SearchAttributeGaps } from "../connection/search-attributes.ts";
import { getErrorMessage, HoldfastError } from "../holdfast-error.ts";

const checkedNamespaces = new WeakSet<ClientLink["connection"]>();

/** A run that sets an attribute which the server does not know is stuck: refused before the first start. */
export async function checkSearchAttributes(link: ClientLink): Promise<void> {
  if (!link.searchAttributes || checkedNamespaces.has(link.connection)) return;
  const gaps = await findSearchAttributeGaps(link.connection, link.namespace).catch((cause: unknown) => {
    throw new HoldfastError(
      "server-refused",
      `The server at ${link.address} does not say which search attributes the namespace "${link.namespace}" has: ` +
        `${getErrorMessage(cause)}. Connect with searchAttributes: false to start runs without them.`,
      { address: link.address, namespace: link.namespace, cause },
    );
  });
  if (gaps.missing.length > 0 || gaps.wrongType.length > 0) throw createAttributesMissingError(link, gaps);
  checkedNamespaces.add(link.connection);
}

function createAttributesMissingError(
  { address, namespace }: ClientLink,
  gaps: SearchAttributeGaps,
): HoldfastError {
  const { missing, wrongType } = gaps;
  const command = missing.length === 0 ? undefined : formatRegisterCommand(address, namespace, missing);
  const parts = [
    ...(missing.length === 0 ? [] : [`does not know the search attributes ${missing.join(", ")}`]),
    ...(wrongType.length === 0
      ? []
      : [`has ${wrongType.map(formatTypedName).join(", ")} under another type`]),
  ];
  const advice = [
    ...(command === undefined ? [] : [`Run \`holdfast doctor --fix\`, or: ${command}`]),
    ...(wrongType.length === 0 ? [] : ["Rename what has the wrong type, or use another namespace."]),
    "Or connect with searchAttributes: false.",
  ];
  return new HoldfastError(
    "search-attributes-missing",
    `The namespace "${namespace}" at ${address} ${parts.join(" and ")}, and a run would be stuck. ${advice.join(" ")}`,
    { address, namespace, missing, wrongType, ...(command === undefined ? {} : { command }) },
  );
}

function formatTypedName(name: SearchAttributeName): string {
  return `${name} (must be ${SEARCH_ATTRIBUTES[name]})`;
}

/** What an operator types to register them. */
export function formatRegisterCommand(
  address: string,
  namespace: string,
  names: readonly SearchAttributeName[],
): string {
  const attributes = names.map((name) => `--name ${name} --type ${SEARCH_ATTRIBUTES[name]}`);
  return `temporal operator search-attribute create --address ${address} --namespace ${namespace} ${attributes.join(" ")}`;
}

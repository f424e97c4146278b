import { findSearchAttributeGaps, type SearchAttributeGaps } from "../../config/search-attribute-gaps.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from "../../schema/search-attributes.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { getErrorMessage, HoldfastError } from "../holdfast-error.ts";

const checkedNamespaces = new WeakSet<ClientLink["connection"]>();

/** A run that sets an unregistered search attribute blocks, so that the client checks them before the first start. */
export async function checkSearchAttributes(link: ClientLink): Promise<void> {
  if (!link.searchAttributes || checkedNamespaces.has(link.connection)) return;
  const gaps = await findSearchAttributeGaps(link.connection, link.namespace).catch((cause: unknown) => {
    throw new HoldfastError(
      "server-refused",
      `The server at ${link.address} does not list the search attributes of the namespace "${link.namespace}": ` +
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
    ...(missing.length === 0 ? [] : [`lacks the search attributes ${missing.join(", ")}`]),
    ...(wrongType.length === 0 ? [] : [`has ${wrongType.map(formatTypedName).join(", ")} with another type`]),
  ];
  const advice = [
    ...(command === undefined ? [] : [`Run \`holdfast doctor --fix\`, or: ${command}`]),
    ...(wrongType.length === 0
      ? []
      : ["Rename the attributes with the wrong type, or use another namespace."]),
    "Or connect with searchAttributes: false.",
  ];
  return new HoldfastError(
    "search-attributes-missing",
    `The namespace "${namespace}" at ${address} ${parts.join(" and ")}, which would block every run. ${advice.join(" ")}`,
    { address, namespace, missing, wrongType, ...omitUndefined({ command }) },
  );
}

function formatTypedName(name: SearchAttributeName): string {
  return `${name} (must be ${SEARCH_ATTRIBUTES[name]})`;
}

/** Formats the command that registers the attributes. */
export function formatRegisterCommand(
  address: string,
  namespace: string,
  names: readonly SearchAttributeName[],
): string {
  const attributes = names.map((name) => `--name ${name} --type ${SEARCH_ATTRIBUTES[name]}`);
  return `temporal operator search-attribute create --address ${address} --namespace ${namespace} ${attributes.join(" ")}`;
}

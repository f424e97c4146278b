import { type AttributeService, findSearchAttributeGaps } from "../config/search-attribute-gaps.ts";
import type { Logger } from "../platform/log.ts";

/** Refuses a namespace that lacks Holdfast's search attributes: a run that sets one would block. */
export async function checkSearchAttributes(
  connection: AttributeService,
  namespace: string,
  log: Pick<Logger, "warn">,
): Promise<void> {
  const gaps = await findSearchAttributeGaps(connection, namespace).catch((error: unknown) => {
    // A worker without permission to list them may still run agents.
    log.warn({ error: String(error) }, "Could not check whether Holdfast's search attributes are registered");
  });
  if (gaps === undefined || (gaps.missing.length === 0 && gaps.wrongType.length === 0)) return;
  const parts = [
    ...(gaps.missing.length === 0 ? [] : [`lacks the search attributes ${gaps.missing.join(", ")}`]),
    ...(gaps.wrongType.length === 0 ? [] : [`has ${gaps.wrongType.join(", ")} with another type`]),
  ];
  throw new Error(
    `The namespace "${namespace}" ${parts.join(" and ")}, which would block every agent. Register them with ` +
      "`holdfast doctor --fix`, or run agents without them: holdfastPlugin({ searchAttributes: false }).",
  );
}

/**
 * Lists the workflows above workflows with these ids, without the latter. Jobs have no activities that would show which
 * worker holds them, but the parts of an id before a dot name its parents.
 */
export function listParents(workflows: readonly string[]): readonly string[] {
  const known = new Set(workflows);
  const ids = workflows.flatMap((workflow) => {
    const parts = workflow.split(".");
    return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("."));
  });
  return [...new Set(ids)].filter((id) => id !== "" && !known.has(id));
}

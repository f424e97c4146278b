// The views and columns of the Temporal UI, which stores both in the browser. A view can also be saved by a link; columns
// cannot, and no server setting exists for either (UI 2.54).

/** The columns of the workflow list, in order: those of the UI itself, and search attributes. */
const COLUMNS = [
  "Status",
  "HoldfastStatus",
  "HoldfastTitle",
  "HoldfastAgent",
  "HoldfastModel",
  "HoldfastTurns",
  "HoldfastCostUsd",
  "Start",
  "Type",
  "Workflow ID",
];

/** The saved views, in the notation of the UI's own filters. */
const VIEWS: Readonly<Record<string, string>> = {
  "Needs approval": '`HoldfastStatus`="needs-approval"',
  "Waits for a prompt": '`HoldfastStatus`="waiting"',
  Stopped: '`HoldfastStatus`="stopped"',
  "Limit reached": '`HoldfastStatus`="limit-reached"',
  "Cost over $5": "`HoldfastCostUsd`>5",
  "Sessions and jobs": "`ParentWorkflowId` is null",
};

/** The address of the workflow list of a namespace. */
export function buildListUrl(uiUrl: string, namespace: string): string {
  return `${uiUrl.replace(/\/+$/, "")}/namespaces/${encodeURIComponent(namespace)}/workflows`;
}

/** Builds a link for each view. Opening it saves the view in the browser. */
export function buildViewLinks(listUrl: string): readonly { readonly name: string; readonly url: string }[] {
  return Object.entries(VIEWS).map(([name, query]) => {
    const parameters = new URLSearchParams({ query, savedQuery: name });
    return { name, url: `${listUrl}?${parameters}` };
  });
}

/**
 * Builds the script that saves the views and the columns of a namespace, for the console of the browser. It replaces the
 * columns of the workflow list and the views that it has saved before, and leaves the others.
 */
export function buildSetupScript(namespace: string): string {
  const columns = COLUMNS.map((label) => ({ label }));
  const views = Object.entries(VIEWS).map(([name, query], index) => ({
    id: `holdfast-${index}`,
    name,
    query,
    type: "user",
  }));
  return `(() => {
  const namespace = ${JSON.stringify(namespace)};
  const edit = (key, change) => {
    const all = JSON.parse(localStorage.getItem(key) ?? "{}");
    localStorage.setItem(key, JSON.stringify({ ...all, [namespace]: change(all[namespace] ?? []) }));
  };
  edit("namespace-workflow-table-columns", () => ${JSON.stringify(columns)});
  edit("saved-workflow-queries", (views) => [
    ...views.filter(({ id }) => !String(id).startsWith("holdfast-")),
    ...${JSON.stringify(views)},
  ]);
  location.reload();
})();`;
}

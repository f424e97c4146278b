import { expect, test } from "vitest";
import type { ClientLink } from "../../src/client/connection/client-link.ts";
import { listSessions } from "../../src/client/read/list-sessions.ts";

/** A server with runs that the transcript of this machine does not have. */
function linkTo(runs: { readonly open: readonly string[]; readonly closed: readonly string[] }): ClientLink {
  const list = async function* ({ query }: { readonly query: string }) {
    const isOpen = query.includes('ExecutionStatus = "Running"');
    for (const workflowId of isOpen ? runs.open : runs.closed)
      yield {
        workflowId,
        status: { name: isOpen ? "RUNNING" : "COMPLETED" },
        startTime: new Date(0),
        closeTime: isOpen ? undefined : new Date(1),
        typedSearchAttributes: { get: () => undefined },
      };
  };
  return {
    client: { workflow: { list } },
    storage: { openExistingTranscript: async () => undefined },
    searchAttributes: true,
  } as unknown as ClientLink;
}

test.each([1, 2, 3])("in pages of %i, every session of the server is listed once", async (limit) => {
  const link = linkTo({ open: ["o1", "o2", "o3"], closed: ["c1", "c2", "c3", "c4"] });
  const found: string[] = [];
  let after: string | undefined;
  // A page that does not advance would repeat for ever.
  for (let page = 0; page < 10; page += 1) {
    const { sessions, after: next } = await listSessions(link, {
      limit,
      ...(after !== undefined && { after }),
    });
    found.push(...sessions.map(({ session }) => session));
    after = next;
    if (after === undefined) break;
  }
  expect(found).toEqual(["o1", "o2", "o3", "c1", "c2", "c3", "c4"]);
});

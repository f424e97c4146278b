import { type Context, Hono } from "hono";
import type { Holdfast, SuiteCell, SuiteRun } from "../../client/index.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { readJsonBody } from "./body.ts";
import { buildSuite } from "./build-suite.ts";
import {
  CellsQuery,
  ChangeEvaluationBody,
  formatRunCursor,
  ListEvaluationsQuery,
  parseRunCursor,
  RetryBody,
  StartEvaluationBody,
} from "./evaluation-requests.ts";
import { streamProgress } from "./evaluation-stream.ts";
import { createDrop, describeTarget, type Env } from "./hono-env.ts";
import type { OpenStreams } from "./open-streams.ts";
import { parseQuery } from "./parse-query.ts";
import { StopBody } from "./request-schemas.ts";
import type { ServedAgents } from "./served-agents.ts";

/** Serves runs of suites as JSON. */
export function createEvaluationRoutes(
  holdfast: Holdfast,
  streams: OpenStreams,
  agents: ServedAgents,
): Hono<Env> {
  const routes = new Hono<Env>();
  const getRun = (context: Context<Env, "/:id">): SuiteRun =>
    holdfast.evaluations.get(context.req.param("id"));

  routes.get("/", async (context) => {
    const { limit, after, ...filters } = parseQuery(ListEvaluationsQuery, context.req.query());
    // One more than requested shows whether there are more.
    const found = await holdfast.evaluations.list({
      ...omitUndefined({ ...filters, after: parseRunCursor(after) }),
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return context.json({
      runs: page.map(omitDigests),
      next: last === undefined ? null : formatRunCursor(last),
    });
  });

  routes.post("/", async (context) => {
    const body = await readJsonBody(context, StartEvaluationBody);
    const { id } = await holdfast.evaluations.start(await buildSuite(body, agents), {
      fresh: body.fresh === true,
    });
    const self = `/v1/evaluations/${encodeURIComponent(id)}`;
    context.header("location", self);
    return context.json({ id, links: buildLinks(self) }, 201);
  });

  routes.get("/:id", async (context) => context.json(omitDigests(await getRun(context).status())));

  routes.patch("/:id", async (context) => {
    const change = omitUndefined(await readJsonBody(context, ChangeEvaluationBody));
    return context.json(omitDigests(await getRun(context).change(change)));
  });

  routes.delete("/:id", async (context) => {
    await getRun(context).delete();
    return context.body(null, 204);
  });

  routes.get("/:id/report", async (context) => context.json(await getRun(context).report()));

  routes.get("/:id/cells", async (context) => {
    const { limit, case: caseId, ...filters } = parseQuery(CellsQuery, context.req.query());
    const cells: SuiteCell[] = [];
    let next: number | null = null;
    for await (const cell of getRun(context).cells(omitUndefined({ ...filters, caseId }))) {
      if (cells.length === limit) {
        next = cells.at(-1)!.number;
        break;
      }
      cells.push(cell);
    }
    return context.json({ cells, next });
  });

  routes.get("/:id/events", async (context) => {
    return await streamProgress(getRun(context), streams, {
      lastEventId: context.req.header("last-event-id"),
      target: describeTarget(context),
      drop: createDrop(context),
    });
  });

  for (const verb of ["pause", "resume"] as const) {
    routes.post(`/:id/${verb}`, async (context) => context.json(omitDigests(await getRun(context)[verb]())));
  }

  routes.post("/:id/stop", async (context) => {
    const { reason } = await readJsonBody(context, StopBody);
    const run = getRun(context);
    return context.json({ id: run.id, open: await run.stop(reason) }, 202);
  });

  routes.post("/:id/retry", async (context) => {
    const { failureClass } = await readJsonBody(context, RetryBody);
    const run = getRun(context);
    return context.json({ id: run.id, retried: await run.retryFailed(failureClass) });
  });

  return routes;
}

function buildLinks(self: string): Readonly<Record<string, string>> {
  return { self, report: `${self}/report`, cells: `${self}/cells`, events: `${self}/events` };
}

/** Leaves out the digests of the scorers, which have no meaning outside the store. */
function omitDigests<Run extends { readonly scorers: unknown }>({
  scorers: _digests,
  ...run
}: Run): Omit<Run, "scorers"> {
  return run;
}

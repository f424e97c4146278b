import type { SuiteRun, SuiteRunStatus } from "../../client/index.ts";
import { hasEnded } from "../../client/suites/suite-run.ts";
import type { OpenStreams } from "./open-streams.ts";
import { isInternalError, toProblem } from "./problem.ts";
import type { ResponseStream } from "./response-stream.ts";
import { formatFrame } from "./sse-frame.ts";

/** The id of the last event of a stream. A client that reconnects with it has seen the end. */
const END_ID = "end";

export type ProgressStreamOptions = {
  /** The last event that the client has received. */
  readonly lastEventId: string | undefined;
  /** The request, for the text of a problem. */
  readonly target: string;
  readonly drop: () => void;
};

/**
 * Streams the progress of a run as Server-Sent Events: its present state, then each change, at most one a second. `result` is
 * the last event of a run that has ended. A stream has no history, so that a client that reconnects misses nothing.
 */
export async function streamProgress(
  run: SuiteRun,
  streams: OpenStreams,
  { lastEventId, target, drop }: ProgressStreamOptions,
): Promise<Response> {
  const isOver = hasEnded(await run.status());
  // An EventSource reconnects until it receives 204 No Content.
  if (isOver && lastEventId === END_ID) return new Response(null, { status: 204 });
  const write = async (outlet: ResponseStream): Promise<void> => {
    try {
      await writeProgress(run, outlet);
    } catch (error) {
      if (isInternalError(error)) throw error;
      await outlet.write(formatFrame({ event: "problem", data: toProblem(error, target) }));
    }
  };
  return streams.open({ write, atClose: "end", drop });
}

/** Writes what has changed. A slow reader may miss some of it: the next event has the whole progress. */
async function writeProgress(run: SuiteRun, outlet: ResponseStream): Promise<void> {
  let written = "";
  for await (const status of run.watch({ signal: outlet.closedSignal })) {
    const isLast = hasEnded(status);
    const data = selectProgress(status);
    const frame = formatFrame(isLast ? { id: END_ID, event: "result", data } : { data });
    if (!isLast && (frame === written || outlet.isLagging)) continue;
    await outlet.write(frame);
    written = frame;
  }
}

/** Selects what changes while a run works. Its plan may be large. */
function selectProgress({
  plan: _plan,
  scorers: _scorers,
  ...progress
}: SuiteRunStatus): Omit<SuiteRunStatus, "plan" | "scorers"> {
  return progress;
}

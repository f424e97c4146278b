import { type ModelServer, startModelServer } from "../../../../src/testing/index.ts";

/** A request to the vendor: the n-th answer of the conversation that begins with a text. */
type Asked = {
  readonly conversation: string;
  readonly firstUserText: string;
  readonly turn: number;
  readonly atMs: number;
};

/** What the transcript had when a worker died: the number of stored answers, by the first prompt of their conversation. */
export type StoredAnswers = { readonly atMs: number; readonly counts: ReadonlyMap<string, number> };

/** A scripted vendor that knows when each answer was asked for. */
export type CountingVendor = {
  readonly model: ModelServer;
  /** Forgets the requests of the previous run, and reports the number of each request to come, from 1. */
  begin(onRequest?: (nth: number) => void): void;
  /** Lists what is wrong with the requests of a run. */
  judge(deaths: readonly StoredAnswers[]): {
    /** Answers that were asked for although the transcript had them, each in words. */
    readonly repaid: readonly string[];
    readonly problems: readonly string[];
  };
};

export async function startCountingVendor(): Promise<CountingVendor> {
  let asked: Asked[] = [];
  let report: ((nth: number) => void) | undefined;
  const model = await startModelServer({
    respond: ({ conversation, firstUserText, turn }) => {
      asked.push({ conversation, firstUserText, turn, atMs: Date.now() });
      report?.(asked.length);
      return undefined;
    },
  });
  return {
    model,
    begin: (onRequest) => {
      asked = [];
      report = onRequest;
      model.reset();
    },
    judge: (deaths) => ({
      repaid: asked.flatMap((one) =>
        deaths.filter((death) => isRepaid(one, death)).map((death) => describeRepaid(one, death)),
      ),
      problems: [
        ...findExcess(asked, deaths.length),
        ...model.requests.flatMap(({ fault, validationError }) =>
          fault === undefined ? [] : [`the vendor refused a request: ${fault} ${validationError ?? ""}`],
        ),
      ],
    }),
  };
}

/** Whether an answer was asked for again although the transcript had it when a worker died. */
function isRepaid({ firstUserText, turn, atMs }: Asked, death: StoredAnswers): boolean {
  return atMs > death.atMs && turn < (death.counts.get(firstUserText) ?? 0);
}

function describeRepaid({ conversation, firstUserText, turn, atMs }: Asked, death: StoredAnswers): string {
  const later = `${atMs - death.atMs} ms after a death that left ${death.counts.get(firstUserText)} answers`;
  return `answer ${turn + 1} of ${conversation} (${firstUserText.slice(0, 80)}) was paid again, ${later}`;
}

/** A death interrupts at most one request of a conversation, so that each turn is asked for once more at most. */
function findExcess(asked: readonly Asked[], deaths: number): readonly string[] {
  const counts = new Map<string, number>();
  for (const { conversation, turn } of asked) {
    const key = `turn ${turn} of ${conversation}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].flatMap(([turn, count]) =>
    count > deaths + 1 ? [`${turn} was asked for ${count} times, with ${deaths} deaths`] : [],
  );
}

import { randomBytes } from "node:crypto";
import type { AgentDefinition } from "../../src/schema/definition.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { cells, failure, finished, newRun, plan, sampleCase, score } from "./sample-suites.ts";
import { answer, opening, step } from "./sample-writes.ts";

export const MARKER = "HOLLYHOCK";

/** Too long to be stored with its entry. */
export const LONG = `${MARKER} ${randomBytes(3000).toString("hex")}`;

/** An image whose bytes are stored apart from its message. */
const IMAGE = {
  type: "image",
  mimeType: "image/png",
  data: Buffer.from(`${MARKER} `.repeat(400)).toString("base64"),
};

const createMessage = (text: string) => ({
  role: "user" as const,
  content: [{ type: "text" as const, text }],
  timestamp: 1,
});

/** Writes a run of a suite whose every text is the marker. */
async function writeMarkedSuite({ suites }: Transcript, run: string): Promise<void> {
  const scorers = [
    { type: "exact" as const, expected: MARKER, ignoreCase: false, trim: true, match: "whole" as const },
  ];
  await suites.createRun(newRun({ id: run, plan: plan({ scorers }) }));
  await suites.addCases(run, [sampleCase(0, MARKER)]);
  const cell = (number: number) => ({ ...finished(number), run, cell: `${run}-${number}` });
  await suites.addCells(
    run,
    cells(2).map((one) => ({ ...one, cell: cell(one.number).cell })),
  );
  await suites.startRun(run, 1);
  const explained = score(0, { explanation: MARKER, points: { [MARKER]: 1 } });
  await suites.finishCell({ ...cell(0), scores: [{ scorer: "exact-1", score: explained }] });
  await suites.finishCell({ ...cell(1), result: failure({ message: MARKER }), scores: [] });
  await suites.putAnswer({ key: run, message: answer(MARKER), session: run, atMs: 1 });
  await suites.setStatus(run, { status: "stopped", reason: MARKER, atMs: 2 });
}

/** Writes a loop, and a run of a suite, whose every text is the marker. */
export async function writeMarkedSession(transcript: Transcript, session = "s"): Promise<string> {
  const definition = { name: "a", systemPrompt: MARKER } as unknown as AgentDefinition;
  const hash = await transcript.saveDefinition(definition);
  await transcript.putText(MARKER, 1);
  const own = { ...step(), session, run: `run-${session}` };
  const { loopId } = await transcript.openLoop({
    ...opening(),
    step: own,
    definitionHash: hash,
    prompts: [{ id: `p-${session}`, text: MARKER, atMs: 1 }],
    terms: { tools: [{ name: "t", description: MARKER, parameters: {} }], limits: {} } as never,
  });
  const target = { loopId, branch: "main", base: 1 };
  await transcript.storeInbox(
    {
      ...target,
      step: { ...own, number: 2 },
      atMs: 1,
      outbox: { entries: [], events: [{ sequence: 0, atMs: 1, body: { type: "X", text: MARKER } as never }] },
      entries: [
        { position: 1, origin: "model", message: createMessage(MARKER) as never },
        { position: 2, origin: "model", message: createMessage(LONG) as never },
        { position: 3, origin: "model", message: { ...createMessage(MARKER), content: [IMAGE] } as never },
      ],
      result: { text: MARKER },
    },
    [{ id: `i-${session}`, text: MARKER, metadata: { of: MARKER }, atMs: 1 }],
  );
  await writeMarkedSuite(transcript, session);
  return loopId;
}

export async function readAll(transcript: Transcript, session = "s"): Promise<string> {
  const loops = await transcript.readLoops(session);
  return JSON.stringify([
    await transcript.readEntries(session, "main", 0, 99),
    await transcript.readInbox(session),
    loops,
    await Promise.all(loops.map(({ loopId }) => transcript.readEvents(loopId, 0))),
    await Promise.all(loops.map(({ definitionHash }) => transcript.readDefinition(definitionHash))),
    await transcript.suites.readRun(session),
    await transcript.suites.readCases(session, 0, 9),
    await transcript.suites.readCells(session, { after: -1, limit: 9 }),
    await transcript.suites.readAnswers([session], 1),
  ]);
}

/** Reports whether the stored value of a private column is unencrypted. */
export function isUnencrypted(value: string | Buffer): boolean {
  const text = typeof value === "string" ? value : value.toString("latin1");
  return !text.startsWith("\u0001sealed:") && !text.startsWith("\u00f8\u0002");
}

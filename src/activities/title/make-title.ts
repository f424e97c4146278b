import { Context } from "@temporalio/activity";
import type { TitleDigest } from "../../core/machine/state/digest.ts";
import { limitSignal } from "../../platform/async/deadline.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { getMessageText } from "../../schema/message-text.ts";
import type { MakeTitleInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { TextModel } from "../model/text-model.ts";
import { toFailure } from "../step/failure.ts";
import { withHeartbeat } from "../step/heartbeat.ts";
import { getCurrentStep } from "../step/step.ts";
import { runStoredStep } from "../step/stored-step.ts";
import { askForTitle, type Exchange } from "./ask-for-title.ts";

/** The longest time that a title may take: the run's answer waits for it. */
const TIMEOUT_MS = 20_000;

/** The messages that are searched for the loop's first prompt. */
const OPENING_MESSAGES = 8;

const getNoDetails = () => undefined;

/** Asks the model for a title of the session and stores it, unless a user has given one. */
export async function makeTitle(input: MakeTitleInput, dependencies: Dependencies): Promise<TitleDigest> {
  const { transcript, definitions, log } = dependencies;
  const step = getCurrentStep(input, dependencies.process);
  const { cancellationSignal: signal } = Context.current();
  try {
    return await withHeartbeat(getNoDetails, () =>
      runStoredStep(step, input, dependencies, async ({ branch }) => {
        const definition = await definitions.read(input.definitionHash);
        const exchange = await readExchange({ ...input, session: step.session, branch }, dependencies);
        const model = new TextModel(definition, dependencies);
        const title = await askForTitle(exchange, model, limitSignal(signal, TIMEOUT_MS));
        const { usage, costUsd } = model;
        const shown = input.showsTitle === true ? omitUndefined({ title }) : {};
        return {
          result: { branch, usage, costUsd, ...shown },
          entries: [],
          ...(title === undefined ? {} : { title: { text: title, by: "model" as const } }),
        };
      }),
    );
  } catch (error) {
    await transcript.release(step).catch(() => undefined);
    const failure = toFailure(error);
    if (!signal.aborted) {
      const { session } = step;
      log.warn(
        { session, loopId: input.loopId, error: failure.message },
        "The model gave the session no title",
      );
    }
    throw failure;
  }
}

type ExchangePosition = Pick<MakeTitleInput, "branch" | "from" | "answer"> & { readonly session: string };

/** Reads the loop's first prompt and its last answer. A loop that continues a conversation may have no prompt. */
async function readExchange(
  { session, branch, from, answer }: ExchangePosition,
  { transcript }: Pick<Dependencies, "transcript">,
): Promise<Exchange> {
  const opening = await transcript.readEntries(
    session,
    branch,
    from,
    Math.min(from + OPENING_MESSAGES, answer),
  );
  const prompt = opening.find(({ message }) => message.role === "user");
  const [last] = await transcript.readEntries(session, branch, answer, answer + 1);
  const getText = (entry: typeof last) =>
    entry === undefined || entry.message.role === "extension" ? "" : getMessageText(entry.message);
  return { prompt: getText(prompt), answer: getText(last) };
}

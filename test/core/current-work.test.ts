import { describe, expect, test } from "vitest";
import { findCurrentWork, getMessagesToAnswer } from "../../src/conversation/compaction/current-work.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { Entry, EntryOrigin } from "../../src/schema/record.ts";
import { answer, entriesOf, inTurn, result, texts, user } from "./compaction-messages.ts";

/** What a user says, as a part of a loop. */
const said = (text: string, loopId: string, origin: EntryOrigin = "prompt") =>
  [inTurn(user(text), loopId, 0), origin] as const;

const spoken = (message: AgentMessage, loopId: string, turn = 0) =>
  [inTurn(message, loopId, turn), message.role === "toolResult" ? "tool" : "model"] as const;

function findWork(...messages: readonly (readonly [AgentMessage, EntryOrigin])[]) {
  const entries: Entry[] = entriesOf(messages.map(([message]) => message)).map((entry, at) => ({
    ...entry,
    origin: messages[at]?.[1] ?? "model",
  }));
  const work = findCurrentWork(entries);
  return {
    older: work.older.length,
    toAnswer: texts(getMessagesToAnswer(work).map(({ message }) => message)),
    unreadCount: work.unreadCount,
  };
}

describe("the messages that the running loop answers", () => {
  test("are its prompts, and not those of an earlier loop", () => {
    expect(
      findWork(said("One", "l1"), spoken(answer("Done."), "l1"), said("Two", "l2"), said("and three", "l2")),
    ).toMatchObject({ older: 1, toAnswer: ["Two", "and three"] });
  });

  test("are also those of a loop that ended without an answer, if a loop without a prompt continues it", () => {
    const first = [said("One", "l1"), spoken(answer("", ["c1"]), "l1"), spoken(result("c1", "out"), "l1")];
    expect(findWork(...first, said("Go on", "l2", "steering"))).toMatchObject({
      older: 0,
      toAnswer: ["One", "Go on"],
    });
    expect(findWork(...first, spoken(answer("Done."), "l2"))).toMatchObject({ older: 0, toAnswer: ["One"] });
  });

  test("are only the new ones if the loop before has its answer, though no prompt begins the loop", () => {
    expect(
      findWork(said("One", "l1"), spoken(answer("Done."), "l1"), said("Go on", "l2", "follow-up")),
    ).toMatchObject({ older: 1, toAnswer: ["Go on"] });
  });

  test("are those of a prompt alone, though the loop before ended without an answer", () => {
    expect(findWork(said("One", "l1"), said("Two", "l2"))).toMatchObject({ older: 1, toAnswer: ["Two"] });
  });
});

describe("turns that the model has not read", () => {
  test("begin with an answer that has calls, and behind one that has none", () => {
    const asked = [said("One", "l1"), spoken(answer("", ["c1"]), "l1"), spoken(result("c1", "out"), "l1")];
    expect(findWork(...asked)).toMatchObject({ unreadCount: 1 });
    expect(findWork(...asked, spoken(answer("Done."), "l1", 1))).toMatchObject({ unreadCount: 0 });
    expect(findWork(said("One", "l1"))).toMatchObject({ unreadCount: 1 });
  });
});

import { expect, test } from "vitest";
import { BUSY_TEXT } from "../../src/client/client-errors.ts";
import * as client from "../../src/client/index.ts";
import { RUN_FAILED } from "../../src/client/runs/await-result.ts";
import { INLINE_BYTES } from "../../src/client/runs/message-input.ts";
import { KEYS } from "../../src/client/runs/run-labels.ts";
import { INLINE_BYTES as CORE_INLINE_BYTES } from "../../src/core/machine/append-message.ts";
import { SEARCH_ATTRIBUTES } from "../../src/schema/search-attributes.ts";
import { BUSY_TEXT as RUN_BUSY_TEXT } from "../../src/workflows/run-handlers.ts";
import { RUN_FAILED as RUN_RUN_FAILED } from "../../src/workflows/run-result.ts";

test("pin: the client's constants equal the run's", () => {
  expect(BUSY_TEXT).toBe("Agent is already streaming. Use steer() or follow_up().");
  expect(BUSY_TEXT).toBe(RUN_BUSY_TEXT);
  expect(RUN_FAILED).toBe(RUN_RUN_FAILED);
  expect(INLINE_BYTES).toBe(CORE_INLINE_BYTES);
});

test("pin: the search attributes that are set at the start are exactly those that are registered", () => {
  const keys = Object.values(KEYS).map(({ name, type }) => [name, type.toLowerCase()]);
  const registered = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [name, type.toLowerCase()]);
  expect(keys.sort()).toEqual(registered.sort());
});

test("pin: the values that the package exports [PAR-14]", () => {
  expect(Object.keys(client).sort()).toEqual([
    "Evaluation",
    "Exploration",
    "FileSessionStore",
    "Holdfast",
    "HoldfastError",
    "Job",
    "OVERLAP_POLICIES",
    "Retention",
    "Schedules",
    "Session",
    "SessionRecorder",
    "SuiteError",
    "SuiteRun",
    "anthropic",
    "azure",
    "bedrock",
    "buildLoopChain",
    "buildUserMessage",
    "compareCosts",
    "connect",
    "createCustomStrategy",
    "createJudgeStrategy",
    "defineSuite",
    "elaborate",
    "extractJson",
    "findChildren",
    "findLoop",
    "findParallelSiblings",
    "findRootLoops",
    "formatProblem",
    "getLoopOrigin",
    "getMessageText",
    "getTurnId",
    "google",
    "hashDefinition",
    "isContextOverflow",
    "listModels",
    "loadSnapshot",
    "local",
    "messagesFromJson",
    "messagesToJson",
    "openai",
    "openaiResponses",
    "openrouter",
    "parseModel",
    "pickFirst",
    "readAgents",
    "readCheckedFile",
    "readSuite",
    "rekeyTranscript",
    "removeContextManagement",
    "saveSnapshot",
    "sessionFromJson",
    "sessionToJson",
    "setTurnId",
    "sumUsage",
    "toModelMessage",
    "tokenEfficient",
    "transparent",
    "vertex",
    "zodOutput",
  ]);
});

const MAX_RECOVERY_MS = 6_000;
const MAX_HISTORY_BYTES = 6 * 1024;

/**
 * The promised values of the JSON object's fields. null: the value is unavailable, or there was nothing to count.
 *
 * `answersRepaid` counts answers that were delivered completely and then delivered completely once more. A stream that a
 * kill cuts is requested again; that costs the output that the vendor had written by then, and is reported separately.
 */
const LIMITS = {
  turns: (turns) => turns !== null && turns >= 6,
  kills: (kills) => kills === 2,
  recoveryMs: (each) => each.every((ms) => ms !== null && ms <= MAX_RECOVERY_MS),
  answersPaid: () => true,
  answersRepaid: (answers) => answers === null || answers === 0,
  messagesLost: (messages) => messages === 0,
  messagesDuplicated: (messages) => messages === 0,
  unsafeToolsTwice: (times) => times === 0,
  historyBytesPerTurn: (bytes) => bytes !== null && bytes <= MAX_HISTORY_BYTES,
  testsPassed: (passed) => passed === true,
};
const FIELDS = Object.keys(LIMITS);

/** The report of a demo that did not finish. */
export const UNFINISHED_REPORT = {
  ...Object.fromEntries(FIELDS.map((field) => [field, null])),
  recoveryMs: [],
};

/** Returns the names of the fields that differ from the promise. */
export function listBrokenPromises(report) {
  return FIELDS.filter((field) => !LIMITS[field](report[field]));
}

/** Returns the object of `--json`. */
export function toJson(report) {
  const fields = Object.fromEntries(FIELDS.map((field) => [field, report[field]]));
  return { ...fields, ok: listBrokenPromises(report).length === 0 };
}

const REASONS = {
  "aborted-by-client": "its stream was cut by the kill",
  answered: "ALTHOUGH it had been delivered",
  open: "while it was still open",
};

/** Formats the table's rows: label, value, and the field that they display. */
export function formatRows(report) {
  const seconds = (ms) => (ms === null ? "never" : `${(ms / 1000).toFixed(1)} s`);
  const { answers } = report;
  return [
    ["turns", `${report.turns}`, "turns"],
    ["workers killed (SIGKILL)", `${report.kills}`, "kills"],
    [
      "from kill to next step",
      report.recoveries.map(({ where, ms }) => `${seconds(ms)} (in a ${WHERE[where]})`).join(", "),
      "recoveryMs",
    ],
    ["answers paid", `${report.answersPaid ?? "only the vendor knows"}`],
    [
      "answers asked again",
      answers === null
        ? "only the vendor knows"
        : [`${answers.again.length}`, ...answers.again.map(formatRepeatedTurn)].join("; "),
    ],
    ["delivered answers paid twice", `${report.answersRepaid ?? "only the vendor knows"}`, "answersRepaid"],
    ["messages lost", `${report.messagesLost}`, "messagesLost"],
    ["messages duplicated", `${report.messagesDuplicated}`, "messagesDuplicated"],
    ["unsafe tools run twice", `${report.unsafeToolsTwice ?? "none was started"}`, "unsafeToolsTwice"],
    ["history a turn", `${report.historyBytesPerTurn} bytes`, "historyBytesPerTurn"],
    ["the project's tests", report.testsPassed ? "pass" : "FAIL", "testsPassed"],
  ];
}

const WHERE = { model: "model stream", tool: "bash command" };

function formatRepeatedTurn({ turn, before }) {
  return `turn ${turn}: ${REASONS[before] ?? before}`;
}

/** What the scripted model answers: the review of a change, its critic, and the message of a commit. */
export function createScript({ base, head }) {
  const readDiff = (range) => ({
    toolCalls: [{ name: "git_diff", arguments: { ...range, detail: "standard" } }],
  });
  const review = {
    summary: "The queue gives out several jobs at once. It gives out one too many.",
    metadata: { risk: "high" },
    findings: [
      {
        id: "one-too-many",
        severity: "high",
        confidence: 95,
        file: "src/queue.mjs",
        start_line: 11,
        end_line: 11,
        category: "correctness",
        body: "take(count) removes count + 1 jobs: take() takes two, and the second one is lost for its caller.",
        suggested_fix: "return this.#jobs.splice(0, count);",
        evidence: [`${head.slice(0, 10)}:src/queue.mjs:10-11`],
      },
      {
        id: "callers",
        severity: "medium",
        confidence: 80,
        file: "src/queue.test.mjs",
        start_line: 5,
        end_line: 5,
        category: "api_contract",
        body: "take() returns a list now, and this caller compares it with one job.",
        evidence: [`${head.slice(0, 10)}:src/queue.test.mjs:5`],
      },
      {
        id: "invented",
        severity: "critical",
        confidence: 90,
        file: "src/worker.mjs",
        start_line: 3,
        end_line: 3,
        category: "data_loss",
        body: "The worker drops jobs.",
        evidence: [`${head.slice(0, 10)}:src/worker.mjs:3`],
      },
    ],
  };
  const sound = { requires_revision: false, issues: [], revision_prompt: "", confidence: 90 };
  const message = {
    emoji: null,
    title: "Take the number of jobs that is asked for",
    message: "take(count) removed one job too many.",
    completion_message: "Written.",
  };
  return {
    conversations: [
      { match: "Judge whether an artifact", replies: [{ text: JSON.stringify(sound) }] },
      {
        match: "Review the change that you are given",
        replies: [readDiff({ from: base, to: head }), { text: JSON.stringify(review) }],
      },
      {
        match: "Generate a commit message",
        replies: [readDiff({ from: "staged" }), { text: JSON.stringify(message) }],
      },
    ],
  };
}

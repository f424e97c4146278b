const LIVE_LINES = 8;
const RESULT_LINES = 2;

/** Irrelevant output of test runners and npm. */
const NOISE = /^\s*$|^>|^npm (?:warn|notice)|^✔|^▶|^\s|^ℹ (?!pass|fail)|^✖ failing tests/;
const LAST_WORD = /^ℹ fail/;

/** Prints the activity of a watched session: streamed answers, tool calls, their output and their results. */
export class Narrator {
  #teller;
  #turn = "";
  /** The streamed text of the open answer that is not yet printed, and how many characters of it were streamed. */
  #text = "";
  #streamed = 0;
  /** For each tool call: the incomplete line, and how many lines were printed. */
  #calls = new Map();

  constructor(teller) {
    this.#teller = teller;
  }

  take(event) {
    switch (event.type) {
      case "TurnStart":
        this.#turn = `turn ${event.turnIndex}`;
        break;
      case "MessageUpdate":
        this.#printUpdate(event);
        break;
      case "MessageEnd":
        this.#printMessage(event.message);
        break;
      case "ToolExecutionUpdate":
        this.#print(event.toolCallId, getText(event.partialResult));
        break;
    }
  }

  /** The stream was cut here. */
  cut() {
    if (this.#text !== "") this.#teller.line(this.#turn, `${this.#text}…`);
    this.#text = "";
    this.#streamed = 0;
  }

  #printUpdate({ message }) {
    const text = getText(message);
    // A retried answer begins anew.
    if (text.length < this.#streamed) this.cut();
    this.#stream(text.slice(this.#streamed));
  }

  #printMessage(message) {
    if (message.role === "user") this.#teller.say("you", getText(message), "cyan");
    if (message.role === "assistant") this.#printAnswer(message);
    if (message.role === "toolResult") this.#printResult(message);
  }

  #stream(text) {
    this.#streamed += text.length;
    const lines = `${this.#text}${text}`.split("\n");
    this.#text = lines.pop();
    for (const line of lines) this.#teller.say(this.#turn, line);
    while (this.#text.length > this.#teller.width) {
      const space = this.#text.lastIndexOf(" ", this.#teller.width);
      const end = space > 0 ? space : this.#teller.width;
      this.#teller.line(this.#turn, this.#text.slice(0, end));
      this.#text = this.#text.slice(end).trimStart();
    }
  }

  #printAnswer(message) {
    if (this.#streamed === 0) this.#stream(getText(message));
    if (this.#text !== "") this.#teller.line(this.#turn, this.#text);
    this.#text = "";
    this.#streamed = 0;
    for (const part of message.content) {
      if (part.type === "toolCall")
        this.#teller.line(this.#turn, `→ ${part.name} ${summarizeArguments(part.arguments)}`, "blue");
    }
  }

  #print(toolCallId, text) {
    const call = this.#calls.get(toolCallId) ?? { rest: "", told: 0, done: false };
    this.#calls.set(toolCallId, call);
    const lines = `${call.rest}${text}`.split("\n");
    call.rest = lines.pop();
    for (const line of lines) {
      if (call.done || call.told >= LIVE_LINES || NOISE.test(line)) continue;
      this.#teller.line(this.#turn, `│ ${line}`, "grey");
      call.told += 1;
      call.done = LAST_WORD.test(line);
    }
  }

  #printResult(message) {
    const live = this.#calls.get(message.toolCallId);
    this.#calls.delete(message.toolCallId);
    const text = getText(message).trimEnd();
    if (/outcome of this call is unknown/.test(text)) {
      for (const line of text.split("\n"))
        if (!NOISE.test(line)) this.#teller.say(this.#turn, `← ${line}`, "yellow");
      return;
    }
    const lines = text.split("\n");
    const shown = lines.slice(0, live === undefined ? RESULT_LINES : 1).map((line) => line.trim());
    const more = live === undefined && lines.length > RESULT_LINES ? `  … ${lines.length} lines` : "";
    const colour = message.isError ? "yellow" : "grey";
    this.#teller.line(this.#turn, `← ${message.toolName}: ${shown.join(" ⏎ ")}${more}`, colour);
  }
}

function getText(message) {
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

function summarizeArguments(args) {
  if (typeof args !== "object" || args === null) return String(args ?? "");
  return String(args.command ?? args.path ?? args.pattern ?? JSON.stringify(args));
}

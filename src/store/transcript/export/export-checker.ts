import { isAttachment } from "../../../core/view/attachment.ts";
import { parseDataReference } from "../../../core/view/data-reference.ts";
import { formatCanonicalJson } from "../../../platform/text/canonical-json.ts";
import type { BodyLine, BranchLine, EntryLine, EventLine, LoopLine } from "../../../schema/export-line.ts";
import { AgentMessage } from "../../../schema/message.ts";
import { hashText } from "../sql/hash-text.ts";

type Branch = { readonly length: number; next: number };
type Loop = { readonly events: number; readonly branch: string; next: number };
type Section = {
  readonly id: string;
  readonly headBranch: string;
  readonly branches: Map<string, Branch>;
  readonly loops: Map<string, Loop>;
};

/** Checks that lines are consistent: all that they refer to is present, in order and complete. Throws an ordinary error. */
export class ExportChecker {
  readonly #expectedSessions: string[];
  /** Whether each text is a message, by hash. */
  readonly #contents = new Map<string, boolean>();
  #section: Section | undefined;

  constructor(sessions: readonly string[]) {
    this.#expectedSessions = [...sessions];
  }

  checkLine(line: BodyLine): void {
    if (line.type === "session") {
      this.#finishSection();
      const wanted = this.#expectedSessions.shift();
      if (wanted !== line.id) throw new Error(`expected session ${wanted ?? "none"}, found ${line.id}`);
      this.#section = { ...line, branches: new Map(), loops: new Map() };
      return;
    }
    const section = this.#section;
    if (section === undefined) throw new Error("the first line must be a session");
    if ("session" in line && line.session !== section.id) {
      throw new Error(
        `it belongs to session ${line.session}, but is among the lines of session ${section.id}`,
      );
    }
    switch (line.type) {
      case "loop":
        this.#checkLoop(section, line);
        return;
      case "branch":
        this.#checkBranch(section, line);
        return;
      case "definition":
        assertHash(hashText(formatCanonicalJson(line.definition)), line.hash, "the definition");
        return;
      case "content":
        assertHash(hashText(line.text), line.hash, "the text");
        this.#contents.set(line.hash, isMessageText(line.text));
        return;
      case "entry":
        this.#checkEntry(section, line);
        return;
      case "event":
        this.#checkEvent(section, line);
        return;
      case "evaluation":
      case "step":
      case "inbox":
        return;
    }
  }

  checkEnd(): void {
    this.#finishSection();
    const [missing] = this.#expectedSessions;
    if (missing !== undefined) throw new Error(`session ${missing} is missing`);
  }

  #finishSection(): void {
    const section = this.#section;
    if (section === undefined) return;
    if (!section.branches.has(section.headBranch))
      throw new Error(`the branch ${section.headBranch} is missing`);
    for (const [id, { length, next }] of section.branches) {
      if (next < length) throw new Error(`entries from ${next} to ${length} of branch ${id} are missing`);
    }
    for (const [id, { events, next, branch }] of section.loops) {
      if (next < events) throw new Error(`events from ${next} to ${events} of loop ${id} are missing`);
      if (!section.branches.has(branch)) throw new Error(`the branch ${branch} of loop ${id} is missing`);
    }
  }

  #checkLoop({ loops }: Section, { loopId, events, branch }: LoopLine): void {
    if (loops.has(loopId)) throw new Error(`loop ${loopId} occurs twice`);
    loops.set(loopId, { events, branch, next: 0 });
  }

  #checkBranch({ branches }: Section, { id, parent, length }: BranchLine): void {
    if (branches.has(id)) throw new Error(`branch ${id} occurs twice`);
    const from = parent === undefined ? undefined : branches.get(parent.branch);
    if (parent !== undefined && from === undefined)
      throw new Error(`branch ${id} forks from ${parent.branch}, which is missing`);
    branches.set(id, { length, next: parent?.position ?? 0 });
  }

  #checkEntry({ branches }: Section, { branch, position, message, content }: EntryLine): void {
    const at = branches.get(branch);
    if (at === undefined) throw new Error(`branch ${branch} is missing`);
    if (position !== at.next || position >= at.length) {
      throw new Error(`the next entry of branch ${branch} is ${at.next} of ${at.length}, found ${position}`);
    }
    at.next += 1;
    if ((message === undefined) === (content === undefined))
      throw new Error("an entry must contain a message or refer to one");
    if (content !== undefined && !this.#contents.has(content))
      throw new Error(`the text ${content} is missing before this line`);
    if (content !== undefined && this.#contents.get(content) === false)
      throw new Error(`the text ${content} is not a message`);
    if (message !== undefined && !isMessage(message)) throw new Error("this is not a message");
  }

  #checkEvent({ loops }: Section, { loopId, sequence }: EventLine): void {
    const loop = loops.get(loopId);
    if (loop === undefined) throw new Error(`loop ${loopId} is missing`);
    if (sequence !== loop.next || sequence >= loop.events) {
      throw new Error(
        `the next event of loop ${loopId} is ${loop.next} of ${loop.events}, found ${sequence}`,
      );
    }
    loop.next += 1;
  }
}

function isMessageText(text: string): boolean {
  try {
    return isMessage(JSON.parse(text));
  } catch {
    return false;
  }
}

/** A message of a file contains its data: a reference would name data of this transcript. */
function isMessage(value: unknown): boolean {
  const { success, data } = AgentMessage.safeParse(value);
  if (!success || data.role === "extension") return success;
  return !data.content.some((part) => isAttachment(part) && parseDataReference(part.data) !== undefined);
}

function assertHash(found: string, expected: string, message: string): void {
  if (found !== expected) throw new Error(`${message} has the hash ${found}, not ${expected}`);
}

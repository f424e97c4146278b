import type { ImageContent } from "../../schema/message.ts";
import { markSequence } from "./palette.ts";

// Images in terminals that display them: the graphics protocol of kitty, which Ghostty has too, and that of iTerm2, which
// WezTerm has too. An image of another terminal is one line of text.

/** How a terminal displays images. */
export type ImageProtocol = "kitty" | "iterm";

/** The height of an image in lines of text: a screen shows it together with the text that is about it. */
const ROWS = 12;

/** The kitty protocol splits data into chunks of this size. */
const CHUNK_CHARS = 4096;

/** Larger images are not displayed: the terminal may be on another host. */
const MAX_DATA_CHARS = 8 * 1024 * 1024;

const ESCAPE = "\u001b";

/** Finds out how a terminal displays images. A multiplexer such as tmux loses them, or places them in the wrong pane. */
export function detectImageProtocol(
  stream: { readonly isTTY?: boolean | undefined },
  env: NodeJS.ProcessEnv,
): ImageProtocol | undefined {
  const { TERM: term = "", TERM_PROGRAM: program = "", LC_TERMINAL: outer = "" } = env;
  if (stream.isTTY !== true || env["TMUX"] !== undefined || env["STY"] !== undefined) return undefined;
  if (term.startsWith("screen") || term.startsWith("tmux")) return undefined;
  const isKitty = env["KITTY_WINDOW_ID"] !== undefined || term === "xterm-kitty" || term === "xterm-ghostty";
  if (isKitty || program === "ghostty") return "kitty";
  return program === "iTerm.app" || program === "WezTerm" || outer === "iTerm2" ? "iterm" : undefined;
}

/** Formats an image for a terminal; nothing if it cannot display this one. */
export function formatTerminalImage(
  { data, mimeType }: Pick<ImageContent, "data" | "mimeType">,
  protocol: ImageProtocol,
): string | undefined {
  // The data is written between control characters: nothing but base64 may be there.
  if (data.length > MAX_DATA_CHARS || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
  if (protocol === "iterm") {
    return markSequence(`${ESCAPE}]1337;File=inline=1;preserveAspectRatio=1;height=${ROWS}:${data}\u0007`);
  }
  // Of all formats, kitty decodes only this one itself.
  if (mimeType !== "image/png") return undefined;
  const chunks = data.match(new RegExp(`.{1,${CHUNK_CHARS}}`, "g")) ?? [];
  const commands = chunks.map((chunk, index) => {
    const first = index === 0 ? `a=T,f=100,q=2,r=${ROWS},` : "";
    return markSequence(`${ESCAPE}_G${first}m=${index < chunks.length - 1 ? 1 : 0};${chunk}${ESCAPE}\\`);
  });
  return commands.join("");
}

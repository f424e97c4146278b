import type { Palette } from "../palette.ts";
import type { EditorTheme, MarkdownTheme } from "./pi-tui.ts";

type Style = (text: string) => string;

/** The colours and attributes of the chat's screen. `Palette`: what is formatted for other output can be displayed here. */
export type ChatTheme = Palette & {
  readonly italic: Style;
  readonly underline: Style;
  readonly strikethrough: Style;
  readonly markdown: MarkdownTheme;
  readonly editor: EditorTheme;
};

/** Colours of ECMA-48, which the user's terminal maps to the colours of its own theme. */
const COLOURS = { dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;
/** Attributes, which are no colours: they stay where `NO_COLOR` is set. */
const ATTRIBUTES = { bold: [1, 22], italic: [3, 23], underline: [4, 24], strikethrough: [9, 29] } as const;

export function createChatTheme(isColoured: boolean): ChatTheme {
  const plain: Style = (text) => text;
  const colour = (name: keyof typeof COLOURS): Style => (isColoured ? createStyle(COLOURS[name]) : plain);
  const [dim, cyan] = [colour("dim"), colour("cyan")];
  const bold = createStyle(ATTRIBUTES.bold);
  const italic = createStyle(ATTRIBUTES.italic);
  const underline = createStyle(ATTRIBUTES.underline);
  const strikethrough = createStyle(ATTRIBUTES.strikethrough);
  return {
    dim,
    bold,
    red: colour("red"),
    green: colour("green"),
    yellow: colour("yellow"),
    cyan,
    italic,
    underline,
    strikethrough,
    markdown: {
      heading: cyan,
      link: underline,
      linkUrl: dim,
      code: cyan,
      codeBlock: plain,
      codeBlockBorder: dim,
      quote: plain,
      quoteBorder: dim,
      hr: dim,
      listBullet: cyan,
      bold,
      italic,
      underline,
      strikethrough,
    },
    editor: {
      borderColor: dim,
      selectList: {
        selectedPrefix: cyan,
        selectedText: (text) => bold(cyan(text)),
        description: dim,
        scrollInfo: dim,
        noMatch: dim,
      },
    },
  };
}

/** An inner style may end the outer one, which is then begun again. */
function createStyle([on, off]: readonly [number, number]): Style {
  const [begin, end] = [on, off].map((code) => `${String.fromCodePoint(27)}[${code}m`) as [string, string];
  return (text) => (text === "" ? "" : `${begin}${text.replaceAll(end, `${end}${begin}`)}${end}`);
}

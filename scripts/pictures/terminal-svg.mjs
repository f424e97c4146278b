/** The colours of the picture: GitHub's dark ones, in the order of a terminal's sixteen. */
const PALETTE = (
  "#484f58 #ff7b72 #3fb950 #d29922 #58a6ff #bc8cff #39c5cf #b1bac4 " +
  "#6e7681 #ffa198 #56d364 #e3b341 #79c0ff #d2a8ff #56d4dd #f0f6fc"
).split(" ");
const BACKGROUND = "#0d1117";
const FOREGROUND = "#e6edf3";
/** The size of a cell in pixels, for a font size of 14. */
const CELL = { width: 8.43, height: 18 };
const MARGIN = 14;
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/** Draws rows of a terminal of @xterm/headless as an SVG. @param rows - The numbers of the rows in the buffer. */
export function drawTerminal(terminal, rows, title) {
  const { active } = terminal.buffer;
  const lines = rows.map((row) => listRuns(active.getLine(row), terminal.cols));
  const width = Math.ceil(terminal.cols * CELL.width + 2 * MARGIN);
  const height = Math.ceil(rows.length * CELL.height + 2 * MARGIN);
  const body = lines.flatMap((runs, row) => runs.map((run) => drawRun(run, row)));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${title}</title>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g font-family="${FONT}" font-size="14" xml:space="preserve">
${body.filter((one) => one !== "").join("\n")}
</g>
</svg>
`;
}

/** Joins cells of one style. */
function listRuns(line, columns) {
  const runs = [];
  for (let column = 0; column < columns; column += 1) {
    const cell = line?.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const style = readStyle(cell);
    const last = runs.at(-1);
    const text = cell.getChars() || " ";
    if (last !== undefined && JSON.stringify(last.style) === JSON.stringify(style)) {
      last.text += text;
      last.cells += cell.getWidth();
    } else runs.push({ column, text, cells: cell.getWidth(), style });
  }
  return runs;
}

function readStyle(cell) {
  const colour = readColour(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor()) ?? FOREGROUND;
  const behind = readColour(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor());
  const isInverse = cell.isInverse() !== 0;
  return {
    fill: isInverse ? (behind ?? BACKGROUND) : colour,
    behind: isInverse ? colour : behind,
    bold: cell.isBold() !== 0,
    italic: cell.isItalic() !== 0,
    dim: cell.isDim() !== 0,
    underline: cell.isUnderline() !== 0,
  };
}

function readColour(isRgb, isPalette, value) {
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  if (!isPalette) return undefined;
  if (value < 16) return PALETTE[value];
  if (value >= 232) return toHex([0, 0, 0].fill(8 + (value - 232) * 10));
  const steps = [0, 95, 135, 175, 215, 255];
  const index = value - 16;
  return toHex([steps[Math.floor(index / 36)], steps[Math.floor(index / 6) % 6], steps[index % 6]]);
}

function toHex(parts) {
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function drawRun({ column, text, cells, style }, row) {
  const top = MARGIN + row * CELL.height;
  const toX = (cell) => (MARGIN + cell * CELL.width).toFixed(1);
  const toWidth = (count) => (count * CELL.width).toFixed(1);
  const area =
    style.behind === undefined
      ? ""
      : `<rect x="${toX(column)}" y="${top}" width="${toWidth(cells)}" height="${CELL.height}" fill="${style.behind}"/>`;
  const word = text.trim();
  if (word === "") return area;
  const spaces = text.length - text.trimStart().length;
  const width = toWidth(cells - (text.length - word.length));
  const attributes = [
    style.bold ? ' font-weight="bold"' : "",
    style.italic ? ' font-style="italic"' : "",
    style.dim ? ' opacity="0.6"' : "",
    style.underline ? ' text-decoration="underline"' : "",
  ].join("");
  // The length keeps columns aligned in every font.
  const content = word.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `${area}<text x="${toX(column + spaces)}" y="${top + 13}" textLength="${width}" fill="${style.fill}"${attributes}>${content}</text>`;
}

/** An image of one pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

/** The beginning of a PNG, which is all that is looked at, and a text in place of the rest. */
export function createPng(text: string): Buffer {
  return Buffer.concat([PNG.subarray(0, 33), Buffer.from(text)]);
}

/** As much of a PDF document of one page as is looked at. */
export const PDF = Buffer.from("%PDF-1.4\n1 0 obj\n<< /Type /Pages /Count 1 >>\nendobj\n%%EOF\n");

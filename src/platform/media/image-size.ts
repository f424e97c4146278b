/** The size of an image in pixels. */
export type ImageSize = { readonly width: number; readonly height: number };

/** Reads the size of a PNG, GIF, JPEG or WebP image; nothing where the bytes do not say it. */
export function readImageSize(bytes: Uint8Array, mimeType: string): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    switch (mimeType) {
      case "image/png":
        return { width: view.getUint32(16), height: view.getUint32(20) };
      case "image/gif":
        return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
      case "image/jpeg":
        return readJpegSize(view);
      case "image/webp":
        return readWebpSize(view);
      default:
        return undefined;
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Finds the frame header: the first SOF marker, which is none of DHT, JPG and DAC. */
function readJpegSize(view: DataView): ImageSize | undefined {
  const others = new Set([0xc4, 0xc8, 0xcc]);
  for (let at = 2; at < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && !others.has(marker)) {
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    }
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** Reads the three forms of WebP: lossy, lossless, extended. */
function readWebpSize(view: DataView): ImageSize | undefined {
  const form = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)));
  const getUint24 = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  if (form === "VP8X") return { width: getUint24(24) + 1, height: getUint24(27) + 1 };
  if (form === "VP8 ")
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (form !== "VP8L") return undefined;
  const bits = view.getUint32(21, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

import { deflateRawSync } from "node:zlib";

/** A zip archive of one entry, like pip's wheels. */
export function createZip(name: string, content: Buffer, deflated = true): Buffer {
  const packed = deflated ? deflateRawSync(content) : content;
  const nameBytes = Buffer.from(name);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(deflated ? 8 : 0, 4);
  // The checksum stays zero: the reader relies on sha256.
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(content.length, 18);
  common.writeUInt16LE(nameBytes.length, 22);
  const local = Buffer.concat([encodeSignature(0x04034b50), common, nameBytes, packed]);
  const directory = Buffer.concat([
    encodeSignature(0x02014b50),
    Buffer.from([20, 3]),
    common,
    Buffer.alloc(14),
    nameBytes,
  ]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, directory, encodeSignature(0x06054b50), end]);
}

function encodeSignature(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

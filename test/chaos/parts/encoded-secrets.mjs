/** A secret as bytes may hold it: as it is, in UTF-16, hex, backwards, and in base64 wherever in a longer text it begins. */
export function listEncodings(secret) {
  const bytes = Buffer.from(secret);
  const within = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    // Without the characters that neighbours have a part in.
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return {
    "as it is": bytes,
    "in UTF-16": Buffer.from(secret, "utf16le"),
    "in hex": Buffer.from(bytes.toString("hex")),
    backwards: Buffer.from([...secret].reverse().join("")),
    ...Object.fromEntries(within.map((text, nth) => [`in base64 (${nth})`, Buffer.from(text)])),
  };
}

/** @returns Each secret that a place holds: `[{ place, name, form }]`. */
export function findSecrets(places, secrets) {
  return places.flatMap(({ place, bytes }) =>
    Object.entries(secrets).flatMap(([name, secret]) =>
      Object.entries(listEncodings(secret)).flatMap(([form, found]) =>
        bytes.includes(found) ? [{ place, name, form }] : [],
      ),
    ),
  );
}

/** Returns the forms in which a secret may be found: plain, hex, base64 at any offset, URL-encoded, within JSON. */
export function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const inJson = JSON.stringify(secret).slice(1, -1);
  const found = [
    secret,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    encodeURIComponent(secret),
    hex,
    hex.toUpperCase(),
  ];
  for (const encoding of ['base64', 'base64url'] as const)
    for (const shift of [0, 1, 2]) {
      const text = Buffer.concat([Buffer.alloc(shift), bytes])
        .toString(encoding)
        .replace(/=+$/, '');
      // The first and the last characters also hold bits of the bytes beside the secret.
      found.push(text.slice(shift === 0 ? 0 : shift + 1, -1));
    }
  return [...new Set(found)];
}

export type Secrets = ReadonlyMap<string, string>;

/** Returns the names of the secrets that are in these bytes. */
export function secretsIn(place: Buffer | string, secrets: Secrets): string[] {
  const text = Buffer.isBuffer(place) ? place.toString('latin1') : Buffer.from(place).toString('latin1');
  return [...secrets]
    .filter(([, secret]) =>
      // A short number may be part of other numbers, so it must stand alone.
      /^\d{1,8}$/.test(secret)
        ? new RegExp(`(?<![\\w.-])${secret}(?![\\w.-])`).test(text)
        : spellings(secret).some((spelling) => text.includes(Buffer.from(spelling).toString('latin1'))),
    )
    .map(([name]) => name);
}

/** The spellings that a secret may be found in: as it is, in hex, in base64 wherever it begins, for a URL, within JSON. */
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
      // The first and the last characters hold bits of what stands beside it.
      found.push(text.slice(shift === 0 ? 0 : shift + 1, -1));
    }
  return [...new Set(found)];
}

export type Secrets = ReadonlyMap<string, string>;

/** Which of the secrets lie in these bytes, by name. */
export function secretsIn(place: Buffer | string, secrets: Secrets): string[] {
  const text = Buffer.isBuffer(place) ? place.toString('latin1') : Buffer.from(place).toString('latin1');
  return [...secrets]
    .filter(([, secret]) =>
      // So short that it stands in other numbers too.
      /^\d{1,8}$/.test(secret)
        ? new RegExp(`(?<![\\w.-])${secret}(?![\\w.-])`).test(text)
        : spellings(secret).some((spelling) => text.includes(Buffer.from(spelling).toString('latin1'))),
    )
    .map(([name]) => name);
}

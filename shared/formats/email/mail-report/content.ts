/** The fields that describe a part (RFC 2045). */

/** The longest text that is read of a field. No type, name or boundary in use comes near. */
const longest = 1_000;
const parameter = /;[ \t]*([!#-'*+.0-9A-Z^-~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"?|([^;\s]*))/g;

/** Returns the type in lower case, without parameters; text/plain when there is no type that can be read. */
export function typeOf(contentType: string): string {
  const [type] = /^[!#-'*+.0-9A-Z^-~-]+\/[!#-'*+.0-9A-Z^-~-]+/.exec(contentType.slice(0, longest)) ?? [];
  return type?.toLowerCase() ?? 'text/plain';
}

/** Returns the boundary between the parts of a multipart, without its hyphens; null for a part that has no parts. */
export function boundaryOf(contentType: string): string | null {
  if (!typeOf(contentType).startsWith('multipart/')) return null;
  for (const [, name, quoted, plain] of contentType.slice(0, longest).matchAll(parameter))
    if (name?.toLowerCase() === 'boundary')
      return (quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '').trimEnd() || null;
  return null;
}

/** The content transfer encoding, in lower case. */
export function encodingOf(field: string): string {
  return /[\w-]+/.exec(field.slice(0, longest))?.[0].toLowerCase() ?? '';
}

/** Decodes a body in which each character stands for one byte. A faulty encoding is decoded as far as possible. */
export function decoded(body: string, encoding: string): string {
  return new TextDecoder().decode(bytesOf(body, encoding));
}

function bytesOf(body: string, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64');
  if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1');
  const joined = body.replace(/=[ \t]*\r?\n/g, '');
  const characters = joined.replace(/=([0-9a-f]{2})/gi, (_code, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(characters, 'latin1');
}

/** The fields of a part that say what it is (RFC 2045). */

/** No type, name or boundary that is in use comes near. */
const longest = 1_000;
const parameter = /;[ \t]*([!#-'*+.0-9A-Z^-~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"?|([^;\s]*))/g;

/** In lower case, without parameters; text/plain where nothing is said that can be read. */
export function typeOf(contentType: string): string {
  const [type] = /^[!#-'*+.0-9A-Z^-~-]+\/[!#-'*+.0-9A-Z^-~-]+/.exec(contentType.slice(0, longest)) ?? [];
  return type?.toLowerCase() ?? 'text/plain';
}

/** The line between the parts of a multipart, without its hyphens; null for a part that has no parts. */
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

/** The text of a body, of which each character is a byte. An encoding that is wrong is read as far as it goes. */
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

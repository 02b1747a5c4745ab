import { boundaryOf, decoded, encodingOf, typeOf } from './content.ts';

/** A part of a message that holds no other parts. */
type MimePart = {
  /** In lower case, without parameters. */
  type: string;
  /** Decoded, and read as UTF-8. */
  text: () => string;
};

export type MimeMessage = {
  type: string;
  /** Returns the values of a header field of the message itself, unfolded, one for each occurrence. */
  values: (name: string) => string[];
  /** In their order. A message within the message is one part, whatever it holds. */
  parts: MimePart[];
};

/** The message has more parts, levels, fields or header bytes than any report has. */
export class TooComplex extends Error {}

const most = { parts: 100, depth: 16, fields: 1_000, headerBytes: 128 * 1024 };

/** Name in lower case -> the lines of each value. */
type PartHeader = Map<string, string[][]>;
type Leaf = { type: string; encoding: string; from: number; to: number };

/**
 * Splits a message into its parts (RFC 5322, RFC 2046) as far as reports need it, and renders nothing. Reads each
 * line once, so the time grows with the length only, even for hostile input. Throws TooComplex.
 */
export function partsOf(raw: Uint8Array): MimeMessage {
  // One character for each byte.
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1');
  const count = startCounts();
  const leaves: Leaf[] = [];
  /** The boundaries of the open multiparts, the outermost first. */
  const boundaries: string[] = [];
  const own: PartHeader = new Map();
  /** Null outside of a header. */
  let header: PartHeader | null = own;
  let value: string[] = [];

  for (let at = 0, next = 0; at < text.length; at = next) {
    const newline = text.indexOf('\n', at);
    next = newline < 0 ? text.length : newline + 1;
    const end = lineEnd(text, next, at);
    const delimiter = delimiterAt(at, end);
    if (delimiter) {
      endHeader(at);
      endLeaf(at);
      boundaries.length = delimiter.isLast ? delimiter.level : delimiter.level + 1;
      header = delimiter.isLast ? null : new Map();
      if (header) count.part();
    } else if (!header) continue;
    else if (end === at) endHeader(next);
    else takeHeaderLine(header, text.slice(at, end));
  }
  endHeader(text.length);
  endLeaf(text.length);

  function delimiterAt(at: number, end: number): { level: number; isLast: boolean } | null {
    if (!text.startsWith('--', at)) return null;
    const level = boundaries.findLastIndex((boundary) => {
      const after = at + 2 + boundary.length;
      return text.startsWith(boundary, at + 2) && /^(?:--)?[ \t]*$/.test(text.slice(after, end));
    });
    return level < 0 ? null : { level, isLast: text.startsWith('--', at + 2 + boundaries[level]!.length) };
  }

  function takeHeaderLine(into: PartHeader, line: string): void {
    count.headerLine(line);
    if (line.startsWith(' ') || line.startsWith('\t')) {
      value.push(line);
      return;
    }
    const [start, name] = /^([!-9;-~]{1,100})[ \t]*:/.exec(line) ?? ['', null];
    value = [line.slice(start.length)];
    // The line is no field, and neither are the folded lines after it.
    if (name === null) return;
    const values = into.get(name.toLowerCase());
    if (values) values.push(value);
    else into.set(name.toLowerCase(), [value]);
  }

  function endHeader(bodyAt: number): void {
    if (!header) return;
    const contentType = valuesOf(header, 'content-type')[0] ?? '';
    const boundary = boundaryOf(contentType);
    if (boundary === null) {
      const encoding = encodingOf(valuesOf(header, 'content-transfer-encoding')[0] ?? '');
      leaves.push({ type: typeOf(contentType), encoding, from: bodyAt, to: -1 });
    } else {
      boundaries.push(boundary);
      count.depth(boundaries.length);
    }
    header = null;
  }

  /** The line end before a boundary belongs to the boundary. */
  function endLeaf(at: number): void {
    const leaf = leaves.at(-1);
    if (leaf?.to !== -1) return;
    leaf.to = lineEnd(text, at, leaf.from);
  }

  return {
    type: typeOf(valuesOf(own, 'content-type')[0] ?? ''),
    values: (name) => valuesOf(own, name),
    parts: leaves.map(({ type, encoding, from, to }) => ({
      type,
      text: () => decoded(text.slice(from, to), encoding),
    })),
  };
}

/** Returns the end of the text before `end` without its last line end, but never less than `start`. */
function lineEnd(text: string, end: number, start: number): number {
  if (end <= start || text[end - 1] !== '\n') return end;
  return end - 1 > start && text[end - 2] === '\r' ? end - 2 : end - 1;
}

function valuesOf(header: PartHeader, name: string): string[] {
  return (header.get(name) ?? []).map((lines) => lines.join('').trim());
}

function startCounts() {
  const seen = { parts: 1, fields: 0, headerBytes: 0 };
  return {
    part(): void {
      seen.parts += 1;
      if (seen.parts > most.parts) throw new TooComplex(`has more than ${most.parts} parts`);
    },
    depth(depth: number): void {
      if (depth > most.depth) throw new TooComplex(`has parts more than ${most.depth} deep`);
    },
    headerLine(line: string): void {
      seen.headerBytes += line.length;
      if (!/^[ \t]/.test(line)) seen.fields += 1;
      if (seen.headerBytes > most.headerBytes)
        throw new TooComplex(`has more than ${most.headerBytes / 1024} KiB of headers`);
      if (seen.fields > most.fields) throw new TooComplex(`has more than ${most.fields} header fields`);
    },
  };
}

import * as fc from 'fast-check';

/** Generates damaged versions of a message: bytes dropped, inserted or repeated. */
export const mangled = (raw: Buffer) =>
  fc
    .array(
      fc.record({
        at: fc.nat(raw.length),
        drop: fc.nat(200),
        insert: fc.oneof(
          fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
          fc
            .constantFrom(
              '\r\n',
              '\r\n\r\n',
              '\0',
              ':',
              ';',
              '--==report==',
              '--==report==--',
              '"',
              '<',
              '>',
              ' ',
              '\xff',
            )
            .map((text) => Buffer.from(text, 'latin1')),
          fc
            .record({ from: fc.nat(raw.length), length: fc.nat(400) })
            .map(({ from, length }) => raw.subarray(from, from + length)),
        ),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((edits) =>
      edits.reduce(
        (bytes, { at, drop, insert }) =>
          Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + drop)]),
        raw,
      ),
    );

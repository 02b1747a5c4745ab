import { encodePdu, encodeShortMessage, text } from '../../../shared/transports/sms/smpp/pdu.ts';
import type { Random } from '../../faults/storm/types.ts';
import { type Grammar, integer, many, maybe, oddNumber, oddText, oneOf, sequence } from '../grammar.ts';

const number = oneOf('+447700900123', "'07700900124", '4.47701E+11', oddNumber);
const plain = oneOf('Ada', 'Grace', ' ', '', 'Zoë', oddNumber);
const quoted = sequence('"', oneOf(plain, 'a""b', 'a,b', 'two\nlines', oddText), oneOf('"', '"', '"x', ''));

/** A file of recipients, as spreadsheets write it or with mistakes. */
export const recipients: Grammar = (random) => {
  const end = oneOf('\r\n', '\n', '\r')(random);
  const separator = oneOf(',', ';', '\t')(random);
  const header = many(oneOf('recipient', 'name', 'city', 'content', quoted, ''), 1, 5, separator);
  const row = many(oneOf(number, plain, quoted), 1, 6, separator);
  const start = maybe('\ufeff', 0.2)(random) + maybe(end, 0.1)(random);
  return `${start}${header(random)}${end}${many(row, 0, 12, end)(random)}${maybe(end)(random)}`;
};

export const formBoundary = 'a-boundary';

/** A form with settings and a file, with mistakes that programs make without a library for forms. */
export const form: Grammar = (random) => {
  const line = oneOf('\r\n', '\r\n', '\r\n', '\n')(random);
  const name = oneOf(
    'name="settings"',
    'name="file"; filename="a.csv"',
    "name*=utf-8''file",
    'name=""',
    oddText,
  );
  const part = (own: Grammar, content: Grammar): Grammar =>
    sequence(
      `--${formBoundary}${line}Content-Disposition: form-data; `,
      own,
      maybe(`${line}Content-Type: text/csv; charset=`, 0.3),
      `${line}${line}`,
      content,
      line,
    );
  const settings = oneOf('{"content":"Hello"}', '{}', '{"content":', oddText);
  return sequence(
    part(oneOf('name="settings"', name), settings),
    maybe(part(name, recipients), 0.3),
    part(oneOf('name="file"; filename="a.csv"', name), recipients),
    oneOf(`--${formBoundary}--${line}`, `--${formBoundary}`, `--${formBoundary}--`, ''),
  )(random);
};

const stat = oneOf('DELIVRD', 'UNDELIV', 'EXPIRED', 'ENROUTE', 'nothing', oddText);
const receiptText = sequence(
  'id:',
  oneOf('a1b2', oddNumber, oddText),
  ' sub:001 stat:',
  stat,
  ' err:',
  oddNumber,
);

/** Several PDUs in one go, as carriers send them. */
export const pdus: Grammar = (random) => {
  const tlvs = (): [number, Buffer][] =>
    Array.from({ length: integer(random, 0, 3) }, () => [
      [0x001e, 0x0427, 0x0423, 0x0424, 0x020c][integer(random, 0, 4)]!,
      asciiOf(oneOf(receiptText, oddText, '\u0002', '')(random)),
    ]);
  const one = (): Buffer => {
    const message = asciiOf(oneOf(receiptText, oddText, '')(random)).subarray(0, 254);
    const address = { ton: byteOf(random), npi: byteOf(random), address: oneOf('447700900123', '')(random) };
    const body = encodeShortMessage({
      source: address,
      destination: address,
      esmClass: byteOf(random),
      validityPeriod: '',
      registeredDelivery: 1,
      dataCoding: byteOf(random),
      message,
      tlvs: new Map(tlvs()),
    });
    const id = [0x05, 0x05, 0x15, byteOf(random)][integer(random, 0, 3)]!;
    return encodePdu({
      id,
      status: byteOf(random),
      sequence: 1,
      body: random() < 0.7 ? body : text('reference'),
    });
  };
  return Buffer.concat(Array.from({ length: integer(random, 1, 4) }, one)).toString('latin1');
};

// A grammar makes text, in which only characters below 128 are one byte; other bytes come by mutation.
const byteOf = (random: Random): number => integer(random, 0, 127);
const asciiOf = (value: string): Buffer => Buffer.from(value.replaceAll(/[^\0-\x7f]/g, '?'));

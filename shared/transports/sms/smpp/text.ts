import { fromGsm7, partsOf, toGsm7 } from '../../../formats/sms/gsm-7.ts';
import type { InboundPlace } from '../gateway.ts';
import { type ShortMessage, type Tlvs, tags } from './pdu.ts';

/**
 * How a long text is sent: in parts with a header (udh, udh16) or with optional parameters (sar), or in one piece
 * (payload).
 */
export const longForms = ['udh', 'udh16', 'sar', 'payload'] as const;
type LongForm = (typeof longForms)[number];

/** The fields of a submit_sm that depend on the text. */
export type EncodedPart = Pick<ShortMessage, 'dataCoding' | 'message' | 'tlvs'> & { hasHeader: boolean };

const ucs2Coding = 0x08;
/** Elements of the user data header (3GPP TS 23.040 §9.2.3.24): concatenation with a reference of 8 bits, and of 16. */
const [concatenated8, concatenated16] = [0x00, 0x08];
// With sar and payload the carrier writes the header, with a reference of 8 bits at most carriers.
const headerBytes: Record<LongForm, number> = { udh: 6, udh16: 7, sar: 6, payload: 6 };

/**
 * Encodes a text into its parts. `reference` joins the parts at the phone; it must be the same for all parts and for
 * every retry.
 */
export function encodeText(
  content: string,
  { form, reference, gsmCoding }: { form: LongForm; reference: number; gsmCoding: number },
): EncodedPart[] {
  const { encoding, parts } = partsOf(content, headerBytes[form]);
  const bytesOf = encoding === 'gsm7' ? toGsm7 : toUcs2;
  const dataCoding = encoding === 'gsm7' ? gsmCoding : ucs2Coding;
  const plain = (message: Buffer, tlvs: Tlvs = new Map()) => ({
    dataCoding,
    message,
    tlvs,
    hasHeader: false,
  });
  if (parts.length === 1) return [plain(bytesOf(content))];
  if (form === 'payload') return [plain(Buffer.alloc(0), new Map([[tags.messagePayload, bytesOf(content)]]))];
  return parts.map((part, index) => {
    const place = { reference, total: parts.length, part: index + 1 };
    if (form === 'sar') return plain(bytesOf(part), sarOf(place));
    return { ...plain(Buffer.concat([headerOf(place, form), bytesOf(part)])), hasHeader: true };
  });
}

function headerOf({ reference, total, part }: InboundPlace, form: 'udh' | 'udh16'): Buffer {
  return form === 'udh'
    ? Buffer.from([5, concatenated8, 3, reference & 0xff, total, part])
    : Buffer.from([6, concatenated16, 4, (reference >> 8) & 0xff, reference & 0xff, total, part]);
}

function sarOf({ reference, total, part }: InboundPlace): Tlvs {
  return new Map([
    [tags.sarMessageReference, Buffer.from([(reference >> 8) & 0xff, reference & 0xff])],
    [tags.sarTotalSegments, Buffer.from([total])],
    [tags.sarSegmentNumber, Buffer.from([part])],
  ]);
}

function toUcs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

/** A text that came in, or a part of one. */
type DecodedText = { content: string; place: InboundPlace | null };

/**
 * Decodes a text or a part of one. `defaultAlphabet`: the meaning of data_coding 0, which most carriers use for the
 * GSM alphabet and others for Latin-1.
 */
export function decodeText(pdu: ShortMessage, defaultAlphabet: 'gsm7' | 'latin1'): DecodedText {
  const { dataCoding, esmClass, tlvs } = pdu;
  let bytes = pdu.message.length > 0 ? pdu.message : (tlvs.get(tags.messagePayload) ?? Buffer.alloc(0));
  let place = placeBySar(tlvs);
  // §5.2.12: bit 6 says that a header comes first.
  if ((esmClass & 0x40) !== 0 && bytes.length > 0) {
    const end = Math.min(bytes.length, 1 + bytes[0]!);
    place = placeByHeader(bytes.subarray(1, end)) ?? place;
    bytes = bytes.subarray(end);
  }
  return { content: contentOf(bytes, { dataCoding, defaultAlphabet, isPart: place !== null }), place };
}

function contentOf(
  bytes: Buffer,
  {
    dataCoding,
    defaultAlphabet,
    isPart,
  }: { dataCoding: number; defaultAlphabet: 'gsm7' | 'latin1'; isPart: boolean },
): string {
  // §5.2.19. Message classes (0xF0 and the groups before it) say the alphabet in two bits (3GPP TS 23.038 §4).
  const isUcs2 =
    dataCoding === ucs2Coding || (dataCoding < 0xc0 && dataCoding >= 0x10 && (dataCoding & 0x0c) === 0x08);
  if (isUcs2)
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString('utf16le');
  const isLatin1 = [0x01, 0x03].includes(dataCoding) || (dataCoding === 0 && defaultAlphabet === 'latin1');
  return isLatin1 ? bytes.toString('latin1') : fromGsm7(bytes, { isPart });
}

function placeBySar(tlvs: Tlvs): InboundPlace | null {
  const reference = tlvs.get(tags.sarMessageReference);
  const [total, part] = [tlvs.get(tags.sarTotalSegments)?.[0], tlvs.get(tags.sarSegmentNumber)?.[0]];
  if (reference?.length !== 2 || total === undefined || part === undefined) return null;
  return checked({ reference: reference.readUInt16BE(0), total, part });
}

function placeByHeader(header: Buffer): InboundPlace | null {
  let at = 0;
  while (at + 2 <= header.length) {
    const [kind, length] = [header[at]!, header[at + 1]!];
    const value = header.subarray(at + 2, at + 2 + length);
    if (kind === concatenated8 && value.length === 3)
      return checked({ reference: value[0]!, total: value[1]!, part: value[2]! });
    if (kind === concatenated16 && value.length === 4)
      return checked({ reference: value.readUInt16BE(0), total: value[2]!, part: value[3]! });
    at += 2 + length;
  }
  return null;
}

/** Returns null for an impossible place. The part is then a text of its own, so that nothing is lost. */
function checked(place: InboundPlace): InboundPlace | null {
  return place.total > 1 && place.part >= 1 && place.part <= place.total ? place : null;
}

/** Returns a reference that is the same for each part and each retry of a text, because phones join parts by it. */
export function referenceOf(id: string): number {
  let hash = 0;
  for (const character of id) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0;
  return (hash ^ (hash >>> 16)) & 0xffff;
}

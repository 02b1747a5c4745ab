import { hash } from 'node:crypto';
import { startOf } from '../../formats/folded-text.ts';

/**
 * Columns for text from outside servers, endpoints and gateways. Such a text may have any length, and the outcome of a
 * message must be stored even with a very long one. A test compares this list with the tables. `isName`: two different
 * texts must stay different.
 */
export const outsideColumns = {
  'emails.reason_code': { characters: 40, isAscii: true },
  'emails.reason_description': { characters: 1000 },
  'emails.subject': { characters: 1000 },
  'sms_messages.gateway_reference': { bytes: 64, isName: true },
  'sms_messages.reason_code': { characters: 40, isAscii: true },
  'sms_messages.reason_description': { characters: 1000 },
  'sms_parts.reference': { bytes: 64, isName: true },
  'sms_receipts_unmatched.reason_code': { characters: 40, isAscii: true },
  'sms_receipts_unmatched.reason_description': { characters: 1000 },
  'sms_receipts_unmatched.reference': { bytes: 64, isName: true },
  'suppressions.reason': { characters: 256 },
  'webhook_deliveries.error': { characters: 20, isAscii: true },
  'webhook_deliveries.response_body': { characters: 1024 },
  'webhook_hosts.host': { bytes: 260 },
} as const satisfies Record<string, Width>;

export type OutsideColumn = keyof typeof outsideColumns;
type Width =
  | { characters: number; isAscii?: boolean; bytes?: undefined }
  | { bytes: number; isName?: boolean; characters?: undefined };

/** Cuts a text to the length of its column; replaces a name that is too long by its hash. */
export function fitting<Text extends string | null>(column: OutsideColumn, text: Text): Text;
export function fitting(column: OutsideColumn, text: string | null): string | null {
  if (text === null) return null;
  const width: Width = outsideColumns[column];
  // In JSON, half of a surrogate pair would make a whole batch unreadable to the server.
  const whole = text.toWellFormed();
  if (width.bytes !== undefined) {
    const start = startOf(whole, width.bytes);
    return start === whole || !width.isName ? start : hash('sha256', whole, 'hex').slice(0, width.bytes);
  }
  const storable = width.isAscii ? whole.replace(/[^\x20-\x7e]/gu, '?') : whole;
  return firstCharacters(storable, width.characters);
}

/** Cuts a text as MySQL measures it: in code points. */
function firstCharacters(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = 0;
  for (let count = 0; count < most && end < text.length; count += 1)
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

import {
  type InnerList,
  type Item,
  isInnerList,
  parseDictionary,
  serializeInnerList,
} from 'structured-headers';

/** One label of Signature-Input. */
export type SignatureInput = {
  label: string;
  /** The text after the label, as it was sent. */
  text: string;
  /** The text in the only form in which it is signed (RFC 9421 §2.3); null if it is no list of components. */
  params: string | null;
  /** The covered components in order; null where one has parameters or is no string. */
  names: string[] | null;
  parameters: ReadonlyMap<string, unknown>;
};

/** One label of Signature; the value is null where it is no plain byte sequence. */
export type SignatureValue = { label: string; value: Uint8Array | null };

/** The labels of a Signature-Input field; null when it is no dictionary. Stops at the first that is too many. */
export function parseSignatureInput(field: string, mostLabels: number): SignatureInput[] | null {
  const members = parseMembers(field, mostLabels + 1);
  return members && members.map(toInput);
}

function toInput({ label, text, value }: DictionaryMember): SignatureInput {
  const input = { label, text: text.slice(label.length + 1), parameters: value[1] };
  if (!isInnerList(value)) return { ...input, params: null, names: null };
  const [items] = value;
  const names = items.flatMap(([name, own]) => (typeof name === 'string' && own.size === 0 ? name : []));
  return {
    ...input,
    params: serializeInnerList(value),
    names: names.length === items.length ? names : null,
  };
}

/** The labels of a Signature field; null when it is no dictionary. Stops at the first that is too many. */
export function parseSignature(field: string, mostLabels: number): SignatureValue[] | null {
  const members = parseMembers(field, mostLabels + 1);
  return (
    members &&
    members.map(({ label, value: [value, parameters] }) => ({
      label,
      value: value instanceof ArrayBuffer && parameters.size === 0 ? new Uint8Array(value) : null,
    }))
  );
}

type DictionaryMember = { label: string; text: string; value: Item | InnerList };

const upToComma = /((?:[^",]|"(?:[^"\\]|\\.)*")+)(,?)/y;

/**
 * Parses the members of a dictionary one by one. The library keeps only the last of two members with one label (RFC
 * 8941 §4.2.2), and another reader of the request may keep the first.
 */
function parseMembers(field: string, most: number): DictionaryMember[] | null {
  const members: DictionaryMember[] = [];
  let end = 0;
  while (end < field.length && members.length < most) {
    upToComma.lastIndex = end;
    const [, text, comma] = upToComma.exec(field) ?? [];
    end = upToComma.lastIndex;
    // A comma at the end, no comma between two members, or a quote that stays open.
    if (text === undefined || (comma === ',') === (end === field.length)) return null;
    const member = parseMember(text.trim());
    if (!member) return null;
    members.push(member);
  }
  return members;
}

function parseMember(text: string): DictionaryMember | null {
  try {
    const [member] = parseDictionary(text);
    return member ? { label: member[0], text, value: member[1] } : null;
  } catch {
    return null;
  }
}

/** Lines and columns count from 1, as editors do. */
export type TextPosition = { line: number; column: number };

const byteOrderMark = '\ufeff';

/** Returns where a text stops being JSON (RFC 8259). The text must be one that JSON.parse refuses. */
export function jsonFaultPlace(text: string): TextPosition {
  const json = text.startsWith(byteOrderMark) ? text.slice(1) : text;
  const before = json.slice(0, jsonFaultIndex(json));
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: Array.from(before.slice(lineStart)).length + 1 };
}

type Awaited = 'value' | 'first item' | 'first name' | 'name' | 'colon' | 'comma';

const blank = /[ \t\n\r]*/y;
const plain = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Returns the index at which a text without a byte order mark stops being JSON. */
export function jsonFaultIndex(text: string): number {
  const open: ('{' | '[')[] = [];
  let awaited = 'value' as Awaited;
  let index = 0;
  for (;;) {
    index = endOf(blank, text, index);
    const character = text[index];
    if (character === undefined) return index;
    const isInObject = open.at(-1) === '{';
    if (awaited === 'comma') {
      if (open.length === 0) return index;
      if (character === ',') awaited = isInObject ? 'name' : 'value';
      else if (character === (isInObject ? '}' : ']')) open.pop();
      else return index;
      index += 1;
    } else if (awaited === 'colon') {
      if (character !== ':') return index;
      awaited = 'value';
      index += 1;
    } else if (
      (awaited === 'first name' && character === '}') ||
      (awaited === 'first item' && character === ']')
    ) {
      open.pop();
      awaited = 'comma';
      index += 1;
    } else if (character === '"') {
      const { end, isWhole } = endOfString(text, index);
      if (!isWhole) return end;
      awaited = awaited === 'name' || awaited === 'first name' ? 'colon' : 'comma';
      index = end;
    } else if (awaited === 'name' || awaited === 'first name') return index;
    else if (character === '{' || character === '[') {
      open.push(character);
      awaited = character === '{' ? 'first name' : 'first item';
      index += 1;
    } else {
      const end = endOf(plain, text, index);
      if (end === index) return index;
      awaited = 'comma';
      index = end;
    }
  }
}

function endOfString(text: string, start: number): { end: number; isWhole: boolean } {
  for (let index = start + 1; ; ) {
    const code = text.charCodeAt(index);
    if (code === 0x22) return { end: index + 1, isWhole: true };
    // The character is a control character, or NaN because the text ends within the string.
    if (!(code >= 0x20)) return { end: index, isWhole: false };
    const end = code === 0x5c ? endOf(escape, text, index) : index + 1;
    if (end === index) return { end, isWhole: false };
    index = end;
  }
}

function endOf(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : index;
}

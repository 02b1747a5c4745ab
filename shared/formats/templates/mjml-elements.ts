/**
 * Reads the structure of MJML from its source. Finds the faults that mjml itself ignores, with places that mjml does
 * not tell.
 */

type MjmlAttribute = { name: string; value: string };
export type MjmlElement = {
  name: string;
  start: number;
  /** After its closing tag; the end of the source when it is not closed. */
  end: number;
  /** Null: none. */
  parent: MjmlElement | null;
  attributes: MjmlAttribute[];
};
/** A piece whose text reaches the result, or may reach it. `name`: of the element or of the attribute. */
export type MjmlRegion = {
  kind: 'content' | 'attribute' | 'comment';
  name: string;
  start: number;
  end: number;
};
export type ElementFault = { at: number; message: string };
export type MjmlOutline = { elements: MjmlElement[]; regions: MjmlRegion[]; faults: ElementFault[] };

/** Elements whose content is text and HTML, handed on as it is. */
const withContent = new Set(
  `mj-breakpoint mj-preview mj-style mj-title mj-button mj-raw mj-text mj-table mj-social-element mj-navbar-link
   mj-accordion-text mj-accordion-title mj-carousel-image mj-html-attribute`.split(/\s+/),
);
const deepest = 50;
const mostFaults = 10;

const marks = /<(?:!--|!\[CDATA\[|[!?]|(\/?)([A-Za-z][^\s/>]*))/g;
const attributes = /\s*(?:(\/?>)|\/|([^\s=/>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?)/y;

/** Reads a source without Liquid (see `mask`). The time grows with the length only, whatever the source holds. */
export function outline(source: string): MjmlOutline {
  const elements: MjmlElement[] = [];
  const regions: MjmlRegion[] = [];
  const faults: ElementFault[] = [];
  const open: MjmlElement[] = [];
  let at = 0;

  const refuse = (place: number, message: string) => {
    if (faults.length < mostFaults) faults.push({ at: place, message });
  };
  const past = (end: string, from: number) => {
    const found = source.indexOf(end, from);
    return found < 0 ? source.length : found + end.length;
  };
  const checkText = (start: number, end: number) => {
    // An element that MJML does not know is refused as a whole.
    if (open.length > 0 && !open.at(-1)!.name.startsWith('mj')) return;
    const text = source.slice(start, end);
    const blank = text.length - text.trimStart().length;
    if (blank < text.length)
      refuse(start + blank, 'this text would be lost: put it into mj-text, or HTML into mj-raw');
  };
  const close = (name: string, start: number, end: number) => {
    const index = open.findLastIndex((element) => element.name === name);
    if (index < 0) return refuse(start, `</${name}> closes nothing`);
    for (const element of open.splice(index).toReversed()) {
      element.end = end;
      if (element.name !== name) refuse(element.start, `${element.name} is not closed`);
    }
  };

  while (at < source.length) {
    marks.lastIndex = at;
    const mark = marks.exec(source);
    checkText(at, mark?.index ?? source.length);
    if (!mark) break;
    const [text, slash, givenName] = mark;
    const start = mark.index;
    at = start + text.length;
    if (givenName === undefined) {
      at = past(text === '<!--' ? '-->' : text === '<![CDATA[' ? ']]>' : '>', at);
      if (text === '<!--') regions.push({ kind: 'comment', name: '', start, end: at });
      if (text === '<![CDATA[') refuse(start, 'CDATA would be lost: put it into mj-raw');
      continue;
    }
    const name = givenName.toLowerCase();
    if (slash) {
      at = past('>', at);
      close(name, start, at);
      continue;
    }
    const element: MjmlElement = {
      name,
      start,
      end: source.length,
      parent: open.at(-1) ?? null,
      attributes: [],
    };
    elements.push(element);
    const tag = readAttributes(source, at, element, regions);
    if (!tag) {
      refuse(start, `the tag of ${name} does not end`);
      break;
    }
    at = tag.end;
    if (tag.isClosed) element.end = at;
    else if (withContent.has(name)) {
      const content = readContent(source, at);
      regions.push({ kind: 'content', name, start: at, end: content?.start ?? source.length });
      if (!content) refuse(start, `${name} is not closed`);
      at = content?.end ?? source.length;
      element.end = at;
    } else {
      open.push(element);
      if (open.length > deepest) {
        refuse(start, `is nested more than ${deepest} levels deep`);
        return { elements, regions, faults };
      }
    }
  }
  for (const { name, start } of open) refuse(start, `${name} is not closed`);
  return { elements, regions, faults };
}

function readAttributes(
  source: string,
  from: number,
  element: MjmlElement,
  regions: MjmlRegion[],
): { end: number; isClosed: boolean } | null {
  attributes.lastIndex = from;
  for (let match = attributes.exec(source); match; match = attributes.exec(source)) {
    const [text, tagEnd, name, double, single, bare] = match;
    const end = match.index + text.length;
    if (tagEnd) return { end, isClosed: tagEnd === '/>' };
    if (name === undefined) continue;
    const value = double ?? single ?? bare ?? '';
    const valueEnd = bare === undefined ? end - 1 : end;
    if (value !== '')
      regions.push({ kind: 'attribute', name, start: valueEnd - value.length, end: valueEnd });
    element.attributes.push({ name, value });
  }
  return null;
}

const contentMarks = /<!--|<(\/?)(mj-[a-z-]+)/gi;

/**
 * Finds the end of the content and the end of its element. Such elements can nest in one another, whatever their
 * names.
 */
function readContent(source: string, from: number): { start: number; end: number } | null {
  let depth = 1;
  contentMarks.lastIndex = from;
  for (let mark = contentMarks.exec(source); mark; mark = contentMarks.exec(source)) {
    const [text, slash, name] = mark;
    const end = source.indexOf(name === undefined ? '-->' : '>', contentMarks.lastIndex);
    if (end < 0) return null;
    if (name !== undefined && withContent.has(name.toLowerCase())) {
      if (slash) depth -= 1;
      else if (source[end - 1] !== '/') depth += 1;
      if (depth === 0) return { start: mark.index, end: end + 1 };
    }
    contentMarks.lastIndex = text === '<!--' ? end + 3 : end + 1;
  }
  return null;
}

/**
 * Finds the faults in the outer structure of a document. Of elements outside of it mjml would take the last, or
 * nothing.
 */
export function frameFaults({ elements }: MjmlOutline): ElementFault[] {
  const [root] = elements;
  if (root?.name !== 'mjml') return [{ at: root?.start ?? 0, message: 'must be one mjml element' }];
  const faults: ElementFault[] = [];
  const seen = new Set<string>();
  for (const { name, start, parent } of elements) {
    if (parent === null && start !== root.start)
      faults.push({ at: start, message: `${name} is outside of mjml` });
    if (parent !== root) continue;
    if (!['mj-head', 'mj-body', 'mj-raw'].includes(name))
      faults.push({
        at: start,
        message: `${name} cannot be used inside mjml, only mj-head, mj-body and mj-raw`,
      });
    else if (name !== 'mj-raw' && seen.has(name))
      faults.push({ at: start, message: `there is more than one ${name}` });
    seen.add(name);
  }
  if (!seen.has('mj-body')) faults.push({ at: root.start, message: 'mjml has no mj-body' });
  return faults.slice(0, mostFaults);
}

/** Line and column, from 1. */
export function placeOf(source: string, at: number): { line: number; column: number } {
  const before = source.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: at - lineStart + 1 };
}

/** Returns the offset of a line and column, or the end of the source when there is no such place. */
export function offsetOf(source: string, line: number, column: number): number {
  let start = 0;
  for (let left = line - 1; left > 0; left -= 1) {
    const next = source.indexOf('\n', start);
    if (next < 0) return source.length;
    start = next + 1;
  }
  return Math.min(start + column - 1, source.length);
}

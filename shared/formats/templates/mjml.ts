import mjml2html from 'mjml';
import { liquidTokens, mask } from './liquid-tokens.ts';
import { frameFaults, type MjmlElement, outline, placeOf } from './mjml-elements.ts';
import { limitFaults } from './mjml-limits.ts';
import { type Hidden, hide, isLiquidInText } from './mjml-liquid.ts';

/**
 * Compiles customers' MJML. Runs only inside the sandbox, because code in the same process can neither interrupt mjml
 * nor limit its memory.
 */

export type MjmlFault = { message: string; line?: number; column?: number };
/** `html` is null when Liquid builds the structure, so that Liquid must be rendered first. */
type Compiled = { html: string | null; faults?: never } | { html?: never; faults: MjmlFault[] };

const largestHtml = 1024 * 1024;
const mostFaults = 10;
const tooLarge = { faults: [{ message: 'compiles to more than 1 MiB of HTML' }] };

/**
 * Compiles MJML to HTML. `isTemplate`: the source may have Liquid, which is kept. Otherwise braces mean nothing, and
 * a wrong value of an attribute is no fault, because it may come from the data of one email.
 */
export async function compile(source: string, isTemplate: boolean): Promise<Compiled> {
  const tokens = isTemplate ? liquidTokens(source) : [];
  const masked = mask(source, tokens);
  const structure = outline(masked);
  const hasLiquid = tokens.length > 0;
  if (hasLiquid && !isLiquidInText(structure, tokens)) return { html: null };
  const found = [...structure.faults, ...frameFaults(structure), ...limitFaults(masked, structure)];
  for (const { kind, name, start, end } of structure.regions) {
    if (kind !== 'content') continue;
    const at = masked.slice(start, end).search(/<mj-include/i);
    if (at >= 0) found.push({ at: start + at, message: `mj-include cannot be used inside ${name}` });
  }
  for (const { name, start } of structure.elements)
    if (name === 'mj-include')
      found.push({ at: start, message: 'mj-include can only be part of the source itself' });
  if (found.length > 0)
    return {
      faults: found.slice(0, mostFaults).map(({ at, message }) => ({ message, ...placeOf(source, at) })),
    };

  const hidden = hide(source, tokens);
  const result = await run(hidden.text);
  if ('thrown' in result) return { faults: [{ message: result.thrown }] };
  const faults = result.errors
    .filter(({ message }) => !isOfValue(message) || (isTemplate && !message.includes(hidden.prefix)))
    .map(({ line, tagName, message }) => ({
      message: wording(message),
      ...place(source, hidden, structure.elements, line, tagName),
    }));
  if (faults.length > 0) return { faults: faults.slice(0, mostFaults) };
  const html = hasLiquid ? hidden.restore(result.html) : result.html;
  return html !== null && Buffer.byteLength(html) > largestHtml ? tooLarge : { html };
}

type MjmlRun =
  | { html: string; errors: { line: number; tagName: string; message: string }[] }
  | { thrown: string };

async function run(text: string): Promise<MjmlRun> {
  try {
    return await mjml2html(text, {
      ignoreIncludes: true,
      keepComments: false,
      validationLevel: 'soft',
      // mjml's own list links to Google for its default font, which would tell Google of every reader. Authors who
      // want it write mj-font.
      fonts: {},
    });
  } catch (error) {
    const { name, message } = error as Error;
    if (name === 'RangeError') return { thrown: 'is nested too deeply, or compiles to too much HTML' };
    // Other messages of mjml may tell of this machine's files.
    const isAboutSource = /^(Unmatched selector|Empty sub-selector|Expected|Malformed)/.test(message);
    return {
      thrown: isAboutSource ? `could not be compiled: ${message.slice(0, 200)}` : 'could not be compiled',
    };
  }
}

const isOfValue = (message: string) => /^Attribute \S+ (?!is illegal)/.test(message);

function wording(message: string): string {
  const [, name] = /^Element (\S+) doesn't exist/.exec(message) ?? [];
  if (name === undefined) return message.trim();
  return name.startsWith('mj-')
    ? `there is no element ${name}`
    : `there is no element ${name}: put HTML into mj-text, mj-table or mj-raw`;
}

/** Finds the place in the source. mjml tells only the line in the text that it was given. */
function place(
  source: string,
  { text, sourceOffset }: Pick<Hidden, 'text' | 'sourceOffset'>,
  elements: MjmlElement[],
  line: number,
  tagName: string,
): { line: number; column: number } {
  let start = 0;
  for (let left = line - 1; left > 0; left -= 1) start = text.indexOf('\n', start) + 1;
  const lineEnd = text.indexOf('\n', start);
  const [first, last] = [sourceOffset(start), sourceOffset(lineEnd < 0 ? text.length : lineEnd)];
  const element = elements.find((one) => one.name === tagName && one.start >= first && one.start <= last);
  return placeOf(source, element?.start ?? first);
}

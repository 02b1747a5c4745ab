import { config } from '../../config/config.ts';
import { adapt, type Parted, partsOf, type Unicode } from '../../formats/sms/gsm-7.ts';
import { isLiquid } from '../../formats/templates/liquid-tokens.ts';
import * as sandbox from '../../sandbox/sandbox.ts';
import { sentence } from '../template-faults.ts';
import { type ShortenedLink, shorten } from './short-links/shorten.ts';

/** Makes the text of a message: renders Liquid, shortens links, and cuts the text into parts. */

/** `text` is sent; `links` are the URLs that were shortened in it. */
export type SmsText = Parted & { text: string; links: ShortenedLink[] };
type TextOptions = { unicode?: Unicode | undefined; shortenLinks?: boolean | undefined };
/** `isOfSource`: it is wrong whatever the data. */
type SmsFault = { part: 'content' | 'data'; message: string; isOfSource: boolean };
type SmsFailure = { ok: false; faults: SmsFault[]; busy?: never } | { ok: false; busy: true; faults?: never };
type RenderedSms = ({ ok: true } & SmsText) | SmsFailure;
type TextSource = { workspaceId: string; content: string; now: Date };

// The characters of a part, and room for those that `strip` drops.
const longestPart = 4 * 160;

/** The text of a message in its parts, or why no message can have it. */
export function inParts(
  text: string,
  { unicode = 'allow', shortenLinks = false }: TextOptions = {},
): ({ ok: true } & SmsText) | { ok: false; message: string } {
  const most = config.SMS_MAX_PARTS;
  const longest = most * longestPart;
  const tooMany = (count: string) => `takes ${count} parts; a message may have at most ${most}`;
  // Links are shortened before characters are replaced, or the link would lead elsewhere.
  const shortened = shortenLinks
    ? shorten(text.toWellFormed(), { longest })
    : { ok: true as const, text, links: [] };
  if (!shortened.ok) return shortened;
  const { text: short, links } = shortened;
  // Liquid can make a megabyte of text, which is refused by its length alone.
  if (short.length > longest) return { ok: false, message: tooMany('too many') };
  // Data can bring a NUL, for which a request's own text is refused, and Liquid can divide a surrogate pair.
  if (short.includes('\0')) return { ok: false, message: 'has a NUL character, which is not allowed' };
  const adapted = adapt(short.toWellFormed(), unicode);
  if (!adapted.ok) return adapted;
  if (adapted.text.trim() === '') return { ok: false, message: 'has no text to send' };
  const parted = partsOf(adapted.text);
  if (parted.parts.length > most) return { ok: false, message: tooMany(`${parted.parts.length}`) };
  return { ok: true, text: adapted.text, links, ...parted };
}

/** The message that a template makes of this data. */
export async function renderSms({
  workspaceId,
  content,
  data,
  now,
  ...options
}: TextSource & { data: Record<string, unknown> } & TextOptions): Promise<RenderedSms> {
  const rendered = await sandbox.render({ workspaceId, parts: partsOfSource(content), data, now });
  if (!rendered.ok) return toFailure(rendered);
  return toText(rendered.outputs[0]!, content, options);
}

/** One of many messages that are rendered together. `data`: JSON text of an object. */
type SmsRow = { content: string; data: string } & TextOptions;

const defaultMs = 5_000;

/**
 * Renders the messages of many rows in bulk, in their order. `shared`: JSON text of data for all rows, which the data
 * of a row overrides. A row that cannot be rendered fails alone. The rows left after `withinMs` are `busy`: the caller
 * takes the finished rows, and tries the busy ones again. At least one row is finished, except where the sandbox itself
 * is busy.
 */
export async function renderSmsMany({
  rows,
  shared = '{}',
  withinMs = defaultMs,
  ...request
}: {
  workspaceId: string;
  rows: readonly SmsRow[];
  shared?: string;
  now: Date;
  withinMs?: number;
}): Promise<RenderedSms[]> {
  const sources = rows.map(({ content, data }) => ({ source: content, data }));
  // A text that equals the one before is adapted and cut once.
  let last: { output: string; row: SmsRow; text: RenderedSms } | undefined;
  const resultOf = (output: string, index: number): RenderedSms => {
    const row = rows[index]!;
    if (last?.output === output && isLike(last.row, row) && !hasLinks(last.text)) return last.text;
    last = { output, row, text: toText(output, row.content, row) };
    return last.text;
  };
  const rendered = await sandbox.renderMany({
    ...request,
    rows: sources,
    shared,
    escape: false,
    withinMs,
    resultOf,
  });
  return rendered.map((one) => (one.ok ? one.result : toFailure(one)));
}

const isLike = (one: SmsRow, other: SmsRow) =>
  one.content === other.content && one.unicode === other.unicode && one.shortenLinks === other.shortenLinks;

/** Each message has links of its own. */
const hasLinks = (text: RenderedSms) => text.ok && text.links.length > 0;

function toText(rendered: string, content: string, options: TextOptions): RenderedSms {
  const fitted = inParts(rendered, options);
  if (fitted.ok) return fitted;
  const isOfSource = !isLiquid(content);
  const message = isOfSource ? fitted.message : `renders to a text that ${fitted.message}`;
  return { ok: false, faults: [{ part: 'content', message, isOfSource }] };
}

/** The faults of a source before it is used, and of the message made with `sampleData`. */
export async function checkSource({
  sampleData,
  ...source
}: TextSource & { sampleData: Record<string, unknown> | null }): Promise<{ ok: true } | SmsFailure> {
  const parsed = await sandbox.check({
    workspaceId: source.workspaceId,
    parts: partsOfSource(source.content),
  });
  if (!parsed.ok) return toFailure(parsed);
  // Without Liquid it is the same message with any data.
  if (sampleData === null && isLiquid(source.content)) return { ok: true };
  const rendered = await renderSms({ ...source, data: sampleData ?? {} });
  return rendered.ok ? { ok: true } : rendered;
}

function partsOfSource(content: string): sandbox.RenderPart[] {
  return [{ name: 'content', source: content, escape: false }];
}

function toFailure(result: Extract<sandbox.RenderResult, { ok: false }>): SmsFailure {
  if (result.busy) return { ok: false, busy: true };
  return {
    ok: false,
    faults: result.errors.map(({ part, parsing = false, ...error }) => ({
      part: part === 'data' ? 'data' : 'content',
      message: sentence(error),
      isOfSource: parsing,
    })),
  };
}

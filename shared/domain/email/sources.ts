import { type Expanded, largestMjml, origin } from '../../formats/templates/mjml-includes.ts';
import * as mjml from '../../sandbox/mjml.ts';
import * as sandbox from '../../sandbox/sandbox.ts';
import type { EmailFormat } from '../../schemas/email/templates.ts';
import { sentence } from '../template-faults.ts';
import { expandIncludes } from './includes.ts';

/** Renders and checks the sources of emails and email templates. */

/** The source of an email: written with the request, or stored as a template. */
export type EmailSource = { format: EmailFormat; html: string | null; text: string | null };
/** `isOfSource`: the source is wrong, whatever the data. */
export type TemplateSourceFault = {
  part: 'subject' | 'html' | 'text' | 'data';
  message: string;
  isOfSource: boolean;
};
type SourceFailure =
  | { ok: false; faults: TemplateSourceFault[]; busy?: never }
  | { ok: false; busy: true; faults?: never };
type RenderedEmail = { ok: true; subject: string | null; html: string | null; text: string | null };

type SourceRendering = {
  workspaceId: string;
  source: EmailSource;
  subject: string | null;
  data: Record<string, unknown>;
  now: Date;
};

/** Renders subject, html and text with the same data; compiles MJML before or after Liquid, as its source requires. */
export async function renderSource(rendering: SourceRendering): Promise<RenderedEmail | SourceFailure> {
  const { workspaceId, source } = rendering;
  const html = await liquidOf(workspaceId, source);
  if (!html.ok) return html;
  const parts = partsOf(rendering, html.liquid);
  const result = await sandbox.render({ ...rendering, parts });
  if (!result.ok) {
    if (result.busy) return { ok: false, busy: true };
    return { ok: false, faults: await inWords(rendering, html, result.errors) };
  }
  const output = (part: string) => result.outputs[parts.findIndex(({ name }) => name === part)] ?? null;
  const rendered = {
    ok: true,
    subject: output('subject'),
    html: output('html'),
    text: output('text'),
  } as const;
  if (!html.isLate || rendered.html === null) return rendered;
  const compiled = await compileRendered(workspaceId, rendered.html);
  return compiled.ok ? { ...rendered, html: compiled.html } : compiled;
}

/** Checks a source before it is used, and its result with `sampleData`. */
export async function checkSource(
  check: Omit<SourceRendering, 'subject' | 'data'> & { sampleData: Record<string, unknown> | null },
): Promise<{ ok: true } | SourceFailure> {
  const { workspaceId, source, sampleData } = check;
  const rendering = { ...check, subject: null, data: sampleData ?? {} };
  const written = await writtenOf(workspaceId, source);
  if (!written.ok) return written;
  const liquid = written.expanded?.text ?? source.html;
  const parsed = await sandbox.check({ workspaceId, parts: partsOf(rendering, liquid) });
  if (!parsed.ok) {
    if (parsed.busy) return { ok: false, busy: true };
    return { ok: false, faults: parsed.errors.map((error) => toFault(error, written.expanded)) };
  }
  const html = await liquidOf(workspaceId, source);
  if (!html.ok || sampleData === null) return html.ok ? { ok: true } : html;
  const rendered = await renderSource(rendering);
  return rendered.ok ? { ok: true } : rendered;
}

type ExpandedSource = { ok: true; expanded: Expanded | null };
/** `liquid`: the text that Liquid renders. `isLate`: this text is MJML, and is compiled after Liquid. */
type LiquidSource = ExpandedSource & { liquid: string | null; isLate: boolean };

async function writtenOf(
  workspaceId: string,
  { format, html }: EmailSource,
): Promise<ExpandedSource | SourceFailure> {
  if (format === 'html' || html === null) return { ok: true, expanded: null };
  const expanded = await expandIncludes(workspaceId, html);
  if ('fault' in expanded)
    return { ok: false, faults: [{ part: 'html', message: sentence(expanded.fault), isOfSource: true }] };
  return { ok: true, expanded };
}

async function liquidOf(workspaceId: string, source: EmailSource): Promise<LiquidSource | SourceFailure> {
  const written = await writtenOf(workspaceId, source);
  if (!written.ok) return written;
  const { expanded } = written;
  if (!expanded) return { ...written, liquid: source.html, isLate: false };
  const compiled = await mjml.compileTemplate(workspaceId, expanded.text);
  if (compiled.ok)
    return { ...written, liquid: compiled.html ?? expanded.text, isLate: compiled.html === null };
  if (compiled.busy) return { ok: false, busy: true };
  return {
    ok: false,
    faults: compiled.errors.map((error) => toFault({ part: 'html', ...error, parsing: true }, expanded)),
  };
}

async function compileRendered(
  workspaceId: string,
  text: string,
): Promise<{ ok: true; html: string | null } | SourceFailure> {
  const refuse = (message: string): TemplateSourceFault => ({ part: 'html', message, isOfSource: false });
  if (text.length > largestMjml)
    return { ok: false, faults: [refuse(`renders to more than ${largestMjml / 1024} kB of MJML`)] };
  const compiled = await mjml.compileRendered(workspaceId, text);
  if (compiled.ok || compiled.busy) return compiled;
  return {
    ok: false,
    faults: compiled.errors.map(({ message, line }) =>
      refuse(
        sentence({
          message:
            line === undefined ? message : `${message} (line ${line} of the MJML that Liquid rendered)`,
        }),
      ),
    ),
  };
}

function partsOf({ subject, source }: Pick<SourceRendering, 'subject' | 'source'>, html: string | null) {
  return [
    ...(subject === null ? [] : [{ name: 'subject', source: subject, escape: false }]),
    ...(html === null ? [] : [{ name: 'html', source: html, escape: true }]),
    ...(source.text === null ? [] : [{ name: 'text', source: source.text, escape: false }]),
  ];
}

/** Returns the faults with their places in the written source: places in compiled MJML would help nobody. */
async function inWords(
  rendering: SourceRendering,
  { expanded, isLate }: LiquidSource,
  errors: sandbox.RenderError[],
): Promise<TemplateSourceFault[]> {
  const isCompiled = expanded !== null && !isLate && errors.some(({ part }) => part === 'html');
  if (!isCompiled) return errors.map((error) => toFault(error, expanded));
  const again = await sandbox.render({ ...rendering, parts: partsOf(rendering, expanded.text) });
  if (!again.ok && !again.busy) return again.errors.map((error) => toFault(error, expanded));
  return errors.map(({ line: _line, column: _column, ...error }) => toFault(error, null));
}

function toFault(
  { part, parsing, ...error }: sandbox.RenderError,
  expanded: Expanded | null,
): TemplateSourceFault {
  const fault = part === 'html' && expanded ? origin(expanded, error) : { ...error, include: null };
  return {
    part: part as TemplateSourceFault['part'],
    message: sentence(fault),
    isOfSource: parsing ?? false,
  };
}

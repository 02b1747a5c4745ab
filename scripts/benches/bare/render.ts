import { Liquid, type Template } from 'liquidjs';
import type { EmailRequest } from '../content.ts';

/** liquidjs in this process, each template parsed once. */
const engines = { html: new Liquid({ outputEscape: 'escape' }), text: new Liquid() };
const parsed = { html: new Map<string, Template[]>(), text: new Map<string, Template[]>() };

function render(part: 'html' | 'text', source: string, data: object): string {
  let template = parsed[part].get(source);
  if (!template) {
    template = engines[part].parse(source);
    parsed[part].set(source, template);
  }
  return engines[part].renderSync(template, data) as string;
}

/** The content with its Liquid rendered; `parts` says where there is any. */
export function rendered(
  { content, template }: EmailRequest,
  parts: readonly ('html' | 'text')[],
): EmailRequest['content'] {
  if (!template) return content;
  const done = parts.map((part) => [part, render(part, content[part], template.data)]);
  return { ...content, ...Object.fromEntries(done) };
}

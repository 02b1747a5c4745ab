import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';
import { config } from '../../shared/config.ts';
import { methodNotAllowed } from '../middleware/problems.ts';
import { escaped, page } from './page.ts';

const folder = join(import.meta.dirname, 'guides');

/** Each is `guides/{name}.html`. */
const guides = [
  {
    name: 'receive-webhooks',
    title: 'Receive webhooks',
    summary: 'A receiver in Node and in Python: signatures, duplicates, retries, rotation',
  },
  {
    name: 'sign-requests',
    title: 'Sign requests',
    summary: 'HTTP Message Signatures (RFC 9421) on your requests, for keys in strict mode',
  },
  {
    name: 'retry-safely',
    title: 'Retry safely',
    summary: 'Idempotency-Key: a request takes effect once, however often it is sent',
  },
  {
    name: 'send-to-many',
    title: 'Send to many',
    summary: 'Batches of texts: messages or lists, merge data, the cost before, pauses, import, short links',
  },
  {
    name: 'conversations',
    title: 'Conversations',
    summary: 'Texts that come in: who wrote, what was said before, how to answer, STOP',
  },
  {
    name: 'reports',
    title: 'Reports',
    summary: 'Figures by day, tag, country and domain, how long messages took, what they cost; a chart, CSV',
  },
  {
    name: 'operations',
    title: 'Run the platform',
    summary: 'For operators: processes, deploys, backup and restore, key rotation, alarms, disasters',
  },
  {
    name: 'capacity',
    title: 'Capacity',
    summary:
      'For operators: what an email costs, how many processes, what MySQL and Redis, where the walls are',
  },
  {
    name: 'several-machines',
    title: 'Several machines',
    summary:
      'For operators: clusters of MySQL and Redis, who leads to the writer, HAProxy, what each failure looks like',
  },
] as const;

/** The guides, and the programs that they show: what is read is the very file that can be fetched and run. */
export function guidePages(): Router {
  const router = Router({ strict: true, caseSensitive: true });
  const programs = filesLike(/\.(mjs|py|cfg|sh)$/);
  const pictures = filesLike(/\.svg$/);
  router
    .route('/docs/guides')
    .get((_request, response) => {
      response.type('html').send(index);
    })
    .all(methodNotAllowed('GET, HEAD'));
  for (const { name, title } of guides) {
    const source = readFileSync(join(folder, `${name}.html`), 'utf8');
    router
      .route(`/docs/guides/${name}`)
      .get((_request, response) => {
        const main = `<p class="kicker"><a href="/docs/guides">Guides</a></p>\n<h1>${title}</h1>\n${filled(source, programs, pictures)}`;
        response.type('html').send(page({ title, main }));
      })
      .all(methodNotAllowed('GET, HEAD'));
  }
  for (const [name, source] of programs)
    router
      .route(`/docs/guides/${name}`)
      .get((_request, response) => {
        response.type('text').send(source);
      })
      .all(methodNotAllowed('GET, HEAD'));
  return router;
}

type Files = ReadonlyMap<string, string>;

/** Name -> text, of those beside the guides. */
function filesLike(names: RegExp): Files {
  return new Map(
    readdirSync(folder)
      .filter((name) => names.test(name))
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
}

/**
 * `{{publicUrl}}` is where clients reach this API; `{{file name}}` shows a program, with a link to fetch it; `{{picture name}}`
 * is an SVG beside the guides.
 */
function filled(source: string, programs: Files, pictures: Files): string {
  return source
    .replaceAll('{{publicUrl}}', escaped(config.PUBLIC_URL))
    .replaceAll(/\{\{picture ([\w-]+\.svg)\}\}/g, (_text, name: string) => pictures.get(name)!)
    .replaceAll(
      /\{\{file ([\w.-]+)\}\}/g,
      (_text, name: string) =>
        `<p><a href="/docs/guides/${name}" download>${name}</a></p>\n<pre><code>${escaped(programs.get(name)!)}</code></pre>`,
    );
}

const index = page({
  title: 'Guides',
  main: `<h1>Guides</h1>
<ul>
${guides.map(({ name, title, summary }) => `<li><a href="/docs/guides/${name}">${title}</a>: ${escaped(summary)}</li>`).join('\n')}
</ul>`,
});

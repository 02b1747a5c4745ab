import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Router } from 'express';
import { config } from '../../shared/config/config.ts';
import { withOwnTimes } from '../openapi/own-times.ts';
import type { RenderedPage, Surroundings } from './markdown.ts';
import { escaped, page } from './page.ts';
import { route } from './route.ts';

const folder = join(import.meta.dirname, 'guides');
/**
 * The address of the API of scripts/start. In the files it stands for PUBLIC_URL, so that readers of the repository can
 * try the examples.
 */
const addressInFiles = 'http://127.0.0.1:3000';

type Group = { title: string; guides: { name: string; title: string }[] };

const contents = readFileSync(join(folder, 'README.md'), 'utf8');

/** The list of guides is itself a page in Markdown: groups are its headings, guides are the links of its items. */
const groups: Group[] = contents
  .split(/^## /m)
  .slice(1)
  .map((part) => ({
    title: part.slice(0, part.indexOf('\n')),
    guides: [...part.matchAll(/^- \[(.+?)\]\(([\w-]+)\.md\)/gm)].map(([, title, name]) => ({
      name: name!,
      title: title!,
    })),
  }));

/** The guides, and the programs that they show: a reader gets the very file that can be fetched and run. */
export function guidePages(): Router[] {
  const programs = filesLike(/\.(mjs|py|cfg|sh)$/);
  const files = new Map([...programs, ...filesLike(/\.svg$/)]);
  const rendered = new Map<string, Promise<string>>();
  const serve = (path: string, name: string, title: string, source: string) =>
    route(path, {
      get: async (_request, response) => {
        let html = rendered.get(name);
        if (!html) rendered.set(name, (html = guide(name, title, source, files)));
        response.type('html').send(await html);
      },
    });
  return [
    serve('/docs/guides', 'README', 'Guides', contents),
    ...groups
      .flatMap(({ guides }) => guides)
      .map(({ name, title }) =>
        serve(`/docs/guides/${name}`, name, title, readFileSync(join(folder, `${name}.md`), 'utf8')),
      ),
    ...[...programs].map(([name, source]) =>
      route(`/docs/guides/${name}`, {
        get: (_request, response) => {
          response.type('text').send(source);
        },
      }),
    ),
  ];
}

type Files = Surroundings['files'];

/** Returns name -> text of the files beside the guides whose names match. */
function filesLike(names: RegExp): Files {
  return new Map(
    readdirSync(folder)
      .filter((name) => names.test(name))
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
}

/** Makes the page of a guide when the first reader asks for it, because the libraries for this take a while to load. */
async function guide(name: string, title: string, source: string, files: Files): Promise<string> {
  const { render } = await import('./markdown.ts');
  const here = withOwnTimes(source)
    .replaceAll(addressInFiles, config.PUBLIC_URL)
    .replaceAll(/^<!--.*-->$/gm, '');
  const { html, headings } = render(here, { files, addressOf });
  return page({
    title,
    styles: 'guide.css',
    head: '<script src="/assets/guide.js" type="module"></script>\n',
    main: `<div class="guide">
${listOfGuides(name)}
<article>
${listOfHeadings(headings)}${html}</article>
</div>`,
  });
}

/**
 * Returns the address on the pages for a link in a file; null for another file of the repository, because no page shows
 * it.
 */
function addressOf(href: string): string | null {
  if (href.startsWith(`${config.PUBLIC_URL}/`)) return href.slice(config.PUBLIC_URL.length);
  if (/^(https?:|#|mailto:)/.test(href)) return href;
  const [, name, anchor] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (name !== undefined) return `/docs/guides${name === 'README' ? '' : `/${name}`}${anchor ?? ''}`;
  return href.startsWith('../') ? null : `/docs/guides/${href}`;
}

function listOfGuides(current: string): string {
  const item = ({ name, title }: Group['guides'][number]) =>
    `<li><a href="/docs/guides/${name}"${name === current ? ' aria-current="page"' : ''}>${escaped(title)}</a></li>`;
  const group = ({ title, guides }: Group) =>
    `<p>${escaped(title)}</p>\n<ul>\n${guides.map(item).join('\n')}\n</ul>`;
  return `<nav class="guides" aria-label="Guides">\n${groups.map(group).join('\n')}\n</nav>`;
}

function listOfHeadings(headings: RenderedPage['headings']): string {
  const parts = headings.filter(({ level }) => level === 2);
  if (parts.length < 2) return '';
  const items = parts.map(
    ({ text, anchor }) => `<li><a href="#${escaped(anchor)}">${escaped(text)}</a></li>`,
  );
  return `<details class="contents" open>\n<summary>On this page</summary>\n<ul>\n${items.join('\n')}\n</ul>\n</details>\n`;
}

import { dirname, normalize } from 'node:path/posix';
import type { File, Rule } from './rule.ts';

const folder = 'api/public/guides';
const kinds = [
  { page: `${folder}/architecture.md`, said: /\barchitecture rules? (\d+)/gi, stands: /^(\d+)\. \*\*/gm },
  {
    page: `${folder}/api-decisions.md`,
    said: /\bAPI decisions,? §(\d+)(?: and §(\d+))?/g,
    stands: /^## (\d+)\. /gm,
  },
] as const;

/** A comment names only rules and sections that a reader finds in the pages of the repository. */
export const pointersLead: Rule = (files) =>
  kinds.flatMap(({ page, said, stands }) => {
    const text = files.find(({ path }) => path === page)?.source ?? '';
    const known = new Set([...text.matchAll(stands)].map(([, number]) => number));
    return files.flatMap((file) =>
      [...file.source.matchAll(said)]
        .flatMap(([, ...numbers]) => numbers)
        .filter((number) => number !== undefined && !known.has(number))
        .map((number) => `${file.path} names ${number} of ${page}, which is not there`),
    );
  });

/** Returns the first word of each inline code in a page. A block of code is a program, so it is left out. */
const codesOf = ({ source }: File) =>
  [...source.replaceAll(/^```[^]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, code]) => code!.split(' ')[0]!,
  );

// The tree that the rules read contains no data files (.json, .yaml), so a page may name any of these.
const fromTop = /^(api|workers|shared|scripts|test)\/[\w./-]*$(?<!\.json|\.yaml)/;
// A README may also name the files and folders beside it.
const fromReadme = /^[\w./-]*(\.ts|[\w-]\/)$/;

/** A page names no file or folder that has moved since. */
export const pagesNameWhatExists: Rule = (files) => {
  const paths = new Set(
    files.flatMap(({ path }) => {
      const parts = path.split('/');
      return parts.map((_part, depth) => parts.slice(0, depth + 1).join('/'));
    }),
  );
  const exists = (path: string) => paths.has(normalize(path).replace(/\/$/, ''));
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap((page) => {
      const isReadme = page.path.endsWith('/README.md') && !page.path.startsWith(`${folder}/`);
      return codesOf(page)
        .filter((code) =>
          fromTop.test(code)
            ? !exists(code)
            : isReadme && fromReadme.test(code) && !exists(`${dirname(page.path)}/${code}`),
        )
        .map((code) => `${page.path} names ${code}, which is not there`);
    });
};

/** A newcomer finds each part of shared/ in the table of the architecture page. */
export const architectureNamesParts: Rule = (files) => {
  const page = files.find(({ path }) => path === kinds[0].page)?.source ?? '';
  const parts = files.flatMap(({ path }) => /^shared\/[^/]+/.exec(path) ?? []);
  return [...new Set(parts)]
    .filter((part) => !page.includes(`\n| \`${part}\``) && !page.includes(`\n| \`${part}/\``))
    .map((part) => `${part} has no row in ${kinds[0].page}`);
};

const elsewhere = /\bcontract(?:\.md)? ?§|\bdesign(?:\.md|,? rule|,? §)|\bspec(?:ification)? ?§/i;

/** No file names a page outside of the repository, because a reader of the repository does not have it. */
export const namesOwnPages: Rule = (files) =>
  files.flatMap((file) =>
    file.source
      .split('\n')
      .flatMap((line, index) =>
        elsewhere.test(line)
          ? [`${file.path}:${index + 1} names a page that is not here: ${line.trim()}`]
          : [],
      ),
  );

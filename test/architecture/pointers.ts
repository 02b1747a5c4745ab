import type { Rule } from './rule.ts';

const folder = 'api/public/guides';
const kinds = [
  { page: `${folder}/architecture.md`, said: /\barchitecture rules? (\d+)/gi, stands: /^(\d+)\. \*\*/gm },
  {
    page: `${folder}/api-decisions.md`,
    said: /\bAPI decisions,? §(\d+)(?: and §(\d+))?/g,
    stands: /^## (\d+)\. /gm,
  },
];

/** A comment that names a rule or a section names one that a reader of the repository finds. */
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

const elsewhere = /\bcontract(?:\.md)? ?§|\bdesign(?:\.md|,? rule|,? §)|\bspec(?:ification)? ?§/i;

/** Pages that lie outside of the repository are nobody's who reads it. */
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

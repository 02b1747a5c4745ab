import { abuseByContent } from './abuse-by-content.ts';
import { abuseByLooking } from './abuse-by-looking.ts';
import { abuseByMail } from './abuse-by-mail.ts';
import { abuseByRequests } from './abuse-by-requests.ts';
import { faults } from './faults.ts';
import type { Group, Row } from './group.ts';
import type { Shown, Tags } from './tags.ts';

const width = 110;
const abuse = [...abuseByRequests, ...abuseByContent, ...abuseByMail, ...abuseByLooking];

const ids = [...abuse, ...faults].flatMap((group) => Object.keys(group.rows));

/** Returns the complaints for which the page cannot be written; none if it can. */
export function complaintsOf({ shown, complaints }: Tags, listed: readonly string[] = ids): string[] {
  const isShown = new Set(shown.map(({ row }) => row));
  const numbered = ['A', 'F'].flatMap((letter) =>
    listed.filter((id) => id.startsWith(letter)).map((_, index) => `${letter}${index + 1}`),
  );
  return [
    ...complaints,
    ...shown
      .filter(({ row }) => !listed.includes(row))
      .map(({ row, file, name }) => `${file}: there is no row ${row}, which "${name}" is to show`),
    ...listed.filter((id) => !isShown.has(id)).map((id) => `${id} is shown by no test`),
    ...listed.filter((id, index) => listed.indexOf(id) !== index).map((id) => `${id} is there twice`),
    ...numbered.filter((id) => !listed.includes(id)).map((id) => `${id} is left out`),
  ];
}

/** Returns the whole text of test/faults/README.md. */
export function pageOf(shown: readonly Shown[]): string {
  const byRow = Map.groupBy(shown, ({ row }) => row);
  const part = (title: string, groups: readonly Group[]) => [
    `## ${title}`,
    ...groups.flatMap((group) => [
      `### ${group.title}`,
      Object.entries(group.rows)
        .map(([id, row]) => entryOf(id, row, byRow.get(id) ?? []))
        .join('\n'),
    ]),
  ];
  return `${[...head, ...part('Abuse', abuse), ...part('Faults', faults)].join('\n\n')}\n`;
}

const last = (letter: string) => `${letter}${ids.filter((id) => id.startsWith(letter)).length}`;

const head = [
  '# What is broken on purpose, and which test shows that it holds',
  wrapped(
    `The abuse cases A1 to ${last('A')}, which somebody hostile may try, and the faults F1 to ${last('F')}, which may ` +
      'happen to the processes, MySQL, Redis, mail and webhooks. Each says what is tried, what is expected, and the ' +
      'tests that show it by their names as they stand in the file; `%s`, `%j`, `%i` and `$name` stand for what a ' +
      'test is repeated with.',
  ),
  wrapped(
    'This page is written by `node test/faults/write-readme.ts`, from the rows in `test/faults/rows/` and from the ' +
      'tests: a comment `// Shows A1, F2` above a test, a group of tests or a row of its table says which rows it ' +
      'shows. `readme.test.ts` fails where the page is not what they make, where a row has no test, and where a ' +
      'comment names no row.',
  ),
  wrapped(
    'Where a test breaks something amid many rows, each run of all tests has a short form of it: each harm at least ' +
      'once, and few rows. `scripts/test --long WORD` runs the long form; `scripts/test --help` names the files that ' +
      'have one, and the long runs (faults, soak, cluster, fuzz).',
  ),
];

function entryOf(id: string, { tried, expected }: Row, shown: readonly Shown[]): string {
  const byFile = Map.groupBy(shown, ({ file }) => file);
  return [
    wrapped(`- **${id}** ${tried}.`, '  '),
    wrapped(`  Expected: ${expected}.`, '  '),
    ...[...byFile].flatMap(([file, tests]) => [
      `  - \`${file}\``,
      ...tests.map(({ name }) => `    - ${name}`),
    ]),
  ].join('\n');
}

/** Breaks the text into lines of at most 110 characters; the lines after the first are indented. */
function wrapped(text: string, indent = ''): string {
  const lines: string[] = [];
  for (const word of text.split(/(?<=\S) /)) {
    const line = lines.at(-1);
    if (line === undefined) lines.push(word);
    else if (line.length + 1 + word.length <= width) lines.splice(-1, 1, `${line} ${word}`);
    else lines.push(indent + word);
  }
  return lines.join('\n');
}

import { codeLines, type File, isProduct, type Rule } from './rule.ts';

const refused: [pattern: RegExp, why: string][] = [
  [/\bJSON_TABLE\s*\(/i, 'asks for a JSON_TABLE, which MySQL does not lock rows with and others do not know'],
  [/\b(FOR\s+SHARE|LOCK\s+IN\s+SHARE\s+MODE)\b/i, 'locks for reading, which not every server does'],
  // A hash of Node is named in small letters: `sha1(`.
  [/\b(MD5|SHA1?)\s*\(/, 'asks for a hash that MySQL 9 lacks'],
];

/** The tests usually run on one kind of server, and each kind takes SQL that another does not take. */
export const sqlOfBoth: Rule = (files) =>
  files.filter(isProduct).flatMap((file) => {
    const code = codeLines(file).join('\n');
    return refused.flatMap(([pattern, why]) => (pattern.test(code) ? [`${file.path} ${why}`] : []));
  });

// A migration stays as it was when it ran.
const isData = ({ path }: File) =>
  path.startsWith('shared/db/') && path.endsWith('.ts') && !path.startsWith('shared/db/migrations/');
const mapped = /(?<![\w.])(?:table|templateTable)\(\s*(?:\{\s*table: )?'(\w+)'/g;
const insertedByHand = /\b(?:INSERT(?: IGNORE)?|REPLACE) INTO (\w+)\s*\(/g;

/** Statements that name columns of a mapped table themselves, each with its reason. */
const byHand: Record<string, string> = {
  'shared/db/contacts/contacts.ts': 'names only the columns that change',
  'shared/db/contact-lists/counts.ts': 'an upsert of the time alone',
  'shared/db/webhooks/deliveries/finish.system.ts': 'copies columns of another table',
  'shared/db/webhooks/settlements.system.ts': 'copies columns of another table',
};

/** A table has one map of its columns, from which each file picks. Its rows are inserted by that map. */
export const oneMapForEachTable: Rule = (files) => {
  const found = files.filter(isData).map((file) => {
    const code = codeLines(file).join('\n');
    const named = (pattern: RegExp) => [...code.matchAll(pattern)].map(([, name]) => name!);
    return { path: file.path, maps: named(mapped), inserts: named(insertedByHand) };
  });
  const maps = found.flatMap(({ path, maps }) => maps.map((name) => ({ path, name })));
  return [
    ...[...Map.groupBy(maps, ({ name }) => name)]
      .filter(([, all]) => all.length > 1)
      .map(([name, all]) => `${all.map(({ path }) => path).join(' and ')} have maps of ${name}`),
    ...found.flatMap(({ path, inserts }) =>
      inserts
        .filter((name) => maps.some((one) => one.name === name) && !Object.hasOwn(byHand, path))
        .map((name) => `${path} names the columns of ${name}, which has a map`),
    ),
  ];
};

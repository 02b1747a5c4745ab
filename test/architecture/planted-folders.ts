import { foldersAreExplained, noCrowdedFolder } from './folders.ts';
import { everyExportIsUsed, oneMeaningOfAName } from './names.ts';
import type { Guarded } from './planted.ts';
import { commentsNameTheirSubject } from './shape.ts';

const files = (folder: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_one, index) => [`${folder}/file-${index}.ts`, '']));

const folderOf = (plants: Record<string, string>) =>
  Object.keys(plants)
    .at(-1)!
    .replace(/\/[^/]+$/, '');

/** The rules over folders. */
export const plantedFolders: Guarded[] = [
  {
    guarantee: 'no folder has more than 20 entries, but for those that have a reason',
    rule: noCrowdedFolder,
    breaches: [
      files('shared/domain', 21),
      { 'shared/domain/more/file.ts': '', ...files('shared/domain', 20) },
      files('api/routes', 21),
      files('scripts/setup', 21),
      files('test/domain', 21),
    ].map((plants) => ({ [folderOf(plants)]: '', ...plants })),
    harmless: {
      ...files('shared/domain', 20),
      'shared/domain/README.md': '',
      ...files('shared/db/migrations', 30),
      ...files('test/faults', 30),
    },
  },
  {
    guarantee: 'a folder of more than five files of the product or of scripts says what lives there',
    rule: foldersAreExplained,
    breaches: [files('shared/domain', 6), files('workers/jobs', 7), files('scripts/setup', 6)].map(
      (plants) => ({ [folderOf(plants)]: '', ...plants }),
    ),
    harmless: {
      ...files('shared/domain', 6),
      'shared/domain/README.md': '',
      ...files('api/routes', 5),
      ...files('test/faults', 30),
    },
  },
  {
    guarantee: 'a name that is imported stands for one type',
    rule: oneMeaningOfAName,
    breaches: [
      {
        'shared/domain/send.ts': 'export type Sending = { id: string };',
        'shared/schemas/sends.ts': 'export type Sending = z.infer<typeof Sending>;',
      },
      { 'workers/main.ts': 'interface Sending {}', 'shared/domain/send.ts': 'export class Sending {}' },
      {
        'shared/domain/send.ts': "type Sending = Omit<db.Sending, 'id'>;",
        'shared/db/sends.ts': 'export type Sending = { id: string };',
      },
    ],
    harmless: {
      'shared/domain/send.ts': 'export type Sending = db.Sending;\ntype Own = string;',
      'shared/db/sends.ts': 'export type Sending = { id: string };\ntype Own = number;',
      'shared/client/client.ts': "export type Sending = Schema<'Sending'>;",
      'test/domain/send.test.ts': 'type Sending = string;',
    },
  },
  {
    guarantee: 'what is exported is used by another file',
    rule: everyExportIsUsed,
    breaches: [
      { 'shared/domain/send.ts': 'export type Sending = string;\nconst one: Sending = text;' },
      { 'shared/domain/send.ts': 'export async function send() {}' },
      { 'shared/domain/send.ts': 'export const {\n  send: sendNow,\n} = senderOf(mail);' },
      { 'scripts/setup/git.ts': 'export const git = 1;', 'shared/domain/send.ts': '// Another git.' },
    ],
    harmless: {
      'shared/domain/send.ts': 'export type Sending = string;\nexport const send = 1;\nfunction own() {}',
      'shared/domain/sends.ts': "import type { Sending } from './send.ts';",
      'test/domain/send.test.ts': 'import * as sends from "x";\nsends.send();\nexport const wrong = 1;',
      'shared/client/description.d.ts': 'export type Nobody = string;',
    },
  },
  {
    guarantee: 'sentences of comments name their subject',
    rule: commentsNameTheirSubject,
    breaches: [
      { 'shared/domain/send.ts': '// What is lost is found by the sweep.' },
      { 'shared/domain/send.ts': '/** Who holds this key. */' },
      { 'shared/domain/send.ts': '// Whatever it finds, it sends.' },
      { 'shared/domain/send.ts': '/**\n * Sends it. Those that fail come again.\n */' },
      { 'scripts/setup/git.ts': '/** What git answers. */' },
      { 'test/domain/send.test.ts': '// What is lost is found.' },
    ],
    harmless: {
      'shared/db/migrations/0001_keys.ts': '// Whatever it finds, it sends.',
      'shared/domain/send.ts':
        "// A lost job is found by the sweep: what it did is known.\nconst text = 'So. What now';",
    },
  },
];

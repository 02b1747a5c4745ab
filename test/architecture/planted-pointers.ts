import type { Guarded } from './planted.ts';
import { architectureNamesParts, namesOwnPages, pagesNameWhatExists, pointersLead } from './pointers.ts';

const pages = {
  'api/public/guides/architecture.md': '## Rules\n\n1. **One request, one transaction.** …\n',
  'api/public/guides/api-decisions.md': '## 7. Email\n\nText\n\n## 8. Texts\n',
};
// Written apart, or this file would break the rules that it shows.
const [rule, decisions, section] = ['architecture', 'API decisions', '§'];
const [design, contract, specification] = ['design', 'contract', 'spec'];

export const plantedPointers: Guarded[] = [
  {
    guarantee: 'a comment that names a rule or a decision names one that is there',
    rule: pointersLead,
    breaches: [
      { 'shared/queue.ts': `// It waits (${rule} rule 2).`, ...pages },
      { 'shared/queue.ts': `// It waits (${decisions} ${section}9).`, ...pages },
      { 'shared/queue.ts': `// It waits (${decisions} ${section}7 and ${section}9).`, ...pages },
      { 'shared/queue.ts': `// It waits (${decisions} ${section}7).` },
    ],
    harmless: {
      'shared/queue.ts': `// It waits (${rule} rule 1, ${decisions} ${section}7 and ${section}8), by RFC 9421 ${section}2.`,
      ...pages,
    },
  },
  {
    guarantee: 'a page names no file or folder that is not there',
    rule: pagesNameWhatExists,
    breaches: [
      { 'api/public/guides/run.md': 'See `shared/queue/gate.ts`.', 'shared/queue/queue.ts': '' },
      { 'api/public/guides/run.md': 'Type `scripts/admit --json`.', 'scripts/admin': '' },
      { 'shared/queue/README.md': 'Start at `gate.ts`.', 'shared/queue/queue.ts': '' },
      { 'shared/queue/README.md': 'The statements are in `system/`.', 'shared/queue/queue.ts': '' },
      { 'shared/queue/README.md': 'Start at `../queue.ts`.', 'shared/queue/queue.ts': '' },
    ],
    harmless: {
      'shared/queue/README.md':
        'Start at `queue.ts`, or `../work/turns.ts` in `../work/`; `*.system.ts` is of `/v2/sms`, `EX/PX` too.\n\n```sh\nscripts/none\n```\n',
      'api/public/guides/run.md': 'Type `scripts/admin keys`; see `shared/queue/` and `index.ts`.',
      'shared/queue/queue.ts': '',
      'shared/work/turns.ts': '',
      'scripts/admin': '',
    },
  },
  {
    guarantee: 'the architecture page has a row for each part of shared/',
    rule: architectureNamesParts,
    breaches: [
      { 'shared/queue': '', 'shared/queue/queue.ts': '' },
      { 'shared/queue': '', 'api/public/guides/architecture.md': 'It is in `shared/queue/`.' },
      { 'shared/lifecycle.ts': '', 'api/public/guides/architecture.md': '\n| `shared/lifecycle/` | … |\n' },
    ],
    harmless: {
      'shared/queue/queue.ts': '',
      'shared/lifecycle.ts': '',
      'api/queue.ts': '',
      'api/public/guides/architecture.md': '\n| `shared/queue/` | … |\n| `shared/lifecycle.ts` | … |\n',
    },
  },
  {
    guarantee: 'no comment names a page that is not in the repository',
    rule: namesOwnPages,
    breaches: [
      { 'shared/queue.ts': `// It waits (${design} rule 2).` },
      { 'shared/queue.ts': `// It waits (${contract} ${section}2).` },
      { 'shared/queue.ts': `// It waits (${specification} ${section}2).` },
      { 'test/flows/README.md': `See ${design}.md.` },
    ],
    harmless: { 'shared/queue.ts': `// The contract of a job; designed by RFC 9421 ${section}2.` },
  },
];

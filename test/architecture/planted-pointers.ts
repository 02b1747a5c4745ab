import type { Guarded } from './planted.ts';
import { namesOwnPages, pointersLead } from './pointers.ts';

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

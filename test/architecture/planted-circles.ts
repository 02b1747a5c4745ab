import { noCircles } from './circles.ts';
import type { Guarded } from './planted.ts';

/** Circles of imports. */
export const plantedCircles: Guarded[] = [
  {
    guarantee: 'no file imports itself by way of others, types included',
    rule: noCircles,
    breaches: [
      {
        'shared/one.ts': "import { two } from './two.ts';",
        'shared/two.ts': "import { one } from './one.ts';",
      },
      {
        'shared/one.ts': "import { two } from './two.ts';",
        'shared/two.ts': "import type { Three } from './three.ts';",
        'shared/three.ts': "export type { One } from './one.ts';",
      },
    ],
    harmless: {
      'shared/one.ts': "import { two } from './two.ts';\nimport { three } from './three.ts';",
      'shared/two.ts': "import type { Three } from './three.ts';",
      'shared/three.ts': "new Worker(new URL('./one.ts', import.meta.url));",
    },
  },
];

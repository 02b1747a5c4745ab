import type { Item, Ledger } from './ledger.ts';
import { type Planned, planned, remember, repeats, type Scene, type Times } from './planned.ts';
import { between, pick } from './random.ts';

export function suppression(scene: Scene): Planned {
  const { random, customer, recent, key } = scene;
  const isNumber = random() < 0.3;
  const address = `s-${key}@c${customer.index}.example`;
  const scope = random() < 0.3 ? 'marketing' : 'all';
  const number = `+4477009000${between(random, 10, 99)}`;
  return planned(scene, 'suppress', {
    method: 'POST',
    path: '/v2/suppressions',
    body: JSON.stringify(isNumber ? { number } : { email: address, scope }),
    idempotencyKey: key,
    ...repeats(random),
    accepted: () => {
      const entry = isNumber
        ? { kind: 'number' as const, address: number }
        : { kind: 'email' as const, address };
      remember(recent.suppressed, { ...entry, scope });
    },
  });
}

export function contacts(scene: Scene): Planned {
  const { random, key } = scene;
  const rows = Array.from({ length: 5 }, () => ({
    number: `+447700900${between(random, 100, 999)}`,
    firstName: `Name${between(random, 1, 50)}`,
    clientReference: key,
  }));
  return planned(scene, 'import contacts', {
    method: 'POST',
    path: '/v2/contacts/batch',
    body: JSON.stringify({ contacts: rows }),
    idempotencyKey: key,
    // Another import may create one of the numbers at the same time.
    mayRefuse: ['contacts_conflict'],
    ...repeats(random),
  });
}

const pathOf = ({ kind, id }: Item) => `/v2/${kind}/${id}`;

export function readOne(scene: Scene): Planned | null {
  const { random, ledger, recent } = scene;
  if (recent.items.length === 0) return null;
  const item = pick(random, recent.items);
  return planned(scene, 'read', {
    path: pathOf(item),
    accepted: (body, times) => seen(ledger, item, body, times),
  });
}

/** Notes a read of a record, and checks that it is not older than an earlier read that was answered before it began. */
function seen(ledger: Ledger, item: Item, body: any, { startedMs, answeredMs }: Times): void {
  const { id, status, openCount = 0 } = body;
  const updatedMs = Date.parse(body.updatedAt);
  if (id !== item.id) ledger.oddAnswers.push({ operation: 'read', text: `${item.id} reads as ${id}` });
  const before = item.seen;
  if (before && startedMs < before.answeredMs) return;
  if (before && (updatedMs < before.updatedMs || openCount < before.openCount))
    ledger.oddAnswers.push({
      operation: 'went back',
      text: `${id} was ${before.status} of ${before.updatedMs} and is ${status} of ${updatedMs}`,
    });
  item.seen = { status, updatedMs, openCount, answeredMs };
}

export function readList(scene: Scene): Planned {
  const { random, ledger, customer } = scene;
  const kind = random() < 0.6 ? 'email' : 'sms';
  return planned(scene, 'read', {
    path: `/v2/${kind}?limit=20`,
    accepted: ({ data }) => {
      for (const { id, clientReference } of data)
        if (clientReference !== null && !clientReference.startsWith(customer.workspaceId.slice(-8)))
          ledger.oddAnswers.push({
            operation: 'read another workspace',
            text: `${customer.workspaceId} lists ${id}`,
          });
    },
  });
}

export function readEvents(scene: Scene): Planned | null {
  const { random, recent } = scene;
  if (recent.items.length === 0) return null;
  return planned(scene, 'read', { path: `${pathOf(pick(random, recent.items))}/events` });
}

/** Reads the record of another workspace, which must answer like an unknown one. */
export function readForeign(scene: Scene): Planned | null {
  const { random, recent, others } = scene;
  if (recent.items.length === 0) return null;
  const item = pick(random, recent.items);
  return planned(scene, 'read another workspace', {
    method: random() < 0.3 ? 'DELETE' : 'GET',
    path: pathOf(item),
    key: pick(random, others).key,
    mayRefuse: ['not_found'],
  });
}

export function reuseKey(scene: Scene): Planned | null {
  const { random, recent } = scene;
  if (recent.requests.length === 0) return null;
  const known = pick(random, recent.requests);
  return planned(scene, 'reuse a key', {
    method: known.method,
    path: known.path,
    key: known.key,
    body: `${known.body} `,
    idempotencyKey: known.idempotencyKey ?? null,
    mayRefuse: ['idempotency_key_reused'],
  });
}

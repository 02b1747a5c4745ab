import { now } from '../../../shared/common/clock.ts';
import { subjectWord } from './copies.ts';
import type { Item, Operation } from './ledger.ts';
import { type Planned, planned, remember, repeats, type Scene } from './planned.ts';
import { between, pick } from './random.ts';
import type { Random } from './types.ts';
import { templateName } from './workspaces.ts';

/** The API requires five minutes ahead; the rest allows for a fault that delays the request by a minute or two. */
const scheduleOf = (random: Random) => new Date(now().getTime() + between(random, 420_000, 480_000));

export function email(scene: Scene): Planned {
  const { random, customer, key } = scene;
  const [variant, manner] = [random(), random()];
  const known = pickSuppressed(scene, 'email', variant < 0.06);
  const recipient = known?.address ?? `u${between(random, 1, 5_000)}@c${customer.index}.example`;
  const isScheduled = variant > 0.9;
  const scheduledAt = isScheduled ? scheduleOf(random) : null;
  const kind = known ? (known.scope === 'marketing' ? 'marketing' : 'transactional') : kindOf(random());
  const body = {
    sender: customer.sender,
    recipient,
    subject: `${subjectWord} ${key}`,
    ...contentOf(manner, key),
    kind,
    clientReference: key,
    ...(scheduledAt && { scheduledAt: scheduledAt.toISOString() }),
  };
  return sending(scene, {
    operation: 'send email',
    path: '/v2/email',
    body,
    kind: 'email',
    scheduledAt,
    isToSuppressed: known !== null,
  });
}

/** Picks a recipient whose suppression has been answered. */
function pickSuppressed({ random, recent }: Scene, kind: 'email' | 'number', isWanted: boolean) {
  const known = recent.suppressed.filter((one) => one.kind === kind);
  return isWanted && known.length > 0 ? pick(random, known) : null;
}

function contentOf(manner: number, key: string): object {
  if (manner < 0.2) return { template: { name: templateName, data: { name: 'Ada & Co', reference: key } } };
  if (manner < 0.6) return { content: { text: `This is ${key}.` } };
  const text = `This is ${key}. ${'All is well. '.repeat(manner > 0.95 ? 1_500 : 20)}`;
  return { content: { html: `<p>${text}</p>`, text } };
}

function kindOf(chance: number): string {
  if (chance < 0.1) return 'authentication';
  return chance < 0.25 ? 'marketing' : 'transactional';
}

/** Phones of the simulator that do not simply accept texts (API decisions §8). */
const specialPhones = ['002', '003', '004', '005', '006', '007'];

export function text(scene: Scene): Planned {
  const { random, customer, key } = scene;
  const [variant, length, isLimited] = [random(), random(), random() < 0.15];
  const known = pickSuppressed(scene, 'number', variant > 0.12 && variant < 0.16);
  const phone = variant < 0.12 ? pick(random, specialPhones) : String(between(random, 100, 999));
  const scheduledAt = variant > 0.93 ? scheduleOf(random) : null;
  const body = {
    recipient: known?.address ?? `+447700900${phone}`,
    content: `${subjectWord} ${key}${length > 0.9 ? ' and so on'.repeat(25) : ''}`,
    clientReference: key,
    ...(scheduledAt && { scheduledAt: scheduledAt.toISOString() }),
  };
  return sending(scene, {
    operation: 'send text',
    path: '/v2/sms',
    body,
    kind: 'sms',
    scheduledAt,
    isToSuppressed: known !== null,
    ...(isLimited && { key: customer.limited.key }),
  });
}

type Sending = {
  operation: Operation;
  path: string;
  body: { recipient: string };
  kind: Item['kind'];
  scheduledAt: Date | null;
  isToSuppressed: boolean;
  key?: string;
};

function sending(scene: Scene, { operation, path, body, kind, scheduledAt, isToSuppressed, key }: Sending) {
  const { random, ledger, customer, recent } = scene;
  const [isCancelled, isClose, moment] = [random() < 0.6, random() < 0.5, random()];
  const request = planned(scene, operation, {
    method: 'POST',
    path,
    body: JSON.stringify(body),
    idempotencyKey: scene.key,
    ...(key && { key }),
    mayRefuse: kind === 'sms' ? ['recipient_suppressed', 'limit_reached'] : [],
    ...repeats(random),
  });
  request.accepted = ({ id, parts }, { startedMs, answeredMs }) => {
    if (ledger.items.has(id)) return;
    const item: Item = {
      id,
      kind,
      customer: customer.index,
      key: scene.key,
      recipient: body.recipient,
      startedMs,
      acceptedMs: answeredMs,
      scheduledMs: scheduledAt?.getTime() ?? null,
      isToSuppressed,
      parts: parts ?? 0,
    };
    ledger.items.set(id, item);
    remember(recent.items, item);
    remember(recent.requests, request);
    if (!scheduledAt || !isCancelled) return;
    // Close cancellations come at about the time when a worker claims the message.
    const inMs = scheduledAt.getTime() - now().getTime();
    const atMs = isClose ? Date.now() + inMs - 700 + moment * 1_400 : Date.now() + 500 + moment * 5_000;
    scene.later(atMs, cancellation(scene, path, item));
  };
  return request;
}

function cancellation(scene: Scene, path: string, item: Item): Planned {
  const cancelled: { status: number | null } = { status: null };
  item.cancelled = cancelled;
  return planned(scene, 'cancel', {
    method: 'DELETE',
    path: `${path}/${item.id}`,
    idempotencyKey: `${item.key}-cancel`,
    mayRefuse: ['not_cancellable'],
    settled: (status, isRepeated) => {
      // A 409 to a repeated DELETE may mean that an earlier try has cancelled it.
      cancelled.status = status === 409 && isRepeated ? null : status;
    },
  });
}

import { LRUCache } from 'lru-cache';

/** The deliveries that are under way or wait in this process: of a webhook, of an origin, of a workspace. */

export type Waiter = { since: number; go: () => void; giveUp: () => void };
export type OpenRequest = { at: number };

export type UnderWay = {
  /** Deliveries that have a place, and no request yet. */
  placed: number;
  /** Open requests, oldest first. */
  out: Set<OpenRequest>;
};

export const openOf = ({ out }: UnderWay): number => out.size;
export const inFlightOf = ({ out, placed }: UnderWay): number => out.size + placed;

/** Requests whose answers a delivery may wait for. */
export type AnsweredRequests = UnderWay & {
  /** Moving average of the milliseconds of a request; null before the first has ended. */
  usualMs: number | null;
  /** When the last request ended. */
  answeredAt: number;
};

/** Deliveries that wait for a place, in all queues; `jobsWaiting` is the number of jobs that they make up. */
type WaitCounts = { waiting: number; jobsWaiting: number };

export type WebhookQueue = AnsweredRequests & {
  webhookId: string;
  origin: Origin;
  /** The requests of this queue, or those that it waits for, have been open for long, and none has ended lately. */
  isStuck: boolean;
  forPlace: Set<Waiter>;
  forSlot: Set<Waiter>;
  /** Gives up deliveries that have waited for too long. */
  timer: NodeJS.Timeout | undefined;
};

/** An origin that webhooks of one workspace lead to: their requests share its slots. */
export type Origin = AnsweredRequests &
  WaitCounts & {
    name: string;
    workspace: WorkspaceShare;
    /** Its last answer was quick. */
    wasQuick: boolean;
    /** By webhook, those that hold any delivery; first the one whose last request began longest ago. */
    queues: Map<string, WebhookQueue>;
  };

/** A workspace: the requests of all its webhooks are a share of those of the process. */
type WorkspaceShare = AnsweredRequests &
  WaitCounts & {
    id: string;
    origins: Map<string, Origin>;
    /** The part of its requests that began at an origin that was not known to be quick. */
    unproven: UnderWay;
    /** Origins without an open request whose deliveries wait until the share has room, in the order of their turns. */
    short: Set<Origin>;
  };

/** Requests that take longer hold up others where many are open. */
const quickMs = 1_000;

const idle = (): AnsweredRequests => ({
  placed: 0,
  out: new Set(),
  usualMs: null,
  answeredAt: Number.NEGATIVE_INFINITY,
});
const noneWaiting = (): WaitCounts => ({ waiting: 0, jobsWaiting: 0 });

/** The name under which webhooks of a workspace share their slots. */
export type OriginName = { workspaceId: string; origin: string };

const mostQuick = 20_000;

/** Makes the queues of webhooks that hold any delivery. */
export function createQueues() {
  const workspaces = new Map<string, WorkspaceShare>();
  /** Origins without a delivery whose last answer was quick. */
  const quick = new LRUCache<string, true>({ max: mostQuick });

  const newWorkspace = (id: string): WorkspaceShare => ({
    ...idle(),
    ...noneWaiting(),
    id,
    origins: new Map(),
    unproven: idle(),
    short: new Set(),
  });

  const newOrigin = (name: string, workspace: WorkspaceShare): Origin => ({
    ...idle(),
    ...noneWaiting(),
    name,
    workspace,
    wasQuick: quick.has(`${workspace.id} ${name}`),
    queues: new Map(),
  });

  const newQueue = (webhookId: string, origin: Origin): WebhookQueue => ({
    ...idle(),
    webhookId,
    origin,
    isStuck: false,
    forPlace: new Set(),
    forSlot: new Set(),
    timer: undefined,
  });

  function queueOf(webhookId: string, { workspaceId, origin: name }: OriginName): WebhookQueue {
    const workspace = workspaces.get(workspaceId) ?? newWorkspace(workspaceId);
    const origin = workspace.origins.get(name) ?? newOrigin(name, workspace);
    const queue = origin.queues.get(webhookId) ?? newQueue(webhookId, origin);
    workspaces.set(workspaceId, workspace);
    workspace.origins.set(name, origin);
    origin.queues.set(webhookId, queue);
    return queue;
  }

  /** Forgets a queue that holds no delivery any more. */
  function close(queue: WebhookQueue): void {
    const { webhookId, origin } = queue;
    const isInUse = queue.placed + queue.out.size + queue.forPlace.size > 0;
    // A late check may find that the queue is closed, and that its webhook has another one.
    if (isInUse || origin.queues.get(webhookId) !== queue) return;
    clearTimeout(queue.timer);
    origin.queues.delete(webhookId);
    if (origin.queues.size > 0) return;
    const { name, workspace, wasQuick } = origin;
    const key = `${workspace.id} ${name}`;
    if (wasQuick) quick.set(key, true);
    else quick.delete(key);
    workspace.short.delete(origin);
    workspace.origins.delete(name);
    if (workspace.origins.size === 0) workspaces.delete(workspace.id);
  }

  return { queueOf, close };
}

/** Returns whether a queue has its origin to itself. */
export function isAlone({ origin }: WebhookQueue): boolean {
  return origin.queues.size === 1;
}

/** Returns how many slots of an origin each queue is sure to get. */
export function partOf({ origin }: WebhookQueue, slots: number): number {
  return Math.max(1, Math.floor(slots / origin.queues.size));
}

/** Returns how many slots a queue may have: all that are left, or its part only while a queue with less waits. */
export function slotsOf(queue: WebhookQueue, slots: number): number {
  if (isAlone(queue)) return slots;
  const { queues, out } = queue.origin;
  const part = partOf(queue, slots);
  const isShort = (other: WebhookQueue) => other !== queue && other.out.size < part && other.forSlot.size > 0;
  const most = [...queues.values()].some(isShort) ? part : slots;
  return Math.max(0, Math.min(most, slots - (out.size - queue.out.size)));
}

/** Returns the expected time of a request: as the last ones took, and at least the age of the oldest open request. */
export function expectedMs({ usualMs, out }: AnsweredRequests): number {
  const [oldest] = out;
  return Math.max(usualMs ?? 0, oldest ? performance.now() - oldest.at : 0);
}

/** Returns whether no request was answered for so long that waiting is of no use. */
export function isStuck({ out, answeredAt }: AnsweredRequests, patienceMs: number): boolean {
  const [oldest] = out;
  return oldest !== undefined && performance.now() - Math.max(oldest.at, answeredAt) >= patienceMs;
}

/** Returns whether an origin answers quickly, as far as its last answer and its open requests tell. */
export function isQuick({ wasQuick, out }: Origin): boolean {
  const [oldest] = out;
  return wasQuick && (oldest === undefined || performance.now() - oldest.at < quickMs);
}

/** Notes that a request has been answered. */
export function noteAnswer(queue: WebhookQueue, request: OpenRequest): void {
  const time = performance.now();
  const tookMs = time - request.at;
  const { origin } = queue;
  for (const answered of [queue, origin, origin.workspace]) {
    answered.answeredAt = time;
    answered.usualMs = answered.usualMs === null ? tookMs : 0.8 * answered.usualMs + 0.2 * tookMs;
  }
  origin.wasQuick = tookMs < quickMs;
  for (const other of origin.queues.values())
    if (other === queue || other.out.size === 0) other.isStuck = false;
}

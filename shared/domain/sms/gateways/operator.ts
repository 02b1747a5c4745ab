import { now } from '../../../common/clock.ts';
import { config } from '../../../config/config.ts';
import type { GatewaySettings } from '../../../config/sms-gateways.ts';
import * as db from '../../../db/sms/gateway-pauses.system.ts';
import { newUuid } from '../../../formats/ids.ts';
import { isDramaNumber, parsePhoneNumber } from '../../../formats/sms/phone-number.ts';
import { gatewayFor, gatewayNamed, type Submission, submit } from '../../../transports/sms.ts';
import * as pauses from './pauses.ts';
import { type GatewayReport, readReports } from './reports.ts';

/** The operator's view of gateways, and what the operator may do with them. */

export type GatewayView = {
  name: string;
  type: string;
  /** unknown: no process has said anything lately, or Redis is away. */
  state: 'up' | 'down' | 'paused' | 'unknown';
  pausedAt: string | null;
  /** Processes that report the gateway. */
  processes: number;
  /**
   * How many sessions the gateway has accepted, and how many there should be, in all processes. By HTTP each process
   * counts as one.
   */
  bound: number;
  binds: number;
  /** Messages that the gateway has not answered yet, and the most that there may be, in all processes. */
  inUse: number;
  window: number;
  perSecond: number;
  downSince: string | null;
  lastError: string | null;
  /** The carrier refuses our bind: a person has to act. */
  isBindRefused: boolean;
  routes: string;
};

export async function list(): Promise<GatewayView[]> {
  const settings = config.SMS_GATEWAYS ?? [];
  if (settings.length === 0) return [];
  const [said, paused] = await Promise.all([readReports(), db.listGatewayPauses()]);
  return settings.map((one) =>
    viewOf(
      one,
      (said ?? []).filter(({ name }) => name === one.name).map(({ state }) => state),
      paused.find(({ gateway }) => gateway === one.name)?.at ?? null,
    ),
  );
}

function viewOf(settings: GatewaySettings, reports: GatewayReport[], pausedAt: Date | null): GatewayView {
  const sum = (read: (report: GatewayReport) => number) =>
    reports.reduce((total, report) => total + read(report), 0);
  const bound = sum((one) => one.bound ?? Number(one.isBound));
  const down = reports.filter(({ isBound }) => !isBound);
  const isHeld = settings.type !== 'simulator';
  const working = bound > 0 ? 'up' : reports.length > 0 ? 'down' : 'unknown';
  return {
    name: settings.name,
    type: settings.type,
    state: pausedAt ? 'paused' : isHeld ? working : 'up',
    pausedAt: pausedAt?.toISOString() ?? null,
    processes: reports.length,
    bound,
    binds: sum(({ binds }) => binds ?? 1),
    inUse: sum(({ inUse }) => inUse),
    // A process without a bind can hand nothing over.
    window: sum(({ window, isBound }) => (isBound ? (window ?? 0) : 0)),
    perSecond: Math.round(10 * sum(({ perSecond }) => perSecond)) / 10,
    downSince: down.map(({ downSince }) => downSince).toSorted(byAge)[0] ?? null,
    // Of several sessions of a process, one may be refused while others are bound.
    lastError: reports.find(({ lastError }) => lastError)?.lastError ?? null,
    isBindRefused: reports.some(({ isRefused }) => isRefused),
    routes: routesOf(settings),
  };
}

const byAge = (one: string | null, other: string | null) => ((one ?? '~') < (other ?? '~') ? -1 : 1);

/** Returns the routes in words, such as `GB, from Acme`. */
function routesOf({ countries, prefixes, senders }: GatewaySettings): string {
  const to = [...(countries ?? []), ...(prefixes ?? [])].join(' ') || 'all';
  return senders ? `${to}, from ${senders.join(' ')}` : to;
}

/**
 * Pauses a gateway. New texts take the next gateway that fits, or wait. Texts that the paused gateway may have already
 * wait for it.
 */
export async function pause(name: string): Promise<GatewayView> {
  nameOf(name);
  await db.insertGatewayPause({ gateway: name, at: now() });
  return view(name);
}

export async function resume(name: string): Promise<GatewayView> {
  nameOf(name);
  await db.deleteGatewayPause(name);
  return view(name);
}

async function view(name: string): Promise<GatewayView> {
  pauses.forget();
  return (await list()).find((one) => one.name === name)!;
}

function nameOf(name: string): void {
  const names = (config.SMS_GATEWAYS ?? []).map((one) => one.name);
  if (names.includes(name)) return;
  throw new Error(
    names.length > 0
      ? `There is no gateway ${name}. Gateways: ${names.join(', ')}`
      : 'SMS_GATEWAYS is not set: the simulator takes all texts',
  );
}

type Test = { gateway?: string; sender?: string };

/**
 * Hands a text over from this process, by a bind of its own. A gateway that is given by name is used even if it is
 * paused.
 */
export async function test(
  number: string,
  { gateway: name, sender = config.SMS_SYSTEM_SENDER }: Test = {},
): Promise<{ gateway: string; submission: Submission; ms: number }> {
  const phone = parsePhoneNumber(number);
  if (!phone.ok) throw new Error(`${number} is not a phone number in E.164 format, such as +447400123456`);
  if (name !== undefined) nameOf(name);
  await pauses.heed();
  const recipient = phone.number;
  const gateway = name === undefined ? gatewayFor({ sender, recipient }) : gatewayNamed(name);
  if (!gateway) throw new Error(`No gateway takes texts from ${sender} to ${recipient}`);
  // Numbers that are never assigned reach no carrier, also where its gateway is given. The simulator's phones belong to
  // a workspace, and this test has none.
  if (gateway.name === 'simulator' || isDramaNumber(recipient))
    throw new Error(
      `Texts to ${recipient} go to the simulator, so no carrier can be tested with this number`,
    );
  const startedAt = performance.now();
  const submission = await submit(
    {
      id: newUuid(now()).toString('hex'),
      workspaceId: '',
      sender,
      recipient,
      content: 'This text shows that messages reach this phone.',
      parts: 1,
    },
    gateway,
  );
  return { gateway: gateway.name, submission, ms: Math.round(performance.now() - startedAt) };
}

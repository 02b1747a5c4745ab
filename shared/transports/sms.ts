import { closeAtEnd } from '../common/closing.ts';
import { config } from '../config/config.ts';
import type { GatewaySettings } from '../config/sms-gateways.ts';
import { isDramaNumber, parsePhoneNumber } from '../formats/sms/phone-number.ts';
import type { Gateway, GatewayState, Receive, Submission, TextMessage } from './sms/gateway.ts';
import { createHttpGateway } from './sms/http/gateway.ts';
import type { Returns } from './sms/returns.ts';
import { simulator } from './sms/simulator.ts';
import { createSmppGateway } from './sms/smpp/gateway.ts';

/** The gateways that carry text messages to phones. */

export type * from './sms/gateway.ts';

/** The gateways by their names in SMS_GATEWAY. */
export const gateways: Record<string, Gateway> = { simulator };

const made = new Map<GatewaySettings, Gateway>();

function gatewayOf(settings: GatewaySettings): Gateway {
  const known = made.get(settings);
  if (known) return known;
  const gateway = newGateway(settings);
  made.set(settings, gateway);
  closeAtEnd(closeGateways);
  return gateway;
}

function newGateway(settings: GatewaySettings): Gateway {
  switch (settings.type) {
    case 'smpp':
      return createSmppGateway(settings);
    case 'http':
      return createHttpGateway(settings);
    case 'simulator':
      return simulator;
  }
}

/** Returns the gateway of this name in SMS_GATEWAYS. */
export function gatewayNamed(name: string): Gateway | null {
  const settings = config.SMS_GATEWAYS?.find((one) => one.name === name);
  return settings ? gatewayOf(settings) : null;
}

/** Returns the states of the gateways that this process has begun to use. */
export function gatewayStates(): { name: string; state: GatewayState }[] {
  return [...made.values()].flatMap(({ name, state }) => (state ? [{ name, state: state() }] : []));
}

/** Returns how texts return to the gateways of this process that take texts now and are not paused. */
export function gatewayReturns(): { name: string; returns: Returns }[] {
  return [...made.values()].flatMap(({ name, isUp, returns }) =>
    returns && !paused.has(name) && (isUp?.() ?? true) ? [{ name, returns }] : [],
  );
}

let paused: ReadonlySet<string> = new Set();
/** A text for a paused gateway is tried again after this time, or later if many wait. */
const pausedMs = 30_000;

/** Pauses these gateways and no others. From now on they take no messages that `gatewayFor` routes. */
export function pauseGateways(names: readonly string[]): void {
  paused = new Set(names);
}

/** Stands for a paused gateway, which makes its messages wait. */
function pausedGateway({ name, putOffPaused }: Gateway): Gateway {
  const detail = 'The operator has paused the gateway';
  return {
    name,
    isUp: () => false,
    submit: async (message) =>
      putOffPaused?.(message, detail, pausedMs) ?? { kind: 'later', detail, afterMs: pausedMs },
  };
}

/**
 * `workspaceId`: whose message it is, if it is one. `country`: the country of the recipient, if the caller has already
 * read it from the number. `except`: the gateway that is not to be chosen.
 */
type Route = Pick<TextMessage, 'sender' | 'recipient'> & {
  workspaceId?: string;
  country?: string | null;
  except?: string;
};

/**
 * Returns the gateway for a message: by turn one that fits and is up, else the first that fits; null when none fits.
 * `before`: the gateway that may have the message already; it is chosen again if it fits. Otherwise a paused gateway
 * is the last choice, and it takes nothing. Numbers that are never assigned always go to the simulator.
 */
export function gatewayFor(route: Route, before: string | null = null): Gateway | null {
  if (isDramaNumber(route.recipient)) return simulator;
  if (!config.SMS_GATEWAYS) return gateways[config.SMS_GATEWAY]!;
  const fitting = routesOf(route);
  const same = fitting.find(({ name }) => name === before);
  const open = fitting.filter(({ name }) => !paused.has(name));
  const up = open.filter((one) => gatewayOf(one).isUp?.(route.workspaceId) ?? true);
  const chosen = same ?? byTurn(up) ?? open[0] ?? fitting[0];
  if (!chosen) return null;
  const gateway = gatewayOf(chosen);
  return paused.has(chosen.name) ? pausedGateway(gateway) : gateway;
}

/** Whether any gateway takes messages from that sender to that number. */
export function hasRoute(route: Route): boolean {
  return isDramaNumber(route.recipient) || !config.SMS_GATEWAYS || routesOf(route).length > 0;
}

/** The gateways that fit, in their order. */
function routesOf({
  sender,
  recipient,
  country = countryOf(recipient),
  except,
}: Route): (GatewaySettings & { rank: number })[] {
  return ranked(config.SMS_GATEWAYS!).filter(
    ({ name, countries, prefixes, senders }) =>
      name !== except &&
      (countries === undefined || (country !== null && countries.includes(country))) &&
      (prefixes === undefined || prefixes.some((prefix) => recipient.startsWith(prefix))) &&
      (senders === undefined || senders.some((one) => one.toLowerCase() === sender.toLowerCase())),
  );
}

function countryOf(recipient: string): string | null {
  const number = parsePhoneNumber(recipient);
  return number.ok ? number.country : null;
}

type Ranked = GatewaySettings & { rank: number };
const rankings = new WeakMap<GatewaySettings[], Ranked[]>();

function ranked(list: GatewaySettings[]): Ranked[] {
  const known = rankings.get(list);
  if (known) return known;
  const ranks = list.map((settings, index) => {
    const rank = settings.priority ?? index;
    return Object.assign(settings, { rank });
  });
  const sorted = ranks.toSorted((one, other) => one.rank - other.rank);
  rankings.set(list, sorted);
  return sorted;
}

/** Picks one gateway of the first priority at random, by weight. */
function byTurn(list: Ranked[]): Ranked | undefined {
  const first = list.filter(({ rank }) => rank === list[0]!.rank);
  let left = Math.random() * first.reduce((sum, { weight }) => sum + weight, 0);
  return first.find(({ weight }) => (left -= weight) < 0) ?? first[0];
}

/** Whether the simulator plays the phones of all numbers, because no other gateway carries texts. */
export function isAllSimulated(): boolean {
  if (config.SMS_GATEWAYS) return config.SMS_GATEWAYS.every(({ type }) => type === 'simulator');
  return gateways[config.SMS_GATEWAY] === simulator;
}

/** Whether a text to that number may leave the platform: a gateway that is no simulator may take it. */
export function mayLeave(recipient: string): boolean {
  return !isDramaNumber(recipient) && !isAllSimulated();
}

/** Opens every gateway of the list for receiving. A gateway that is down does not delay the others. */
export async function openGateways(receive: Receive): Promise<void> {
  await Promise.all((config.SMS_GATEWAYS ?? []).map(async (settings) => gatewayOf(settings).open?.(receive)));
}

/** Waits for the answers under way, then closes every gateway. */
export async function closeGateways(): Promise<void> {
  const all = [...made.values()];
  made.clear();
  await Promise.allSettled(all.map(async (gateway) => gateway.close?.()));
}

/**
 * Hands the message to the given gateway, or to the one that `gatewayFor` chooses. Never rejects, and takes no longer
 * than SMS_TIMEOUT_SECONDS.
 */
export async function submit(message: TextMessage, gateway = gatewayFor(message)): Promise<Submission> {
  if (!gateway)
    return { kind: 'refused', code: 'no_route', retryable: false, detail: 'No gateway takes this message' };
  // No number that is never assigned reaches a carrier, whichever gateway the caller has chosen.
  if (gateway !== simulator && isDramaNumber(message.recipient))
    return {
      kind: 'refused',
      code: 'no_route',
      retryable: false,
      detail: 'Texts to this number go to the simulator only',
    };
  const { promise: late, resolve } = Promise.withResolvers<Submission>();
  const timer = setTimeout(
    () => resolve({ kind: 'unavailable', detail: 'The gateway did not answer in time' }),
    config.SMS_TIMEOUT_SECONDS * 1000,
  );
  try {
    return await Promise.race([gateway.submit(message), late]);
  } catch (error) {
    return { kind: 'unavailable', detail: (error as Error).message };
  } finally {
    clearTimeout(timer);
  }
}

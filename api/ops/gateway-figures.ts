import type { Gauge } from 'prom-client';
import { secondsSince } from '../../shared/common/clock.ts';
import type { GatewayView } from '../../shared/domain/sms/gateways/operator.ts';

export type NewGauge = (name: string, help: string, labelNames: string[]) => Gauge;

/** Adds figures of carriers, from the data that the operator's page shows. */
export function addGateways(newGauge: NewGauge, gateways: GatewayView[]): void {
  const add = (name: string, help: string, read: (view: GatewayView) => number) => {
    const gauge = newGauge(`sms_gateway_${name}`, help, ['gateway']);
    for (const view of gateways) gauge.set({ gateway: view.name }, read(view));
  };
  add('up', 'Whether texts can go to the gateway: a process is bound, and it is not paused', (one) =>
    Number(one.state === 'up'),
  );
  add('paused', 'Whether the operator has paused the gateway', (one) => Number(one.pausedAt !== null));
  add('processes', 'Processes that speak to the gateway, bound or not', (one) => one.processes);
  add('binds', 'Sessions that the gateway has accepted, in all processes', (one) => one.bound);
  add(
    'bind_refused',
    'Whether the gateway refuses a bind: system id, password, address or number of binds',
    (one) => Number(one.isBindRefused),
  );
  add('down_seconds', 'Longest time for which a process has been without the gateway until now', (one) =>
    secondsSince(one.downSince === null ? null : new Date(one.downSince)),
  );
  add('window', 'Messages that may be without their answer, in all processes', (one) => one.window);
  add('window_in_use', 'Messages that are without their answer', (one) => one.inUse);
  add(
    'taken_per_second',
    'Messages that the gateway takes in a second; each part of a text counts',
    (one) => one.perSecond,
  );
}

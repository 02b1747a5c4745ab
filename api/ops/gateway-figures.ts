import { Gauge, type Registry } from 'prom-client';
import { now } from '../../shared/common/clock.ts';
import type { GatewayView } from '../../shared/domain/sms/gateways/operator.ts';

/** Adds figures of carriers, from the data that the operator's page shows. */
export function addGateways(registry: Registry, prefix: string, gateways: GatewayView[]): void {
  const seconds = (since: string | null) =>
    since ? Math.max(0, (now().getTime() - Date.parse(since)) / 1000) : 0;
  const figures: [name: string, help: string, read: (view: GatewayView) => number][] = [
    [
      'up',
      'Whether texts can go to the gateway: a process is bound, and it is not paused',
      (one) => Number(one.state === 'up'),
    ],
    ['paused', 'Whether the operator has paused the gateway', (one) => Number(one.pausedAt !== null)],
    ['processes', 'Processes that speak to the gateway, bound or not', (one) => one.processes],
    ['binds', 'Processes that are bound', (one) => one.bound],
    [
      'bind_refused',
      'Whether the gateway refuses a bind: system id, password, address or number of binds',
      (one) => Number(one.isBindRefused),
    ],
    [
      'down_seconds',
      'How long the process that has been without the gateway longest has been so',
      (one) => seconds(one.downSince),
    ],
    ['window', 'Messages that may be without their answer, in all processes', (one) => one.window],
    ['window_in_use', 'Messages that are without their answer', (one) => one.inUse],
    [
      'taken_per_second',
      'Messages that the gateway takes in a second, parts for themselves',
      (one) => one.perSecond,
    ],
  ];
  for (const [name, help, read] of figures) {
    const gauge = new Gauge({
      name: `${prefix}sms_gateway_${name}`,
      help,
      labelNames: ['gateway'],
      registers: [registry],
    });
    for (const view of gateways) gauge.set({ gateway: view.name }, read(view));
  }
}

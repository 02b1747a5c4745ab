import type { Request, Response } from 'express';
import * as gateways from '../../shared/domain/sms/gateways/operator.ts';
import { page } from '../public/page.ts';
import { table } from './table.ts';

const columns = [
  'Gateway',
  'Takes',
  'State',
  'Binds',
  'Window in use',
  'Messages a second',
  'Down since',
  'Last error',
];

/**
 * Shows the carriers of texts, as reported by the processes that hold their connections. The page has no passwords,
 * and changes nothing.
 */
export async function gatewaysPage(_req: Request, res: Response): Promise<void> {
  const views = await gateways.list();
  const rows = views.map((view) => [
    `${view.name} (${view.type})`,
    view.routes,
    (view.pausedAt ? `paused since ${view.pausedAt}` : view.state) +
      (view.isBindRefused ? ', bind refused' : ''),
    `${view.bound} of ${view.binds}`,
    `${view.inUse} of ${view.window}`,
    view.perSecond,
    view.downSince ?? '',
    view.lastError ?? '',
  ]);
  const main =
    rows.length > 0
      ? `${table(columns, rows)}
<p>Pause one: <code>scripts/admin gateway pause NAME</code>. Try one: <code>scripts/admin gateway test NUMBER --gateway NAME</code>.</p>`
      : '<p>SMS_GATEWAYS is not set: the simulator takes all texts, and no text leaves the platform.</p>';
  res.type('html').send(
    page({
      title: 'SMS gateways',
      main: `<p><a href="/ops">Operations</a></p>\n<h1>SMS gateways</h1>\n${main}`,
    }),
  );
}

import * as reports from '../../shared/domain/reports/reports.ts';
import * as workspace from '../../shared/domain/workspace/workspace.ts';
import { Spend, SpendQuery, Workspace } from '../../shared/schemas/workspace.ts';
import { resource } from '../endpoint.ts';

const endpoint = resource('Workspace');

export default [
  endpoint({
    route: 'GET /v2/workspace',
    id: 'getWorkspace',
    summary: 'Get the workspace of the key: its settings, limits and balance',
    description:
      'The default sender is chosen by updateSender; the rest is set by the operator, and no operation changes it. balance is what is left for texts at this moment; null is no limit. webhookAddresses are the IP addresses that your firewall has to let in.',
    scope: 'workspace.read',
    response: Workspace,
    handle: ({ caller }) => workspace.show(caller),
  }),
  endpoint({
    route: 'GET /v2/workspace/spend',
    id: 'getWorkspaceSpend',
    summary:
      'See what is spent on text messages, by country, key and clientTag, and what changed the balance',
    description:
      'Texts count for the hour in which they were accepted, entries of the ledger for the hour in which they were made. A text that is accepted in one month and given back in the next changes the texts of the first and the ledger of the second.',
    scope: 'workspace.read',
    query: SpendQuery,
    response: Spend,
    faults: ({ query }) => reports.spendFaultsOf(query),
    handle: ({ caller, query }) => reports.spend(caller, query),
  }),
];

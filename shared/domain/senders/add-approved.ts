import { invalid, orNotFound } from '../../common/errors.ts';
import { transaction } from '../../db/client.ts';
import * as db from '../../db/senders/senders.ts';
import { findWorkspaceForUpdate } from '../../db/workspace/workspaces.ts';
import { isCountry } from '../../formats/country.ts';
import { parseSenderName } from '../../formats/sms/sender-name.ts';
import type { Sender } from '../../schemas/senders.ts';
import { orTaken } from '../requests/refusals.ts';
import { withDefault } from './default.ts';
import { newSender, toWire } from './record.ts';

/**
 * Adds a sender that is approved at once, because the operator vouches for it. Without `countries` it is approved for
 * the country of the workspace.
 */
export async function addApproved(
  workspaceId: string,
  text: string,
  countries: readonly string[] = [],
): Promise<Sender> {
  const name = parseSenderName(text);
  if (!name.ok) throw invalid('name', name.message);
  return transaction(async () => {
    const workspace = orNotFound(await findWorkspaceForUpdate(workspaceId), 'There is no such workspace');
    const chosen = countries.length > 0 ? countries : [workspace.country];
    const sender = await withDefault(
      newSender({
        workspaceId,
        kind: 'sender_name',
        name: name.name,
        nameKey: name.key,
        status: 'approved',
        countries: checkedCountries(chosen, 'approved'),
      }),
    );
    const taken = `This workspace has the sender ${name.name} already`;
    await orTaken(db.insertSender(workspaceId, sender), 'name_taken', taken);
    for (const { country } of sender.countries)
      await db.deleteSenderRejection(workspaceId, name.key, country);
    return toWire(sender);
  });
}

/** Makes the records of these countries, by code, each of them once. Throws for an unknown code. */
export function checkedCountries(
  codes: readonly string[],
  status: db.CountryRecord['status'],
): db.CountryRecord[] {
  return [...new Set(codes)].toSorted().map((country) => {
    if (!isCountry(country)) throw invalid('countries', `${country} is no code of ISO 3166-1 alpha-2`);
    return { country, status, reason: null };
  });
}

import type { Unicode } from '../../formats/gsm-7.ts';
import { isLiquid } from '../../formats/liquid-tokens.ts';
import { inParts, renderSms, type SmsText } from '../sms-content.ts';

/** One message's source with what is merged into it. */
export type Rendering = { content: string; data: Record<string, unknown>; unicode: Unicode };
export type Rendered = ({ ok: true } & SmsText) | { ok: false; message: string };

/** Thrown where the cage has too much of this workspace waiting: later there may be room. */
export class CageBusy extends Error {}

const atOnce = 4;

/**
 * The texts of many messages, in their order. What has no Liquid is looked at once for all messages, and reaches no cage.
 */
export async function renderAll(
  workspaceId: string,
  renderings: Rendering[],
  now: Date,
): Promise<Rendered[]> {
  const plain = new Map<string, Rendered>();
  const results: Rendered[] = [];
  const liquid: number[] = [];
  renderings.forEach(({ content, unicode }, index) => {
    if (isLiquid(content)) {
      liquid.push(index);
      return;
    }
    const key = `${unicode} ${content}`;
    const known = plain.get(key) ?? inParts(content, { unicode });
    plain.set(key, known);
    results[index] = known;
  });
  for (let start = 0; start < liquid.length; start += atOnce)
    await Promise.all(
      liquid.slice(start, start + atOnce).map(async (index) => {
        results[index] = await renderOne(workspaceId, renderings[index]!, now);
      }),
    );
  return results;
}

async function renderOne(workspaceId: string, rendering: Rendering, now: Date): Promise<Rendered> {
  const rendered = await renderSms({ workspaceId, now, ...rendering });
  if (rendered.ok) return rendered;
  if (rendered.busy) throw new CageBusy();
  return { ok: false, message: rendered.faults.map(({ part, message }) => `${part} ${message}`).join('; ') };
}

import type { Unicode } from '../../../formats/sms/gsm-7.ts';
import { renderSmsMany, type SmsText } from '../content.ts';

/** The source of one message, and its own data, which overrides the data that all messages share. */
type Rendering = {
  content: string;
  data: Record<string, unknown>;
  unicode: Unicode;
  shortenLinks: boolean;
};
type RenderedText = ({ ok: true } & SmsText) | { ok: false; message: string };

/** Thrown where the sandbox has too much of this workspace waiting: later there may be room. */
export class SandboxBusy extends Error {}

/**
 * Renders the texts of many messages, in their order: all of them, or only the first ones where the time for more is
 * over; at least one.
 */
export async function renderAll(
  workspaceId: string,
  { shared, renderings }: { shared: Record<string, unknown>; renderings: Rendering[] },
  now: Date,
): Promise<RenderedText[]> {
  const rows = renderings.map(({ data, ...row }) => ({ ...row, data: JSON.stringify(data) }));
  const texts: RenderedText[] = [];
  for (const text of await renderSmsMany({ workspaceId, rows, shared: JSON.stringify(shared), now })) {
    if (!text.ok && text.busy) break;
    texts.push(text.ok ? text : { ok: false, message: wording(text.faults) });
  }
  if (texts.length === 0 && renderings.length > 0) throw new SandboxBusy();
  return texts;
}

function wording(faults: { part: string; message: string }[]): string {
  return faults.map(({ part, message }) => `${part} ${message}`).join('; ');
}

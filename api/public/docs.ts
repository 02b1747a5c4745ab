import type { Router } from 'express';
import { now } from '../../shared/common/clock.ts';
import type { Endpoint } from '../endpoint.ts';
import { describeApiInParts } from '../openapi.ts';
import { guidePages } from './guides.ts';
import { reference } from './reference.ts';
import { route } from './route.ts';

const dayMs = 86_400_000;
const descriptions = new WeakMap<readonly Endpoint[], { day: number; bytes: Promise<Buffer> }>();

/**
 * Returns the description, made once a day, because the examples of a scheduled message name a future time. It is kept
 * as bytes, because encoding a text for each answer takes as long as sending it.
 */
function descriptionOf(endpoints: readonly Endpoint[]): Promise<Buffer> {
  const at = now();
  const day = Math.floor(at.getTime() / dayMs);
  const known = descriptions.get(endpoints);
  if (known?.day === day) return known.bytes;
  const bytes = describeApiInParts(endpoints, at).then((description) =>
    Buffer.from(JSON.stringify(description)),
  );
  descriptions.set(endpoints, { day, bytes });
  return bytes;
}

/** The API description, the interactive reference made from it, and the guides; nothing comes from another host. */
export function docs(endpoints: readonly Endpoint[]): Router[] {
  const description = route('/openapi.json', {
    get: async (_request, response) => {
      response.type('json').send(await descriptionOf(endpoints));
    },
  });
  return [description, reference, ...guidePages()];
}

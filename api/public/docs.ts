import { Router } from 'express';
import { now } from '../../shared/common/clock.ts';
import type { Endpoint } from '../endpoint.ts';
import { methodNotAllowed } from '../middleware/problems.ts';
import { describeApi } from '../openapi.ts';
import { guidePages } from './guides.ts';
import { reference } from './reference.ts';

const dayMs = 86_400_000;
const descriptions = new WeakMap<readonly Endpoint[], { day: number; bytes: Buffer }>();

/**
 * Made once a day, for the examples of a scheduled message name a time ahead: it takes long enough to hold up everybody
 * else. As bytes, because to encode a text for each answer takes as long as to send it.
 */
export function descriptionOf(endpoints: readonly Endpoint[]): Buffer {
  const at = now();
  const day = Math.floor(at.getTime() / dayMs);
  const known = descriptions.get(endpoints);
  if (known?.day === day) return known.bytes;
  const bytes = Buffer.from(JSON.stringify(describeApi(endpoints, at)));
  descriptions.set(endpoints, { day, bytes });
  return bytes;
}

/** The API description, the interactive reference made from it, and the guides; nothing comes from another host. */
export function docs(endpoints: readonly Endpoint[]): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router
    .route('/openapi.json')
    .get((_request, response) => {
      response.type('json').send(descriptionOf(endpoints));
    })
    .all(methodNotAllowed('GET, HEAD'));
  router.use(reference());
  router.use(guidePages());
  return router;
}

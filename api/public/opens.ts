import { setTimeout as sleep } from 'node:timers/promises';
import { countLoad } from '../../shared/domain/email/tracking/opens.ts';
import { route } from './route.ts';

/** A transparent pixel (GIF89a). */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
// The longest time that the answer waits for the load to be counted; an image must not hang.
const longestWaitMs = 1_000;

/** The tracking image of emails with trackOpens. Every token gets the image, so an answer tells nothing. */
export const openImage = route<{ token: string }>('/o/:token.gif', {
  get: async (request, response) => {
    if (request.method === 'GET')
      await Promise.race([countLoad(request.params.token), sleep(longestWaitMs, undefined, { ref: false })]);
    response
      .set({
        'Cache-Control': 'no-store',
        // The page of a webmail, which has another origin, shows the image.
        'Cross-Origin-Resource-Policy': 'cross-origin',
      })
      .type('gif')
      .send(pixel);
  },
});

import { z } from 'zod';
import { Id, pageOf, Timestamp } from './fields.ts';

export const ShortLink = z
  .object({
    id: Id('link'),
    url: z.string().nullable().meta({
      description: 'Where it leads; null without the scope content.read',
      example: 'https://shop.example/orders/7',
    }),
    shortUrl: z.string().nullable().meta({
      description: 'What the text has in its place; null without the scope content.read',
      example: 'https://acme.example/7hFk2Lq0Z',
    }),
    clicks: z.int32().min(0).meta({
      description:
        'How often it was followed; by link previewers and crawlers that say what they are it is not counted',
    }),
    firstClickedAt: Timestamp.nullable(),
    lastClickedAt: Timestamp.nullable(),
  })
  .meta({ id: 'ShortLink' });
export type ShortLink = z.infer<typeof ShortLink>;

export const ShortLinkPage = pageOf(ShortLink, 'ShortLinkPage');

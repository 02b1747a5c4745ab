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
    clicks: z
      .int32()
      .min(0)
      .describe(
        'How often it was followed; by link previewers and crawlers that say what they are it is not counted',
      ),
    firstClickedAt: Timestamp.nullable().describe('When it was followed first'),
    lastClickedAt: Timestamp.nullable().describe('When it was followed last'),
  })
  .meta({
    id: 'ShortLink',
    description: 'An address in one text, with the short one that took its place and its clicks',
  });
export type ShortLink = z.infer<typeof ShortLink>;

export const BatchLink = z
  .object({
    url: z.string().nullable().meta({
      description:
        'As it was written, with its Liquid; as it was rendered where Liquid made all of it; null without the scope content.read',
      example: 'https://shop.example/orders/{{ id }}',
    }),
    messages: z.int32().min(0).describe('Messages made so far that have it'),
    clicks: z.int32().min(0).describe('How often it was followed, in all messages together'),
    clickedMessages: z.int32().min(0).describe('Messages in which it was followed at least once'),
    firstClickedAt: Timestamp.nullable().describe('When it was followed first'),
    lastClickedAt: Timestamp.nullable().describe('When it was followed last'),
  })
  .meta({
    id: 'BatchLink',
    description: 'An address that texts of a batch lead to, with its clicks over all of them',
  });
export type BatchLink = z.infer<typeof BatchLink>;

export const BatchLinkPage = pageOf(BatchLink, 'BatchLinkPage');

export const ShortLinkPage = pageOf(ShortLink, 'ShortLinkPage');

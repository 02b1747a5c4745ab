import { z } from 'zod';
import { Id, pageOf, Timestamp } from '../fields.ts';

export const ShortLink = z
  .object({
    id: Id('link'),
    url: z.string().nullable().meta({
      description: 'The address that the short link leads to; null without the scope content.read',
      example: 'https://shop.example/orders/7',
    }),
    shortUrl: z.string().nullable().meta({
      description: 'The short link in the text; null without the scope content.read',
      example: 'https://acme.example/7hFk2Lq0Z',
    }),
    clicks: z
      .int32()
      .min(0)
      .describe(
        'How often the link was opened, except by link previewers and crawlers that identify themselves',
      ),
    firstClickedAt: Timestamp.nullable().describe('When the link was first opened'),
    lastClickedAt: Timestamp.nullable().describe('When the link was last opened'),
  })
  .meta({
    id: 'ShortLink',
    description: 'An address in one text, with the short link that replaces it, and its clicks',
  });
export type ShortLink = z.infer<typeof ShortLink>;

export const BatchLink = z
  .object({
    url: z.string().nullable().meta({
      description:
        'The address as written in the content, with its Liquid; if Liquid made the whole address, the rendered address; null without the scope content.read',
      example: 'https://shop.example/orders/{{ id }}',
    }),
    messages: z.int32().min(0).describe('How many of the messages created so far have the address'),
    clicks: z.int32().min(0).describe('How often the link was opened, in all messages together'),
    clickedMessages: z.int32().min(0).describe('In how many messages the link was opened at least once'),
    firstClickedAt: Timestamp.nullable().describe('When the link was first opened'),
    lastClickedAt: Timestamp.nullable().describe('When the link was last opened'),
  })
  .meta({
    id: 'BatchLink',
    description: 'An address in the texts of a batch, with its clicks in all texts together',
  });
export type BatchLink = z.infer<typeof BatchLink>;

export const BatchLinkPage = pageOf(BatchLink, 'BatchLinkPage');

export const ShortLinkPage = pageOf(ShortLink, 'ShortLinkPage');

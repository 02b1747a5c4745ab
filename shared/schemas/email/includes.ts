import { z } from 'zod';
import { CreatedAt, Id, pageOf, text, UpdatedAt } from '../fields.ts';
import { EmailSourceName } from './templates.ts';

export const mostEmailIncludes = 200;

export const EmailInclude = z
  .object({
    id: Id('include'),
    name: EmailSourceName,
    content: z.string().describe('A piece of MJML'),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: 'EmailInclude', description: 'A piece of MJML that templates share' });
export type EmailInclude = z.infer<typeof EmailInclude>;

export const EmailIncludePage = pageOf(EmailInclude, 'EmailIncludePage');

export const EmailIncludeContent = z
  .object({
    content: text({ max: 100_000, multiline: true }).describe(
      'A piece of MJML. It replaces `<mj-include path="its name"/>` in a template, and may contain such elements itself',
    ),
  })
  .meta({ id: 'EmailIncludeContent', description: 'The source of an include' });
export type EmailIncludeContent = z.infer<typeof EmailIncludeContent>;

import type { EmailFormat } from '../../schemas/email/templates.ts';
import { text } from '../client/columns.ts';
import { type TemplateOf, templateTable } from '../client/template-table.ts';

export const emailTemplates = templateTable({
  table: 'email_templates',
  idPrefix: 'etemplate',
  sources: { format: text<EmailFormat>(), html: text(), text: text() },
  texts: ['html', 'text'],
});
export type EmailTemplateRecord = TemplateOf<typeof emailTemplates>;

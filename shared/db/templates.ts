import { text } from './client/columns.ts';
import { type TemplateOf, templateTable } from './client/template-table.ts';

export const smsTemplates = templateTable({
  table: 'sms_templates',
  idPrefix: 'template',
  sources: { content: text() },
  texts: ['content'],
});
export type SmsTemplateRecord = TemplateOf<typeof smsTemplates>;

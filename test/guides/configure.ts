import { settingSchemas } from '../../shared/config/config.ts';
import { emailSettings } from '../../shared/config/email.ts';
import { boundsOf, examples, formOf } from '../../shared/config/faults.ts';
import { reportSettings } from '../../shared/config/reports.ts';
import { smsSettings } from '../../shared/config/sms.ts';
import { webhookSettings } from '../../shared/config/webhooks.ts';

const groups: Record<string, object> = {
  Email: emailSettings,
  Texts: smsSettings,
  Webhooks: webhookSettings,
  Reports: reportSettings,
};
const ofAGroup = new Set(Object.values(groups).flatMap((settings) => Object.keys(settings)));

const begin = '<!-- Made by test/guides/write-configure.ts -->\n';

/** Returns the guide Configure with the tables that follow from shared/config/. */
export function withTables(guide: string): string {
  const platform = Object.keys(settingSchemas).filter((name) => !ofAGroup.has(name));
  const parts = [
    ['The platform', platform] as const,
    ...Object.entries(groups).map(([title, settings]) => [title, Object.keys(settings)] as const),
  ];
  const tables = parts.map(([title, names]) => `## ${title}\n\n${tableOf(names)}`).join('\n');
  return `${guide.slice(0, guide.indexOf(begin))}${begin}\n${tables}`;
}

function tableOf(names: readonly string[]): string {
  const rows = names.map((name) => `| ${[`\`${name}\``, ...cellsOf(name)].join(' | ')} |\n`);
  return `| Setting | Meaning | Allowed values | Default |\n| --- | --- | --- | --- |\n${rows.join('')}`;
}

function cellsOf(name: string): [meaning: string, form: string, usual: string] {
  const schema = settingSchemas[name]!;
  const bounds = boundsOf(schema);
  // No setting accepts this text, so the error names the accepted form.
  const [issue] = schema.safeParse('\u{1f642} \u{1f642}').error?.issues ?? [];
  const said = formOf(bounds) ?? (issue?.message.startsWith('must') ? issue.message : undefined);
  const example = examples[name];
  const form = [said?.replace(/^must (be|have) /, ''), example && `such as \`${example}\``];
  return [
    asCell(schema.description ?? ''),
    asCell(form.filter(Boolean).join('; ')),
    usualOf(schema.safeParse(undefined).data),
  ];
}

const asCell = (text: string) =>
  text
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ')
    // Names of settings in prose become code, unless they already are.
    .replaceAll(/`[^`]*`|\b[A-Z]+(?:_[A-Z]+)+\b/g, (word) => (word.startsWith('`') ? word : `\`${word}\``));

function usualOf(value: unknown): string {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return '';
  return `\`${[value].flat().map(String).join(',')}\``;
}

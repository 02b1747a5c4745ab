import { withOpenImage } from '../../../shared/domain/email/tracking/links.ts';
import { liquidTokens, mask } from '../../../shared/formats/templates/liquid-tokens.ts';
import { expand, includeNames, largestMjml } from '../../../shared/formats/templates/mjml-includes.ts';
import { excerptOf } from '../../../shared/formats/text-excerpt.ts';
import { compileTemplate } from '../../../shared/sandbox/mjml.ts';
import * as sandbox from '../../../shared/sandbox/sandbox.ts';
import { liquid } from '../grammars/liquid.ts';
import { html, mjml } from '../grammars/mjml.ts';
import { claim, claimNoPath, kib, ofText, type Target } from './target.ts';

const data = {
  name: 'Ada',
  items: [3, 1, { a: 'b' }, null, [1, [2]], 'x'.repeat(1_000)],
  user: { name: 'İstanbul <b>', size: 'many', __proto__: { a: 1 } },
  a: { b: '2026-11-23T10:00:00Z' },
  x: 1e21,
};
const includes = new Map([
  ['footer', '<mj-text>Goodbye {{ name }}</mj-text>'],
  ['loop', '<mj-include path="loop" />'],
]);
const emailId = 'email_01h455vb4pex5vsknk084sn02q';

export const templateTargets: Target[] = [
  {
    name: 'liquid',
    grammar: liquid,
    mostBytes: 64 * kib,
    read: ofText(async (source) => {
      const result = await sandbox.render({
        workspaceId: 'fuzz',
        parts: [{ name: 'html', source, escape: true }],
        data,
        now: new Date('2026-11-23T10:00:00Z'),
      });
      if (result.ok) claim(result.outputs.length === 1, 'a part without its output');
      for (const { message } of result.ok ? [] : (result.errors ?? [])) {
        claimNoPath(message);
        claim(!/could not be rendered/.test(message), 'the thread that rendered it ended');
      }
    }),
  },
  {
    name: 'liquid-tokens',
    grammar: liquid,
    mostBytes: 256 * kib,
    read: ofText((source) => {
      claim(mask(source, liquidTokens(source)).length === source.length, 'masked it has another length');
    }),
  },
  {
    name: 'mjml',
    grammar: mjml,
    mostBytes: 64 * kib,
    read: ofText(async (source) => {
      const result = await compileTemplate('fuzz', source);
      for (const { message } of result.ok ? [] : (result.errors ?? [])) claimNoPath(message);
    }),
  },
  {
    name: 'mjml-includes',
    grammar: mjml,
    mostBytes: 256 * kib,
    read: ofText((source) => {
      includeNames(source);
      const expanded = expand(source, (name) => includes.get(name));
      if ('fault' in expanded) claimNoPath(expanded.fault.message);
      else claim(expanded.text.length <= largestMjml, 'with its includes it is larger than it may be');
    }),
  },
  {
    name: 'html',
    grammar: html,
    mostBytes: 256 * kib,
    read: ofText((source) => {
      claim((excerptOf({ html: source, text: null }) ?? '').length <= 4_000, 'an excerpt that is none');
      const withImage = withOpenImage(source, emailId);
      const added = withImage.length - source.length;
      const at = [...source.matchAll(/<\/body/gi)].at(-1)?.index ?? source.length;
      claim(
        withImage.slice(0, at) + withImage.slice(at + added) === source,
        'the image is not where it belongs',
      );
    }),
  },
];

import { invalid } from '../../common/errors.ts';
import type { WorkspaceRecord } from '../../db/workspace/workspaces.ts';
import { inParts } from './content.ts';

/** The words by which people opt out and in again, and the operator's settings of them for a workspace. */

type OptOutSettings = Pick<WorkspaceRecord, 'stopReply' | 'stopWords' | 'startWords'>;

const stopWords: readonly string[] = ['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT'];
const startWords: readonly string[] = ['START', 'UNSTOP'];
const mostWords = 20;
const longestWord = 40;
/** The most bytes of all words together, in their stored form with spaces between them. */
const mostBytes = 1_000;

/**
 * Drops all that makes no difference between words: case, spaces, punctuation, symbols, emoji (API decisions §8), and
 * the form in which Unicode writes a letter.
 */
const wordOf = (text: string) =>
  text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** Returns the meaning of a text that came in, if the whole of it is one of the words. */
export function keywordIn(
  content: string,
  own: Pick<OptOutSettings, 'stopWords' | 'startWords'> | null,
): 'stop' | 'start' | null {
  const word = wordOf(content);
  // Versions before stored words in the form in which they were given.
  const isOneOf = (words: readonly string[] = []) => words.some((known) => wordOf(known) === word);
  if (stopWords.includes(word) || isOneOf(own?.stopWords)) return 'stop';
  return startWords.includes(word) || isOneOf(own?.startWords) ? 'start' : null;
}

/** As the operator gives them: words with commas between. */
export type OptOutOptions = { stopReply?: string | null; stopWords?: string; startWords?: string };

/**
 * Returns the settings that these options change; an option that is left out changes nothing. Throws where one cannot
 * be used.
 */
export function changesOf(current: OptOutSettings, options: OptOutOptions): Partial<OptOutSettings> {
  const changes: Partial<OptOutSettings> = {};
  if (options.stopReply !== undefined) changes.stopReply = replyOf(options.stopReply);
  if (options.stopWords !== undefined) changes.stopWords = wordsOf('stopWords', options.stopWords);
  if (options.startWords !== undefined) changes.startWords = wordsOf('startWords', options.startWords);
  const all = { ...current, ...changes };
  for (const word of all.stopWords)
    if (startWords.includes(word) || all.startWords.includes(word))
      throw invalid('stopWords', `has ${word}, which means START`);
  for (const word of all.startWords)
    if (stopWords.includes(word)) throw invalid('startWords', `has ${word}, which means STOP`);
  return changes;
}

function replyOf(text: string | null): string | null {
  if (text === null) return null;
  const parted = inParts(text);
  if (!parted.ok) throw invalid('stopReply', parted.message);
  return parted.text;
}

function wordsOf(field: 'stopWords' | 'startWords', text: string): string[] {
  const given = text.split(',').filter((word) => word.trim() !== '');
  const words = [...new Set(given.map(wordOf))];
  if (words.length > mostWords) throw invalid(field, `has more than ${mostWords} words`);
  for (const word of words)
    if (word === '' || Array.from(word).length > longestWord)
      throw invalid(field, `has a word that is not of 1 to ${longestWord} letters and digits`);
  if (Buffer.byteLength(words.join(' ')) > mostBytes)
    throw invalid(field, `has words of more than ${mostBytes} bytes in all`);
  return words;
}

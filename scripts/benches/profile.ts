import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkout } from '../setup/environment.ts';

interface Frame {
  functionName: string;
  url: string;
  lineNumber: number;
}
interface Profile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

const root = `${pathToFileURL(checkout).href}/`;
const mostRows = 30;

function placeOf({ functionName, url, lineNumber }: Frame): string {
  const name = functionName || '(anonymous)';
  if (!url) return name;
  return `${name}  ${url.replace(root, '').replace(/^file:\/\//, '')}:${lineNumber + 1}`;
}

/** Where a function belongs: a file of ours, a package, Node itself, or the engine. */
function ownerOf({ functionName, url }: Frame): string {
  const inside = url.replace(root, '');
  const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(inside) ?? [];
  if (name) return name;
  return url === '' ? (functionName.startsWith('(') ? functionName : '(engine)') : inside;
}

function add(sums: Map<string, number>, key: string, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

function top(sums: Map<string, number>, total: number): string[] {
  const sorted = [...sums].toSorted(([, a], [, b]) => b - a).slice(0, mostRows);
  return sorted.map(([key, value]) => `${((value / total) * 100).toFixed(1).padStart(6)} %  ${key}`);
}

/** Where the time of each profile in the folder went: by owner, by function, and by function with what it calls. */
export function summary(folder: string): string {
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
  return files.map((name) => describe(path.join(folder, name))).join('\n');
}

function describe(file: string): string {
  const { nodes, samples, timeDeltas } = JSON.parse(fs.readFileSync(file, 'utf8')) as Profile;
  const own = new Map<number, number>();
  samples.forEach((id, index) => own.set(id, (own.get(id) ?? 0) + (timeDeltas[index] ?? 0)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const [owners, functions, inclusive] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  let total = 0;

  // Counts a function once on each path, however often it calls itself.
  const walk = (id: number, above: ReadonlySet<string>): number => {
    const node = byId.get(id);
    if (!node) return 0;
    const place = placeOf(node.callFrame);
    const isIdle = node.callFrame.functionName === '(idle)';
    const self = isIdle ? 0 : (own.get(id) ?? 0);
    total += self;
    if (self > 0) {
      add(owners, ownerOf(node.callFrame), self);
      add(functions, place, self);
    }
    const below = above.has(place) ? above : new Set(above).add(place);
    const sum = (node.children ?? []).reduce((time, child) => time + walk(child, below), self);
    if (!above.has(place)) add(inclusive, place, sum);
    return sum;
  };
  const [first] = nodes;
  if (first) walk(first.id, new Set());
  return [
    `${path.basename(file)}: ${(total / 1e6).toFixed(1)} s busy`,
    'by owner',
    ...top(owners, total),
    'by function',
    ...top(functions, total),
    'by function, with what it calls',
    ...top(inclusive, total),
    '',
  ].join('\n');
}

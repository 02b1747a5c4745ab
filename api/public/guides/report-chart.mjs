// Draws GET /v2/reports/sends as an SVG picture, a bar for each interval. Node 18 or later, no packages:
//
//   node report-chart.mjs 'from=2026-11-01&to=2026-11-15&channel=sms' > sends.svg
//
//   API_URL  the address of the API, as in https://messaging.example
//   API_KEY  the key, msg_…, with the scope reports.read
const { API_URL, API_KEY } = process.env;

const width = 720;
const height = 260;
const left = 48;
const right = 12;
const top = 36;
const bottom = 32;
// From the foot of a bar upwards.
const series = [
  { name: 'delivered', colour: '#4f7bdc', of: (row) => row.delivered },
  { name: 'failed', colour: '#d0574b', of: (row) => row.failed },
  { name: 'others', colour: '#98a2b3', of: (row) => row.accepted - row.delivered - row.failed },
];

/** The rows of both channels become one bar. */
function barsOf(rows) {
  const bars = new Map();
  for (const row of rows) {
    const bar = bars.get(row.start) ?? { start: row.start, accepted: 0, delivered: 0, failed: 0 };
    for (const count of ['accepted', 'delivered', 'failed']) bar[count] += row[count];
    bars.set(row.start, bar);
  }
  return [...bars.values()];
}

/** The least of 4, 8, 20, 40, 80, 200, … that is not below the highest bar: a quarter of it is a whole number. */
function topOfScale(highest) {
  for (let unit = 1; ; unit *= 10)
    for (const step of [4, 8, 20]) if (step * unit >= highest) return step * unit;
}

/** The picture of one answer. */
function chartOf({ data, from, to, timeZone }, interval) {
  const bars = barsOf(data);
  const scale = topOfScale(Math.max(0, ...bars.map(({ accepted }) => accepted)));
  const slot = (width - left - right) / Math.max(1, bars.length);
  const y = (count) => height - bottom - (count / scale) * (height - top - bottom);
  const dates = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  const times = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' });
  const label = ({ start }) => {
    const date = dates.format(new Date(start));
    if (interval === 'hour') return times.format(new Date(start));
    return interval === 'month' ? date.slice(0, 7) : date.slice(5);
  };
  // As many labels as there is room for.
  const every = Math.ceil(48 / slot);
  const total = bars.reduce((sum, { accepted }) => sum + accepted, 0);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" fill="currentColor" font-family="sans-serif" font-size="12">`,
    `<title>${total} messages accepted from ${from} to ${to}, by what became of them</title>`,
  ];
  series.forEach(({ name, colour }, index) => {
    const x = left + index * 100;
    lines.push(`<rect x="${x}" y="10" width="12" height="12" fill="${colour}"/>`);
    lines.push(`<text x="${x + 18}" y="20">${name}</text>`);
  });
  for (const quarter of [0, 1, 2, 3, 4]) {
    const count = (scale / 4) * quarter;
    lines.push(
      `<path d="M${left} ${shown(y(count))}H${width - right}" stroke="currentColor" stroke-opacity="0.2"/>`,
      `<text x="${left - 8}" y="${shown(y(count) + 4)}" text-anchor="end">${count}</text>`,
    );
  }
  bars.forEach((bar, index) => {
    const x = left + index * slot;
    let foot = 0;
    for (const { name, colour, of } of series) {
      const count = of(bar);
      if (count > 0)
        lines.push(
          `<rect x="${shown(x + slot * 0.15)}" y="${shown(y(foot + count))}" width="${shown(slot * 0.7)}" height="${shown(y(foot) - y(foot + count))}" fill="${colour}"><title>${label(bar)}: ${count} ${name}</title></rect>`,
        );
      foot += count;
    }
    if (index % every === 0)
      lines.push(
        `<text x="${shown(x + slot / 2)}" y="${height - 12}" text-anchor="middle">${label(bar)}</text>`,
      );
  });
  return [...lines, '</svg>'].join('\n');
}

const shown = (length) => String(Math.round(length * 100) / 100);

const query = new URLSearchParams(process.argv[2]);
const response = await fetch(`${API_URL.replace(/\/+$/, '')}/v2/reports/sends?${query}`, {
  headers: { authorization: `Bearer ${API_KEY}` },
  signal: AbortSignal.timeout(30_000),
});
if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
console.log(chartOf(await response.json(), query.get('interval') ?? 'day'));

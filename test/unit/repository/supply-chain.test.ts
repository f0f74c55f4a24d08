import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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
    const web = JSON.parse(readFileSync('web/package.json', 'utf8')) as Package;
    const wanted = [own, web].flatMap(({ dependencies, devDependencies, optionalDependencies = {} }) =>
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

  it('of a deployed gateway have an allowed licence', () => {
    expect(execFileSync(process.execPath, ['tools/licences.js'], { encoding: 'utf8' })).toMatch(/ MIT$/m);
  });
});
